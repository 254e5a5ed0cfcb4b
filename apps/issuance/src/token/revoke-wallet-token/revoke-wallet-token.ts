import { Inject } from '@nestjs/common';
import {
  oauthError,
  revokeWalletToken,
  type HolderContext,
  type HttpAnswer,
  type RawRequest,
  type RevokedWalletToken,
} from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { Macs } from '@attestry/keys';
import { CLOCK, LOGGER, Operation, OperationRecorder, type Logger, type RequestOf } from '@attestry/service-kit';
import { checkStillRegistered } from '../../wallets/wallet-clients/check-registration.js';
import { DpopProofs } from '../../wallets/dpop/dpop-proofs.js';
import { rawOf } from '../../reading/raw-request/raw-request.js';
import { recordOutcome, type WalletRecord } from '../../wallets/wallet-record/record-outcome.js';
import { WalletClients } from '../../wallets/wallet-clients/wallet-clients.js';
import { TokenFamilies } from '../token-family/token-families.js';
import { checkTokenOwner } from './check-token-owner.js';
import { findToken } from './find-token.js';
import { parseRevocationRequest } from './parse-revocation-request.js';

/** Revocation endpoint, RFC 7009: any token of a wallet ends all tokens of its session (ADR 0090). */
@Operation(revokeWalletToken)
export class RevokeWalletToken {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly dpop: DpopProofs,
    private readonly clients: WalletClients,
    private readonly families: TokenFamilies,
    readonly recorder: OperationRecorder,
    @Inject(LOGGER) readonly logger: Logger,
    @Inject(CLOCK) readonly clock: Clock,
  ) {}

  execute(
    request: RequestOf<typeof revokeWalletToken>,
    context: HolderContext,
  ): Promise<RevokedWalletToken | HttpAnswer> {
    const raw = rawOf(request);
    const answer = recordOutcome(this, revokeWalletToken, context, (record) => this.revoke(raw, context, record));
    return this.dpop.withNonce(raw, context.tenant.id, answer);
  }

  private async revoke(raw: RawRequest, { tenant }: HolderContext, record: WalletRecord): Promise<RevokedWalletToken> {
    const { token, clientId } = parseRevocationRequest(raw);
    const found = await findToken(token, tenant.id, this.clock.now(), this.streams, this.macs);
    if (found) record.nameSession(found.session);
    const client = await this.clients.authenticate(raw, revokeWalletToken, clientId, tenant);
    if (found) checkStillRegistered(found.session, clientId, client.wallet);
    if (found) checkTokenOwner(found.session.origin, clientId);
    if (found?.kind === 'code')
      throw oauthError('unsupported_token_type', 'only access tokens and refresh tokens can be revoked', {
        check: 'revoke-wallet-token',
      });
    await this.clients.spend(tenant.id, client);
    if (found) await this.families.endSession(tenant.id, found.session.id, 'revoked', record.events);
    return {};
  }
}
