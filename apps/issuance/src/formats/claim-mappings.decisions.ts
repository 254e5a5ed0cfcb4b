import type { ClaimMapping, ErrorDetail } from '@attestry/contracts';
import { parseClaimPath } from '../credential-configuration/claim-path.js';
import { claimDisplayFault } from './display.decisions.js';

const MAX_CLAIM_MAPPINGS = 200;
/** Of `claimMappings` as JSON, UTF-8. */
const MAX_CLAIM_MAPPINGS_BYTES = 65_536;

/** What a format requires of the mapping of a claim, beside its syntax. */
export interface ClaimRules {
  nameFault(name: string): string | undefined;
  valueFault?: ((name: string, defaultValue: unknown) => string | undefined) | undefined;
}

const utf8Length = (text: string): number => {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0)!;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
};

const mappingFault = (name: string, mapping: unknown, rules: ClaimRules): string | undefined => {
  if (!name || name.length > 1024) return 'must have a name of 1 to 1024 characters';
  const misnamed = rules.nameFault(name);
  if (misnamed) return misnamed;
  if (typeof mapping !== 'object' || mapping === null || Array.isArray(mapping)) return 'must be an object';
  const unknown = Object.keys(mapping).find((key) => !['mapFrom', 'defaultValue', 'required', 'display'].includes(key));
  if (unknown !== undefined)
    return `must not have the member ${unknown.slice(0, 100).toWellFormed()}; allowed: mapFrom, defaultValue, required and display`;
  const { mapFrom, defaultValue, required, display } = mapping as ClaimMapping;
  if (mapFrom === undefined && defaultValue === undefined) return 'must have mapFrom or defaultValue';
  if (mapFrom !== undefined && (typeof mapFrom !== 'string' || !parseClaimPath(mapFrom)))
    return "must have a path such as claims.name, claims['name'] or authenticationProvider.subjectId in mapFrom";
  if (defaultValue === null) return 'must not have a null defaultValue';
  const misvalued = rules.valueFault?.(name, defaultValue);
  if (misvalued) return misvalued;
  if (required !== undefined && typeof required !== 'boolean') return 'must have true or false in required';
  return display === undefined ? undefined : claimDisplayFault(display);
};

/** Faults of `claimMappings`. */
export const claimMappingFaults = (claimMappings: Record<string, unknown>, rules: ClaimRules): ErrorDetail[] => {
  const fault = (param: string, msg: string): ErrorDetail => ({ msg, param, location: 'body' });
  const mappings = Object.entries(claimMappings);
  if (mappings.length > MAX_CLAIM_MAPPINGS)
    return [fault('claimMappings', `must have at most ${MAX_CLAIM_MAPPINGS} entries`)];
  if (utf8Length(JSON.stringify(claimMappings)) > MAX_CLAIM_MAPPINGS_BYTES)
    return [fault('claimMappings', 'must be at most 64 KiB of JSON')];
  return mappings.flatMap(([name, mapping]) => {
    const msg = mappingFault(name, mapping, rules);
    return msg ? [fault(`claimMappings.${name}`, msg)] : [];
  });
};
