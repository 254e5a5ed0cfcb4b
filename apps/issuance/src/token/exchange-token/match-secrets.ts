import { createHash, timingSafeEqual } from 'node:crypto';
import type { Macs } from '@attestry/keys';
import type { Grant } from '../../sessions/issuance-session/issuance-session.events.js';
import type { IssuanceSessionState } from '../../sessions/issuance-session/issuance-session.state.js';
import { grantContext } from '../../sessions/bearer-value/bearer-value.js';
import { normalTransactionCode } from '../../sessions/transaction-code/transaction-code.js';
import type { TokenRequest } from './parse-token-request.js';

/** Secrets of the token request that are those of the session: facts of the decision, for which keys are needed. */
export interface MatchedSecrets {
  /** True for a spent code, too. */
  code: boolean;
  transactionCode: boolean;
  /** `code_verifier` */
  verifier: boolean;
}

export const matchSecrets = (
  state: IssuanceSessionState,
  request: TokenRequest,
  tenantId: string,
  macs: Pick<Macs, 'verifyMac'>,
): MatchedSecrets => {
  const none: MatchedSecrets = { code: false, transactionCode: false, verifier: false };
  if (!('entries' in state)) return none;
  const matches = (secret: string, { mac, keyId: pepper }: Pick<Grant, 'mac' | 'keyId'>, context: string): boolean =>
    macs.verifyMac(secret, { mac, pepper }, context);
  const storedCode = state.status === 'redeemed' ? state.spentCode : state.code;
  // The MAC covers the whole value, with its session and token id; compared in constant time.
  const code =
    storedCode !== undefined && matches(request.code, storedCode, grantContext(request.grant, tenantId, state.id));
  if (request.grant === 'authorizationCode')
    return {
      ...none,
      code,
      verifier:
        state.origin.kind === 'authorizationRequest' &&
        provesChallenge(request.codeVerifier, state.origin.codeChallenge),
    };
  const expected = state.status === 'offered' ? state.origin.transactionCode : undefined;
  const given = request.transactionCode;
  if (!expected || given === undefined) return { ...none, code };
  return {
    ...none,
    code,
    transactionCode: matches(normalTransactionCode(given, expected.inputMode), expected, state.id),
  };
};

/** RFC 7636 §4.1 */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** RFC 7636 §4.6 */
const provesChallenge = (verifier: string, challenge: string): boolean => {
  if (!VERIFIER.test(verifier)) return false;
  // Strings are compared: base64url has more than one spelling of a digest.
  const made = Buffer.from(createHash('sha256').update(verifier).digest('base64url'));
  const expected = Buffer.from(challenge);
  return made.length === expected.length && timingSafeEqual(made, expected);
};
