import { Inject } from '@nestjs/common';
import {
  exchangeToken,
  HolderTokenRequest,
  oauthError,
  type AccessTokenResponse,
  type OperationContext,
  type RawRequest,
} from '@attestry/contracts';
import { Streams, type Clock, type Ids } from '@attestry/event-store';
import { Macs, Sealing } from '@attestry/keys';
import {
  CLOCK,
  eventContext,
  IDS,
  LOGGER,
  Operation,
  OperationRecorder,
  PlatformConfig,
  tenantOf,
  type Logger,
  type RequestOf,
} from '@attestry/service-kit';
import {
  redeemAuthorizationCode,
  redeemCode,
  refuseTransactionCode,
  replayAuthorizationCode,
  type AuthorizedSession,
  type OfferedSession,
  type Redemption,
} from '../issuance-session/issuance-session.decisions.js';
import { issuanceSession } from '../issuance-session/issuance-session.state.js';
import { grantContext, makeBearerValue } from '../protocol/bearer-value.js';
import { checkLengths, maxLengthsOf } from '../protocol/check-lengths.js';
import { rawOf } from '../protocol/raw-request.js';
import { recordOutcome, type StartRecord } from '../protocol/record-outcome.js';
import { checkAuthorizationCode } from './check-authorization-code.js';
import { checkAuthorizationDetails } from './check-authorization-details.js';
import { checkCode } from './check-code.js';
import { checkContentType } from './check-content-type.js';
import { checkNoDuplicates } from './check-no-duplicates.js';
import { checkParametersLocation } from './check-parameters-location.js';
import { checkTransactionCode } from './check-transaction-code.js';
import { loadSession } from './load-session.js';
import { parseTokenRequest } from './parse-token-request.js';

const MAX_LENGTHS = maxLengthsOf(HolderTokenRequest);

/** Token endpoint, OID4VCI §6: the checks in their order. */
@Operation(exchangeToken)
export class ExchangeToken {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly sealing: Sealing,
    private readonly recorder: OperationRecorder,
    private readonly config: PlatformConfig,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  execute(request: RequestOf<typeof exchangeToken>, context: OperationContext): Promise<AccessTokenResponse> {
    return recordOutcome(this.recorder, this.logger, exchangeToken, context, (start) =>
      this.exchange(rawOf(request), context, start),
    );
  }

  private async exchange(raw: RawRequest, context: OperationContext, start: StartRecord): Promise<AccessTokenResponse> {
    const { id: tenantId } = tenantOf(context);
    checkContentType(raw);
    checkParametersLocation(raw);
    const form = new URLSearchParams(raw.text);
    checkLengths(MAX_LENGTHS, form);
    checkNoDuplicates(form);
    const wanted = parseTokenRequest(form);
    const { stream, loaded } = await loadSession(this.streams, tenantId, wanted.code);
    start.begin();

    const now = this.clock.now();
    let token = '';
    /** @throws AppError when the details asked for are not to be had */
    const redeem = (session: OfferedSession | AuthorizedSession): Redemption => {
      const details = checkAuthorizationDetails(session, wanted.authorizationDetails, () => this.ids.uuid());
      const made = makeBearerValue(session.id, this.ids.uuid());
      token = made.value;
      const { mac, pepper } = this.macs.mac(token, grantContext('access', tenantId, session.id));
      const expiresAt = new Date(now.getTime() + this.config.accessTokenSeconds * 1000).toISOString();
      return {
        accessToken: { tokenId: made.tokenId, kind: 'access', mac, keyId: pepper, expiresAt },
        ...(details && { authorizationDetails: details }),
      };
    };
    const decided = await this.streams.decideOn(
      issuanceSession,
      stream,
      loaded,
      // Of two that redeem one code, the second meets another revision and then a redeemed session.
      async (state) => {
        if (wanted.grant === 'authorizationCode') {
          const checked = checkAuthorizationCode(state, wanted, tenantId, now, this.macs);
          const redemption = 'fresh' in checked ? redeem(checked.fresh) : undefined;
          await start.acknowledged();
          return 'fresh' in checked
            ? redeemAuthorizationCode(checked.fresh, redemption!, now)
            : replayAuthorizationCode(checked.spent, now);
        }
        const session = checkCode(state, wanted.code, tenantId, now, this.macs);
        const right = checkTransactionCode(session, wanted.transactionCode, this.macs);
        const redemption = right ? redeem(session) : undefined;
        await start.acknowledged();
        return redemption ? redeemCode(session, redemption, now) : refuseTransactionCode(session, now);
      },
      eventContext(context),
    );

    const redeemed = decided.events[0];
    if (redeemed?.type !== 'PreAuthorizedCodeRedeemed' && redeemed?.type !== 'AuthorizationCodeRedeemed') {
      // Should the process end here, the sweep of ended sessions does it.
      const { state } = decided;
      if (state.status === 'locked' || state.status === 'revoked')
        await this.sealing.destroyDataKeys(tenantId, [state.id]);
      throw state.status === 'revoked'
        ? oauthError('invalid_grant', 'the code has already been used', { check: 'check-authorization-code' })
        : oauthError('invalid_grant', 'tx_code is wrong', { check: 'check-transaction-code' });
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
