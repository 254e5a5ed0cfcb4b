import { oauthError, WalletRevocationRequest, type RawRequest } from '@attestry/contracts';
import { checkContentType } from '../../reading/raw-request/check-content-type.js';
import { checkLengths, maxLengthsOf } from '../../reading/raw-request/check-lengths.js';
import { checkNoDuplicates } from '../../reading/raw-request/check-no-duplicates.js';
import { clientOfAttestation } from '../../wallets/client-attestation/client-attestation.js';
import { queryOf } from '../../reading/raw-request/raw-request.js';

export interface RevocationRequest {
  token: string;
  clientId?: string;
}

const MAX_LENGTHS = maxLengthsOf(WalletRevocationRequest);

/** RFC 7009 §2.1. `token_type_hint` is not needed, and a wrong one changes nothing; unknown parameters are ignored. @throws AppError 400 */
export const parseRevocationRequest = (raw: RawRequest): RevocationRequest => {
  checkContentType(raw);
  const query = queryOf(raw);
  const misplaced = [...MAX_LENGTHS.keys()].find((name) => query.has(name));
  // Tokens in an address end up in logs and histories.
  if (misplaced !== undefined) throw refused(`${misplaced} must not be in the query string`);
  const form = new URLSearchParams(raw.text);
  checkLengths(MAX_LENGTHS, form);
  checkNoDuplicates(form);
  const token = form.get('token');
  if (!token) throw refused('token is missing');
  const clientId = form.get('client_id') || clientOfAttestation(raw.headers['oauth-client-attestation']);
  return { token, ...(clientId !== undefined && { clientId }) };
};

const refused = (description: string) =>
  oauthError('invalid_request', description, { check: 'parse-revocation-request' });
