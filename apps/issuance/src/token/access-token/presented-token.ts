import { bearerChallenge, dpopChallenge, oauthError, type AppError } from '@attestry/contracts';
import type { Loaded } from '@attestry/event-store';
import { isExpired } from '../../sessions/issuance-session/issuance-session.decisions.js';
import type { IssuanceSessionState, RedeemedSession } from '../../sessions/issuance-session/issuance-session.state.js';

export interface PresentedToken {
  tokenId: string;
  stream: string;
  loaded: Loaded<IssuanceSessionState>;
  session: RedeemedSession;
  /** The session in a state loaded later, when this token is still valid in it. @throws 401 invalid_token */
  requireSession(state: IssuanceSessionState): RedeemedSession;
  /** Before any refusal, as the session may be cached. @throws AppError 401 when the token has ended meanwhile */
  confirm(): Promise<void>;
}

const NOT_VALID = 'the access token is not valid';

/** @param isDpop the challenge names DPoP for the scheme DPoP and for a bound token (RFC 9449 §7.1) */
export const invalidToken = (isDpop: boolean): AppError =>
  oauthError('invalid_token', NOT_VALID, {
    check: 'load-access-token',
    headers: (isDpop ? dpopChallenge : bearerChallenge)('invalid_token', NOT_VALID),
  });

/** @throws AppError 401 for a token that has expired */
export const requireCurrent = ({ session: { accessToken }, now }: { session: RedeemedSession; now: Date }): void => {
  if (isExpired(accessToken, now)) throw invalidToken(accessToken.jkt !== undefined);
};

/** A token that has expired is valid for what its session has deferred. */
export const requireCurrentOrDeferred = (call: { session: RedeemedSession; now: Date }): void => {
  if (!call.session.deferrals) requireCurrent(call);
};
