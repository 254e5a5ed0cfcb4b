import { oauthError, type AppError } from '@attestry/contracts';
import {
  redeemAuthorizationCode,
  redeemCode,
  refuseTransactionCode,
  replayAuthorizationCode,
  type AuthorizedSession,
  type OfferedSession,
  type Redemption,
} from '../../sessions/issuance-session/issuance-session.decisions.js';
import type {
  BegunFamily,
  CodeRedeemed,
  Grant,
  IssuanceSessionEvent,
} from '../../sessions/issuance-session/issuance-session.events.js';
import type { IssuanceSessionState } from '../../sessions/issuance-session/issuance-session.state.js';
import { checkAuthorizationCode } from './check-authorization-code.js';
import { checkAuthorizationDetails } from './check-authorization-details.js';
import { checkCode } from './check-code.js';
import { checkTransactionCode } from './check-transaction-code.js';
import type { MatchedSecrets } from './match-secrets.js';
import type { TokenRequest } from './parse-token-request.js';

export interface ExchangeFacts {
  now: Date;
  matched: MatchedSecrets;
  /** The access token that the code becomes. */
  accessToken: Grant;
  /** New credential identifiers, one for each entry of the session. */
  identifiers: readonly string[];
  /** Family of the refresh token, for the code of an authorization request. */
  tokenFamily?: BegunFamily;
}

/**
 * OID4VCI §6.1 and §6.3, RFC 6749 §4.1.3: the checks in their order.
 * @throws AppError for a refusal that changes nothing; {@link outcomeOf} returns those that the events record
 */
export const exchangeCode = (
  state: IssuanceSessionState,
  request: TokenRequest,
  facts: ExchangeFacts,
): IssuanceSessionEvent[] => {
  const { now, matched } = facts;
  if (request.grant === 'authorizationCode') {
    const checked = checkAuthorizationCode(state, request, matched, now);
    return 'spent' in checked
      ? replayAuthorizationCode(checked.spent, now)
      : redeemAuthorizationCode(checked.fresh, redemptionOf(checked.fresh, request, facts), now);
  }
  const session = checkCode(state, matched, now);
  return checkTransactionCode(session, request.transactionCode, matched)
    ? redeemCode(session, redemptionOf(session, request, facts), now)
    : refuseTransactionCode(session, now);
};

const redemptionOf = (
  session: OfferedSession | AuthorizedSession,
  request: TokenRequest,
  { accessToken, identifiers, tokenFamily }: ExchangeFacts,
): Redemption => {
  const authorizationDetails = checkAuthorizationDetails(session, request.authorizationDetails, identifiers);
  return {
    accessToken,
    ...(authorizationDetails && { authorizationDetails }),
    ...(tokenFamily && { tokenFamily }),
  };
};

/** The wallet's response, returned once the events are stored. */
export const outcomeOf = ([event]: readonly IssuanceSessionEvent[]): CodeRedeemed | AppError => {
  if (event?.type === 'PreAuthorizedCodeRedeemed' || event?.type === 'AuthorizationCodeRedeemed') return event.data;
  return event?.type === 'AuthorizationCodeReplayed'
    ? oauthError('invalid_grant', 'the code has already been used', { check: 'check-authorization-code' })
    : oauthError('invalid_grant', 'tx_code is wrong', { check: 'check-transaction-code' });
};
