import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import {
  exchangeToken,
  oauthError,
  type AccessTokenResponse,
  type OperationContext,
  type RawRequest,
} from '@attestry/contracts';
import { Streams, type Clock, type Ids } from '@attestry/event-store';
import { KeyVault } from '@attestry/keys';
import {
  CLOCK,
  eventContext,
  IDS,
  LOGGER,
  OperationRecorder,
  PlatformConfig,
  tenantOf,
  type Logger,
  type RequestOf,
} from '@attestry/service-kit';
import { redeemCode, refuseTransactionCode } from '../issuance-session/issuance-session.decisions.js';
import { issuanceSession } from '../issuance-session/issuance-session.state.js';
import { grantContext, makeBearerValue } from '../protocol/bearer-value.js';
import { rawOf } from '../protocol/raw-request.js';
import { recordOutcome, type StartRecord } from '../protocol/record-outcome.js';
import { checkAuthorizationDetails } from './check-authorization-details.js';
import { checkCode } from './check-code.js';
import { checkContentType } from './check-content-type.js';
import { checkNoDuplicates } from './check-no-duplicates.js';
import { checkParametersLocation } from './check-parameters-location.js';
import { checkTransactionCode } from './check-transaction-code.js';
import { loadSession } from './load-session.js';
import { parseTokenRequest } from './parse-token-request.js';

export class ExchangeToken {
  constructor(
    readonly request: RequestOf<typeof exchangeToken>,
    readonly context: OperationContext,
  ) {}
}

/** Token endpoint, OID4VCI §6: the checks in their order. */
@CommandHandler(ExchangeToken)
export class ExchangeTokenHandler implements ICommandHandler<ExchangeToken> {
  constructor(
    private readonly streams: Streams,
    private readonly vault: KeyVault,
    private readonly recorder: OperationRecorder,
    private readonly config: PlatformConfig,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  execute({ request, context }: ExchangeToken): Promise<AccessTokenResponse> {
    return recordOutcome(this.recorder, this.logger, exchangeToken, context, (start) =>
      this.exchange(rawOf(request), context, start),
    );
  }

  private async exchange(raw: RawRequest, context: OperationContext, start: StartRecord): Promise<AccessTokenResponse> {
    const { id: tenantId } = tenantOf(context);
    checkContentType(raw);
    checkParametersLocation(raw);
    const form = new URLSearchParams(raw.text);
    checkNoDuplicates(form);
    const wanted = parseTokenRequest(form);
    const { stream, loaded } = await loadSession(this.streams, tenantId, wanted.code);
    start.begin();

    const now = this.clock.now();
    let token = '';
    const decided = await this.streams.decideOn(
      issuanceSession,
      stream,
      loaded,
      async (state) => {
        const session = checkCode(state, wanted.code, tenantId, now, this.vault);
        const right = checkTransactionCode(session, wanted.transactionCode, this.vault);
        if (!right) {
          await start.acknowledged();
          return refuseTransactionCode(session, now);
        }
        const details = checkAuthorizationDetails(session, wanted.authorizationDetails, () => this.ids.uuid());
        const made = makeBearerValue(session.id, this.ids.uuid());
        token = made.value;
        const { mac, pepper } = this.vault.mac(token, grantContext('access', tenantId, session.id));
        const expiresAt = new Date(now.getTime() + this.config.accessTokenSeconds * 1000).toISOString();
        await start.acknowledged();
        // Of two that redeem one code, the second meets another revision and then a redeemed session.
        return redeemCode(
          session,
          {
            accessToken: { tokenId: made.tokenId, kind: 'access', mac, keyId: pepper, expiresAt },
            ...(details && { authorizationDetails: details }),
          },
          now,
        );
      },
      eventContext(context),
    );

    const redeemed = decided.events[0];
    if (redeemed?.type !== 'PreAuthorizedCodeRedeemed') {
      // Should the process end here, the sweep of ended sessions does it.
      if (decided.state.status === 'locked') await this.vault.destroy(tenantId, [decided.state.id]);
      throw oauthError('invalid_grant', 'tx_code is wrong', { check: 'check-transaction-code' });
    }
    const { scope, authorizationDetails } = redeemed.data;
    return {
      access_token: token,
      token_type: 'Bearer',
      expires_in: this.config.accessTokenSeconds,
      scope,
      ...(authorizationDetails && {
        authorization_details: authorizationDetails.map((detail) => ({
          type: 'openid_credential' as const,
          credential_configuration_id: detail.credentialConfigurationId,
          credential_identifiers: detail.credentialIdentifiers,
        })),
      }),
    };
  }
}
