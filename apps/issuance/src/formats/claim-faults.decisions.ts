import { oauthError, type AppError } from '@attestry/contracts';
import type { ClaimFault as EncodingFault } from '@attestry/cose';

/** A claim that a credential cannot have. */
export interface ClaimFault {
  /** Name in the credential, also where a value within the claim has the fault; namespace and element of an mdoc. */
  claim: string;
  /** `must …` or `is …`; contains no value of a claim. */
  msg: string;
}

/** The fault as it is shown. */
export const describeClaimFault = ({ claim, msg }: ClaimFault): string => `${claim} ${msg}`;

/** Fault of a claim that has no encoding in CBOR. */
export const faultOfEncoding = ({ claim, message }: EncodingFault): ClaimFault => {
  const name = claim.join(' ');
  return { claim: name, msg: message.slice(name.length + 1) };
};

/** @param check of the format, for logs */
export const deniedClaim = (check: string, fault: ClaimFault): AppError =>
  oauthError('credential_request_denied', describeClaimFault(fault), { check, claim: fault.claim });

/**
 * The claim that exceeds a limit of all claims together when they are added one after the other. For claims that are known to exceed it: the
 * time it takes grows with the square of their number.
 * @param sizeFault `exceed …` or another infinitive, for claims by name, or by namespace and name
 * @param claims by these paths
 */
export const claimBeyondLimit = (
  sizeFault: (claims: Record<string, unknown>) => string | undefined,
  claims: readonly (readonly [path: readonly [string] | readonly [string, string], value: unknown])[],
  whose = 'the credential',
): ClaimFault | undefined => {
  const added = Object.create(null) as Record<string, unknown>;
  for (const [[outer, inner], value] of claims) {
    if (inner === undefined) added[outer] = value;
    else ((added[outer] ??= Object.create(null)) as Record<string, unknown>)[inner] = value;
    const msg = sizeFault(added);
    if (!msg) continue;
    const claim = inner === undefined ? outer : `${outer} ${inner}`;
    return { claim, msg: `must not make the claims of ${whose} ${msg}` };
  }
  return undefined;
};

/** Claims by name, for {@link claimBeyondLimit}. */
export const byName = (claims: Readonly<Record<string, unknown>>): (readonly [readonly [string], unknown])[] =>
  Object.entries(claims).map(([name, value]) => [[name], value]);
