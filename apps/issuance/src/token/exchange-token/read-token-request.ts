import { HolderTokenRequest, type RawRequest } from '@attestry/contracts';
import { checkLengths, maxLengthsOf } from '../../reading/raw-request/check-lengths.js';
import { checkNoDuplicates } from '../../reading/raw-request/check-no-duplicates.js';
import { clientOfAttestation } from '../../wallets/client-attestation/client-attestation.js';
import { parseTokenRequest, type RefreshTokenRequest, type TokenRequest } from './parse-token-request.js';

const MAX_LENGTHS = maxLengthsOf(HolderTokenRequest);

/** The form of a token request; the client is that of the attestation, where only this one names it. @throws AppError 400 */
export const readTokenRequest = ({ text, headers }: RawRequest): { wanted: TokenRequest | RefreshTokenRequest } => {
  const form = new URLSearchParams(text);
  const attestation = headers['oauth-client-attestation'];
  const attested = clientOfAttestation(attestation);
  if (attested !== undefined && !form.get('client_id')) form.set('client_id', attested);
  checkLengths(MAX_LENGTHS, form);
  checkNoDuplicates(form);
  return { wanted: parseTokenRequest(form, attestation !== undefined) };
};
