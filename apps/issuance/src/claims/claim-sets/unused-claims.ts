import type { Warning } from '@attestry/contracts';
import { nearestName } from '@attestry/service-kit';

/** Claims that are named; the rest are counted. */
const MAX_NAMED = 10;
/** Longest name that is repeated. */
const MAX_NAME = 100;
/** Names that one name is compared with, which takes quadratic time. */
const MAX_COMPARED = 200;

/** Claims of an offer, or of one of its claim sets. */
export interface GivenClaims {
  /** Member of the request. */
  param: string;
  names: readonly string[];
  /** Names of the claims that are used. */
  used: ReadonlySet<string>;
  /** Where a name would have to be to be used. */
  users: string;
}

/** A warning for each claim that nothing uses, without its value: it is probably misspelled. */
export const unusedClaims = (given: readonly GivenClaims[]): Warning[] => {
  const unused = given.flatMap((claims) =>
    claims.names.filter((name) => !claims.used.has(name)).map((name) => ({ name, claims })),
  );
  const warnings = unused.slice(0, MAX_NAMED).map(({ name, claims }) => ({
    param: `${claims.param}.${shortened(name)}`,
    msg: messageOf(name, claims),
  }));
  if (unused.length <= MAX_NAMED) return warnings;
  return [...warnings, { param: 'claims', msg: `has ${unused.length - MAX_NAMED} more claims that nothing uses` }];
};

const messageOf = (name: string, { names, used, users }: GivenClaims): string => {
  // A claim that is given was not meant.
  const given = new Set(names);
  const candidates = [...used].filter((known) => !given.has(known)).slice(0, MAX_COMPARED);
  const nearest = nearestName(name, candidates);
  return `is not used: ${users} names it${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`;
};

const shortened = (name: string): string =>
  name.length > MAX_NAME ? `${name.slice(0, MAX_NAME).toWellFormed()}…` : name;
