import type { GrantedDetail } from '../../sessions/issuance-session/issuance-session.events.js';
import type { CheckedEntry } from './check-credentials.js';

/** Claims of one credential, merged last (specification notes, Issuance). */
export interface ClaimSet {
  /** Id of the claim set, which is also the credential identifier. */
  identifier: string;
  claims: Record<string, unknown>;
}

/** Claim sets of an offer, or of the part of it that a session covers. */
export interface ClaimSets {
  /** Credential identifiers of every entry: one for each of its claim sets, a generated one where it has none. */
  identifiers: GrantedDetail[];
  sets: ClaimSet[];
}

/** `undefined` when no entry has claim sets. */
export const nameClaimSets = (entries: readonly CheckedEntry[], newId: () => string): ClaimSets | undefined => {
  if (entries.every(({ claimSets }) => claimSets.length === 0)) return undefined;
  const sets: ClaimSet[] = [];
  const identifiers = entries.map(({ configurationId, claimSets }) => {
    const named = claimSets.map(({ identifier = newId(), claims }) => ({ identifier, claims }));
    sets.push(...named);
    return {
      credentialConfigurationId: configurationId,
      credentialIdentifiers: named.length ? named.map(({ identifier }) => identifier) : [newId()],
    };
  });
  return { identifiers, sets };
};

/** The part for these configurations. It has identifiers even if none of these has claim sets, as the offer has some. */
export const claimSetsFor = ({ identifiers, sets }: ClaimSets, configurationIds: ReadonlySet<string>): ClaimSets => {
  const covered = identifiers.filter(({ credentialConfigurationId }) =>
    configurationIds.has(credentialConfigurationId),
  );
  const names = new Set(covered.flatMap(({ credentialIdentifiers }) => credentialIdentifiers));
  return { identifiers: covered, sets: sets.filter(({ identifier }) => names.has(identifier)) };
};

/** Claims that are stored where a session binds claim sets. */
interface ClaimsWithSets {
  claims: Record<string, unknown>;
  claimSets: ClaimSet[];
}

/** Text that is sealed for a session. */
export const sessionClaimsText = (claims: Record<string, unknown>, claimSets: ClaimSets | undefined): string =>
  JSON.stringify(claimSets ? ({ claims, claimSets: claimSets.sets } satisfies ClaimsWithSets) : claims);

/** The offer's claims, and those of the claim set; an entry without sets has an identifier of no claim set. */
export const withoutClaimSet = (
  sealed: Record<string, unknown>,
  credentialIdentifier: string | undefined,
): [claims: Record<string, unknown>, claimSet?: Record<string, unknown>] => {
  const { claims, claimSets } = sealed as unknown as ClaimsWithSets;
  const set = claimSets.find(({ identifier }) => identifier === credentialIdentifier);
  return set ? [claims, set.claims] : [claims];
};
