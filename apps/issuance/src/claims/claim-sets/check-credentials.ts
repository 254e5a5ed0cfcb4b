import { isUuid, MAX_CLAIM_SETS, MAX_CREDENTIAL_IDENTIFIER, type ErrorDetail } from '@attestry/contracts';
import { isObject } from '../../reading/raw-request/raw-request.js';

export interface GivenClaimSet {
  identifier?: string;
  claims: Record<string, unknown>;
}

/** One entry of `credentials`; its configuration is not yet known to exist. */
export interface CheckedEntry {
  configurationId: string;
  /** Empty for an entry that is only an id. */
  claimSets: GivenClaimSet[];
}

export interface CheckedCredentials {
  entries: CheckedEntry[];
  details: ErrorDetail[];
}

/** Longest text that a detail repeats. */
const MAX_ECHO = 200;
const ENTRY = ['credentialConfigurationId', 'claimSets'];
const NEITHER = 'must be ids of credential configurations or objects with claim sets';
const CLAIM_SET = ['identifier', 'claims'];

const isEchoed = (value: unknown): boolean =>
  value === null ||
  (typeof value === 'string' ? value.length <= MAX_ECHO : typeof value !== 'object' && value !== undefined);

/** A name that the wallet sends back unchanged. */
const isIdentifier = (value: unknown): value is string =>
  typeof value === 'string' &&
  value !== '' &&
  value.length <= MAX_CREDENTIAL_IDENTIFIER &&
  value.isWellFormed() &&
  !/\p{Cc}/u.test(value);

/**
 * `credentials` of an offer request: credential configurations, each once, by id or with claim sets. Details never contain claims, nor
 * objects that could.
 */
export const checkCredentials = (credentials: readonly unknown[]): CheckedCredentials => {
  const details: ErrorDetail[] = [];
  const fault = (param: string, msg: string, value?: unknown) =>
    details.push({ ...(isEchoed(value) && { value }), msg, param, location: 'body' });
  const onlyMembers = (param: string, value: object, known: readonly string[]) => {
    if (Object.keys(value).some((name) => !known.includes(name)))
      fault(param, `must have no members except ${known.join(', ')}`);
  };
  const entries: CheckedEntry[] = [];
  const configurations = new Set<string>();
  const identifiers = new Set<string>();
  let sets = 0;

  const claimSetOf = (given: unknown, param: string): GivenClaimSet[] => {
    if (!isObject(given)) {
      fault(param, 'must be an object with claims');
      return [];
    }
    onlyMembers(param, given, CLAIM_SET);
    const { identifier, claims } = given;
    if (identifier !== undefined && !isIdentifier(identifier))
      fault(
        `${param}.identifier`,
        `must be a string of 1 to ${MAX_CREDENTIAL_IDENTIFIER} characters without control characters`,
      );
    else if (identifier !== undefined && identifiers.has(identifier))
      fault(`${param}.identifier`, 'must be unique in the offer', identifier);
    else if (identifier !== undefined) identifiers.add(identifier);
    if (!isObject(claims)) {
      fault(`${param}.claims`, 'must be an object');
      return [];
    }
    return [{ ...(isIdentifier(identifier) && { identifier }), claims }];
  };

  const claimSetsOf = (given: unknown, param: string): GivenClaimSet[] => {
    if (!Array.isArray(given) || given.length === 0) {
      fault(param, 'must be an array of at least one claim set');
      return [];
    }
    const before = sets;
    sets += given.length;
    if (sets > MAX_CLAIM_SETS) {
      if (before <= MAX_CLAIM_SETS) fault('credentials', `must have at most ${MAX_CLAIM_SETS} claim sets in total`);
      return [];
    }
    return given.flatMap((one, index) => claimSetOf(one, `${param}.${index}`));
  };

  for (const [index, entry] of credentials.entries()) {
    const param = `credentials.${index}`;
    const given = isObject(entry) ? entry : undefined;
    const id = given ? given['credentialConfigurationId'] : entry;
    if (given) onlyMembers(param, given, ENTRY);
    const at = given ? `${param}.credentialConfigurationId` : 'credentials';
    const claimSets = given ? claimSetsOf(given['claimSets'], `${param}.claimSets`) : [];
    const configurationId = isUuid(id) ? id.toLowerCase() : undefined;
    if (configurationId === undefined) fault(at, given ? 'must be the id of a credential configuration' : NEITHER, id);
    else if (configurations.has(configurationId)) fault('credentials', 'must not repeat a configuration', id);
    else {
      configurations.add(configurationId);
      entries.push({ configurationId, claimSets });
    }
  }
  return { entries, details };
};
