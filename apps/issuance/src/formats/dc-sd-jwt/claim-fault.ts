import { reservedName } from '../reserved-names.js';
import { describeClaimFault, type ClaimFault } from '../claim-faults.decisions.js';

/** Names that a verifier reads in plain text, so that they are never selectively disclosable: SD-JWT VC, Registered JWT Claims; RFC 9901 §9.7. */
const REGISTERED_CLAIMS: ReadonlySet<string> = new Set([
  'iss',
  'aud',
  'iat',
  'nbf',
  'exp',
  'cnf',
  'vct',
  'vct#integrity',
  'aka_vcts',
  'status',
]);

/** Names with a meaning of their own at every level: RFC 9901 §4.1, §4.1.1. */
const SD_JWT_NAMES: ReadonlySet<string> = new Set(['_sd', '...', '_sd_alg']);

const SD_JWT_MEANING = 'which has a meaning of its own in an SD-JWT';

const reservedFault = (claim: string): string | undefined => {
  if (REGISTERED_CLAIMS.has(claim))
    return reservedName(`${claim} is set by the platform, and never selectively disclosable`);
  return SD_JWT_NAMES.has(claim) ? reservedName(`${claim} has a meaning of its own in an SD-JWT`) : undefined;
};

/** Each value of a claim, at any level, is a disclosure: its salt, digest and encoding are at least 100 bytes. */
const MAX_DISCLOSURES = 1000;
const MAX_DEPTH = 32;

/** Why claims cannot be selectively disclosed; undefined when they can. */
export const claimFault = (claims: Readonly<Record<string, unknown>>): ClaimFault | undefined => {
  let disclosures = 0;
  const faultOf = (value: unknown, depth: number): string | undefined => {
    if (++disclosures > MAX_DISCLOSURES) return `must not make claims of more than ${MAX_DISCLOSURES} values in total`;
    if (typeof value !== 'object' || value === null) return undefined;
    if (depth === MAX_DEPTH) return `must not nest deeper than ${MAX_DEPTH} levels`;
    for (const [name, member] of Object.entries(value)) {
      if (SD_JWT_NAMES.has(name)) return `must not have a member with the reserved name ${name}, ${SD_JWT_MEANING}`;
      const fault = faultOf(member, depth + 1);
      if (fault) return fault;
    }
    return undefined;
  };
  for (const [claim, value] of Object.entries(claims)) {
    const msg = reservedFault(claim) ?? faultOf(value, 1);
    if (msg) return { claim, msg };
  }
  return undefined;
};

/** Claims of a credential that cannot be selectively disclosed. */
export class ClaimNotDisclosable extends Error {
  override readonly name = 'ClaimNotDisclosable';

  constructor(readonly fault: ClaimFault) {
    super(describeClaimFault(fault));
  }
}
