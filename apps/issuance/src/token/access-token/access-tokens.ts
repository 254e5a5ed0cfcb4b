import { Injectable } from '@nestjs/common';
import type { Operation, RawRequest, TenantContext } from '@attestry/contracts';
import { Streams, type Loaded } from '@attestry/event-store';
import { Macs } from '@attestry/keys';
import { isExpired } from '../../sessions/issuance-session/issuance-session.decisions.js';
import {
  issuanceSession,
  type IssuanceSessionState,
  type RedeemedSession,
} from '../../sessions/issuance-session/issuance-session.state.js';
import { DpopProofs, dpopResourceError, PROOF_USED, singleUseOf } from '../../wallets/dpop/dpop-proofs.js';
import type { WalletRecord } from '../../wallets/wallet-record/record-outcome.js';
import { checkAccessTokenLocation } from './check-access-token-location.js';
import { checkTokenBinding } from './check-token-binding.js';
import { loadAccessToken } from './load-access-token.js';
import { invalidToken } from './presented-token.js';

/** Every token is still valid then: what its end means is decided by the endpoint. */
const BEFORE_EVERY_END = new Date(0);

export interface AuthorizedSession {
  stream: string;
  tokenId: string;
  /** State that is stored now. */
  loaded: Loaded<IssuanceSessionState>;
  session: RedeemedSession;
  /** In a state loaded later. @throws AppError 401 */
  requireSession(state: IssuanceSessionState): RedeemedSession;
  /** @throws AppError 401 for a token that has expired */
  requireCurrent(): void;
}

/** Access tokens at the endpoints for what follows a credential request (OID4VCI 1.0 §9, §11), where one that has expired may be valid. */
@Injectable()
export class AccessTokens {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly dpop: DpopProofs,
  ) {}

  /**
   * The session of the token, also of one that has expired. The DPoP proof of a bound token is spent, whatever becomes of the request.
   * @throws AppError 401
   */
  async authorize(
    raw: RawRequest,
    operation: Pick<Operation, 'http'>,
    tenant: TenantContext,
    now: Date,
    record: WalletRecord,
  ): Promise<AuthorizedSession> {
    const credentials = checkAccessTokenLocation(raw);
    const presented = await loadAccessToken(credentials, tenant.id, BEFORE_EVERY_END, this.streams, this.macs, record);
    const { stream, tokenId, requireSession } = presented;
    const loaded = await this.streams.load(issuanceSession, stream);
    const session = requireSession(loaded.state);
    const { jkt } = session.accessToken;
    if (credentials.scheme === 'dpop' || jkt !== undefined) {
      const proof = await checkTokenBinding(credentials, session.accessToken, raw, operation, tenant, this.dpop);
      if (!(await this.dpop.guard.spendAll(tenant.id, [singleUseOf(proof)]))) throw dpopResourceError(PROOF_USED);
    }
    const requireCurrent = () => {
      if (isExpired(session.accessToken, now)) throw invalidToken(jkt !== undefined);
    };
    return { stream, tokenId, loaded, session, requireSession, requireCurrent };
  }
}
