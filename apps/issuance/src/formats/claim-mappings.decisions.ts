import type { ClaimMapping, ErrorDetail } from '@attestry/contracts';
import { parseClaimPath, unmatchedPath } from './claim-path.js';
import { isObject } from '../reading/raw-request/raw-request.js';
import { claimDisplayFault } from './display.decisions.js';

const MAX_CLAIM_MAPPINGS = 200;
/** Length of `claimMappings` as JSON, UTF-8. */
const MAX_CLAIM_MAPPINGS_BYTES = 65_536;

/** Requirements of a format on the mapping of a claim, beside its syntax. */
export interface ClaimRules {
  nameFault(name: string): string | undefined;
  /** Names of claims may be identifiers joined by dots, as those of elements of ISO/IEC 18013-5 are. Absent: no. */
  hasDottedNames?: true;
  valueFault?: ((name: string, defaultValue: unknown) => string | undefined) | undefined;
  /** A member that only the mappings of this format have. */
  member?: { name: string; fault(value: unknown, mapping: ClaimMapping): string | undefined };
}

const MEMBERS = ['mapFrom', 'defaultValue', 'required', 'display'];

export const PATH_FAULT =
  "must have a path such as claims.name, claims['name'] or authenticationProvider.subjectId in mapFrom";

/** Fault of `mapFrom`. */
export const pathFault = (mapFrom: unknown): string | undefined => {
  if (typeof mapFrom !== 'string') return PATH_FAULT;
  return unmatchedPath(mapFrom) ?? (parseClaimPath(mapFrom) ? undefined : PATH_FAULT);
};

export const DOTS_FAULT = "must not have dots, which would become part of the claim's name";
/** Letters, digits and `_` or `-`, joined by dots: a path that was meant to be nested. An address such as `https://example.com/x` is none. */
const DOTTED = /^[a-z_][\w-]*(?:\.[a-z_][\w-]*)+$/i;

export const isDotted = (name: string): boolean => name.length <= 1024 && DOTTED.test(name);

/** Fault of a claim of a format whose claims can be objects: they are mapped as such, not by their members. */
const dottedNameFault = (name: string): string | undefined => {
  if (!isDotted(name)) return undefined;
  const [outer, inner] = name.split('.', 2);
  return `${DOTS_FAULT}: map ${outer!.slice(0, 100)} to an object with the member ${inner!.slice(0, 100)}`;
};

const utf8Length = (text: string): number => {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0)!;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
};

const nameLengthFault = (name: string): string | undefined =>
  !name || name.length > 1024 ? 'must have a name of 1 to 1024 characters' : undefined;

const mappingFault = (name: string, mapping: unknown, rules: ClaimRules): string | undefined => {
  const misnamed =
    nameLengthFault(name) ?? rules.nameFault(name) ?? (rules.hasDottedNames ? undefined : dottedNameFault(name));
  if (misnamed) return misnamed;
  if (!isObject(mapping)) return 'must be an object';
  const allowed = rules.member ? [rules.member.name, ...MEMBERS] : MEMBERS;
  const unknown = Object.keys(mapping).find((key) => !allowed.includes(key));
  if (unknown !== undefined)
    return `must not have the member ${unknown.slice(0, 100).toWellFormed()}; allowed: ${allowed.slice(0, -1).join(', ')} and ${allowed.at(-1)}`;
  const { mapFrom, defaultValue, required, display } = mapping as ClaimMapping;
  if (mapFrom === undefined && defaultValue === undefined) return 'must have mapFrom or defaultValue';
  const misplaced = mapFrom === undefined ? undefined : pathFault(mapFrom);
  if (misplaced) return misplaced;
  if (defaultValue === null) return 'must not have a null defaultValue';
  const misvalued = rules.member?.fault(mapping[rules.member.name], mapping) ?? rules.valueFault?.(name, defaultValue);
  if (misvalued) return misvalued;
  if (required !== undefined && typeof required !== 'boolean') return 'must have true or false in required';
  return display === undefined ? undefined : claimDisplayFault(display);
};

const fault = (param: string, msg: string): ErrorDetail => ({ msg, param, location: 'body' });

const faultsOfMappings = (param: string, mappings: [string, unknown][], rules: ClaimRules): ErrorDetail[] =>
  mappings.flatMap(([name, mapping]) => {
    const msg = mappingFault(name, mapping, rules);
    return msg ? [fault(`${param}.${name}`, msg)] : [];
  });

const sizeFault = (claimMappings: Record<string, unknown>, count: number): string | undefined => {
  if (count > MAX_CLAIM_MAPPINGS) return `must have at most ${MAX_CLAIM_MAPPINGS} entries`;
  return utf8Length(JSON.stringify(claimMappings)) > MAX_CLAIM_MAPPINGS_BYTES
    ? 'must be at most 64 KiB of JSON'
    : undefined;
};

/** Faults of `claimMappings`. */
export const claimMappingFaults = (claimMappings: Record<string, unknown>, rules: ClaimRules): ErrorDetail[] => {
  const mappings = Object.entries(claimMappings);
  const msg = sizeFault(claimMappings, mappings.length);
  return msg ? [fault('claimMappings', msg)] : faultsOfMappings('claimMappings', mappings, rules);
};

/** Faults of `claimMappings` by namespace; `nameFault` is also that of namespaces. */
export const namespaceMappingFaults = (claimMappings: Record<string, unknown>, rules: ClaimRules): ErrorDetail[] => {
  const namespaces = Object.entries(claimMappings).map(([name, mappings]) => ({
    name,
    elements: isObject(mappings) ? Object.entries(mappings) : undefined,
  }));
  const count = namespaces.reduce((sum, { elements }) => sum + (elements?.length ?? 1), 0);
  const msg = count === 0 ? 'must have at least one element' : sizeFault(claimMappings, count);
  if (msg) return [fault('claimMappings', msg)];
  return namespaces.flatMap(({ name, elements }) => {
    const param = `claimMappings.${name}`;
    const misnamed = nameLengthFault(name) ?? rules.nameFault(name);
    if (misnamed) return [fault(param, misnamed)];
    if (!elements) return [fault(param, 'must be an object with a mapping for each element')];
    if (elements.length === 0) return [fault(param, 'must have at least one element')];
    return faultsOfMappings(param, elements, rules);
  });
};
