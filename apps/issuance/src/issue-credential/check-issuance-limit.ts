import { oauthError } from '@attestry/contracts';
import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';
import type { RedeemedSession } from '../issuance-session/issuance-session.state.js';

/** `maxIssuances` caps the credentials of one session (ADR 0059); OID4VCI 1.0 §8.3.1.2. */
export const checkIssuanceLimit = (
  session: RedeemedSession,
  { id, content: { maxIssuances } }: ActiveConfiguration,
  wanted: number,
): void => {
  if (maxIssuances !== undefined && (session.issued[id] ?? 0) + wanted > maxIssuances)
    throw oauthError(
      'credential_request_denied',
      'the credential configuration allows no more credentials for this offer',
      {
        check: 'check-issuance-limit',
      },
    );
};
