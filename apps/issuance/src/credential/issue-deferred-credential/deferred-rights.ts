import { Injectable } from '@nestjs/common';
import { Streams } from '@attestry/event-store';
import type { OpenDeferral } from '../../sessions/issuance-session/issuance-session.decisions.js';
import type { SessionOrigin } from '../../sessions/issuance-session/issuance-session.events.js';
import type { RedeemedSession } from '../../sessions/issuance-session/issuance-session.state.js';
import { user, userStream } from '../../users/user/user.state.js';
import { TenantWallets } from '../../wallets/registered-wallets/tenant-wallets.js';
import type { RegisteredWallet } from '../../wallets/registered-wallets/wallets.events.js';
import { checkRights, type UnfinishedDeferral } from './check-rights.js';

/** Rights that may have ended while the wallet waited (OID4VCI 1.0 §9.3). */
@Injectable()
export class DeferredRights {
  constructor(
    private readonly streams: Streams,
    private readonly wallets: TenantWallets,
  ) {}

  /** @param wallet of the session @throws AppError credential_request_denied */
  async check(
    tenantId: string,
    deferral: UnfinishedDeferral,
    session: RedeemedSession,
    wallet: RegisteredWallet | undefined,
  ): Promise<OpenDeferral> {
    const [{ state: person }, isClientAllowed] = await Promise.all([
      this.streams.load(user, userStream(tenantId, session.userId)),
      this.isClientAllowed(session.origin, wallet, tenantId),
    ]);
    return checkRights(deferral, session, person, isClientAllowed);
  }

  /** A pre-authorized code is exchanged by any client (OID4VCI 1.0 §6.1). */
  private async isClientAllowed(
    origin: SessionOrigin,
    wallet: RegisteredWallet | undefined,
    tenantId: string,
  ): Promise<boolean> {
    if (origin.kind !== 'authorizationRequest') return true;
    // One that was registered later is another client.
    if (Boolean(wallet) !== Boolean(origin.isRegistered)) return false;
    return wallet ? !wallet.disabled : this.wallets.isAllowed(tenantId, origin);
  }
}
