import { oauthError } from '@attestry/contracts';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import { countDeferred } from '../../sessions/issuance-session/deferred-issuance.decisions.js';
import type { RedeemedSession } from '../../sessions/issuance-session/issuance-session.state.js';

/**
 * `maxIssuances` caps the credentials of one session, also those that are deferred (ADR 0059); OID4VCI 1.0 §8.3.1.2.
 * @param collected deferral whose credentials these are
 */
export const checkIssuanceLimit = (
  session: RedeemedSession,
  { id, content: { maxIssuances } }: ActiveConfiguration,
  wanted: number,
  now: Date,
  collected?: string,
): void => {
  if (maxIssuances === undefined) return;
  const deferred = session.deferrals ? countDeferred(session, id, now, collected) : 0;
  if ((session.issued[id] ?? 0) + deferred + wanted > maxIssuances)
    throw oauthError(
      'credential_request_denied',
      'the credential configuration allows no more credentials for this offer',
      {
        check: 'check-issuance-limit',
      },
    );
};
