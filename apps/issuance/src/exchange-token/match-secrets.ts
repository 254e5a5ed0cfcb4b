import { createHash, timingSafeEqual } from 'node:crypto';
import type { KeyVault } from '@attestry/keys';
import type { Grant } from '../issuance-session/issuance-session.events.js';
import type { IssuanceSessionState } from '../issuance-session/issuance-session.state.js';
import { grantContext } from '../protocol/bearer-value.js';
import { normalTransactionCode } from '../protocol/transaction-code.js';
import type { TokenRequest } from './parse-token-request.js';

/** Which secrets of the token request are those of the session: facts of the decision, for which keys are needed. */
export interface MatchedSecrets {
  /** Also a code that is spent. */
  code: boolean;
  transactionCode: boolean;
  /** `code_verifier` */
  verifier: boolean;
}

export const matchSecrets = (
  state: IssuanceSessionState,
  request: TokenRequest,
  tenantId: string,
  vault: Pick<KeyVault, 'verifyMac'>,
): MatchedSecrets => ({
  code: matchesCode(state, request, tenantId, vault),
  transactionCode: request.grant === 'preAuthorizedCode' && matchesTransactionCode(state, request, vault),
  verifier: request.grant === 'authorizationCode' && matchesVerifier(state, request.codeVerifier),
});

/** The whole value is under the MAC, its session and token id too; compared in constant time. */
const matchesCode = (
  state: IssuanceSessionState,
  { grant, code }: TokenRequest,
  tenantId: string,
  vault: Pick<KeyVault, 'verifyMac'>,
): boolean => {
  const kept = codeOf(state);
  if (!kept || state.status === 'absent') return false;
  return vault.verifyMac(code, { mac: kept.mac, pepper: kept.keyId }, grantContext(grant, tenantId, state.id));
};

const codeOf = (state: IssuanceSessionState): Grant | undefined => {
  if (state.status === 'offered' || state.status === 'authorized') return state.code;
  return state.status === 'redeemed' ? state.spentCode : undefined;
};

const matchesTransactionCode = (
  state: IssuanceSessionState,
  { transactionCode: given }: Extract<TokenRequest, { grant: 'preAuthorizedCode' }>,
  vault: Pick<KeyVault, 'verifyMac'>,
): boolean => {
  const expected = state.status === 'offered' ? state.origin.transactionCode : undefined;
  if (!expected || state.status !== 'offered' || given === undefined) return false;
  const { mac, keyId: pepper, inputMode } = expected;
  return vault.verifyMac(normalTransactionCode(given, inputMode), { mac, pepper }, state.id);
};

/** RFC 7636 §4.1 */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** RFC 7636 §4.6 */
const matchesVerifier = (state: IssuanceSessionState, verifier: string): boolean => {
  if (state.status !== 'authorized' || !VERIFIER.test(verifier)) return false;
  // As texts: base64url has more than one spelling of a digest.
  const made = Buffer.from(createHash('sha256').update(verifier).digest('base64url'));
  const expected = Buffer.from(state.origin.codeChallenge);
  return made.length === expected.length && timingSafeEqual(made, expected);
};
