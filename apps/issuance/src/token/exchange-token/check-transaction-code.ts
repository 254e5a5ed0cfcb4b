import { oauthError } from '@attestry/contracts';
import type { OfferedSession } from '../../sessions/issuance-session/issuance-session.decisions.js';
import type { MatchedSecrets } from './match-secrets.js';

/**
 * OID4VCI §6.3: missing though expected, or sent though not expected, is an error of the request and does not count. False for a wrong one,
 * which does (§13.6.3).
 */
export const checkTransactionCode = (
  session: OfferedSession,
  given: string | undefined,
  matched: MatchedSecrets,
): boolean => {
  const { transactionCode } = session.origin;
  if (!transactionCode) {
    if (given !== undefined)
      throw oauthError('invalid_request', 'tx_code must not be sent: the offer has no transaction code', {
        check: 'check-transaction-code',
      });
    return true;
  }
  if (given === undefined)
    throw oauthError('invalid_request', 'tx_code is missing', { check: 'check-transaction-code' });
  return matched.transactionCode;
};
