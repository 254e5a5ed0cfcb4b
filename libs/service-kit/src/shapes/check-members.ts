// The compiled form of a DTO class, and what reads and checks a part of a request with it (ADR 0040).
import { MAX_DETAILS, REFUSED_NAME, shownPath, type DtoClass, type ErrorDetail } from '@attestry/contracts';

/** The message of the fault, if there is one. */
export type Check = (value: unknown, object: object) => string | undefined;

/** A {@link Check} that also returns the path of what is too large within the value. */
export type Maximum = (value: unknown, object: object) => { msg: string; path: readonly string[] } | undefined;

export interface CompiledMember {
  name: string;
  normalize: ((value: unknown) => unknown) | undefined;
  /** Message of a request without it. */
  missing: string;
  /** Where one of them is false the member is not checked. */
  conditions: readonly ((object: object, value: unknown) => boolean)[];
  /** Maxima of arrays, maps and texts; checked before any other rule visits the value. */
  maxima: readonly Maximum[];
  rules: readonly Check[];
  /** The value is any JSON: it is copied. */
  open: boolean;
  nested: CompiledShape | undefined;
  /** Most entries, where the value is an array of {@link nested}. */
  listMax: number | undefined;
}

/** A DTO class as functions, in the order in which class-validator checks its declarations. */
export interface CompiledShape {
  type: DtoClass<object>;
  /** Names of the members. */
  names: ReadonlySet<string>;
  members: readonly CompiledMember[];
}

/** Longest rejected value that is echoed, as JSON. */
const MAX_ECHO = 200;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An instance with the declared members; no other member of the source is visited. */
export const readMembers = ({ type, members }: CompiledShape, source: object): object => {
  const instance = new type() as Record<string, unknown>;
  for (const { name, normalize, nested, listMax } of members) {
    if (!Object.hasOwn(source, name)) continue;
    const given: unknown = (source as Record<string, unknown>)[name];
    // A list is read entry by entry, unless it is refused as a whole.
    const isList = listMax !== undefined && Array.isArray(given) && given.length <= listMax && given.every(isRecord);
    const value =
      nested && isList
        ? given.map((entry) => readMembers(nested, entry))
        : nested && listMax === undefined && isRecord(given)
          ? readMembers(nested, given)
          : given;
    instance[name] = normalize ? normalize(value) : value;
  }
  return instance;
};

/** Collects the faults of one part of a request. */
export interface Faults {
  details: ErrorDetail[];
  location: ErrorDetail['location'];
  /** Members of the part whose values are not echoed. */
  secrets: readonly string[];
}

/** Checks the members of an instance, at most one fault each, those of nested objects after their own. */
export const checkMembers = ({ members }: CompiledShape, instance: object, faults: Faults, path = ''): void => {
  const values = instance as Record<string, unknown>;
  for (const member of members) {
    if (faults.details.length >= MAX_DETAILS) return;
    let value = values[member.name];
    if (!member.conditions.every((holds) => holds(instance, value))) continue;
    const param = path ? `${path}.${member.name}` : member.name;
    const excess = firstFault(member.maxima, value, instance);
    let msg = excess?.msg;
    if (msg === undefined) {
      if (member.open && typeof value === 'object') values[member.name] = value = plainCopy(value);
      msg = firstFault(member.rules, value, instance);
    }
    if (msg !== undefined) {
      const hidden = faults.secrets.includes(param.split('.', 1)[0]!);
      faults.details.push({
        ...(hidden || excess?.path.length ? {} : echo(value)),
        msg: value === undefined ? member.missing : msg,
        param: excess ? shownPath([param, ...excess.path]) : param,
        location: faults.location,
      });
    } else if (member.nested && member.listMax !== undefined)
      for (const [index, entry] of (value as object[]).entries())
        checkMembers(member.nested, entry, faults, `${param}.${index}`);
    else if (member.nested) checkMembers(member.nested, value as object, faults, param);
  }
};

const firstFault = <T>(
  checks: readonly ((value: unknown, object: object) => T | undefined)[],
  value: unknown,
  object: object,
): T | undefined => {
  for (const check of checks) {
    const fault = check(value, object);
    if (fault !== undefined) return fault;
  }
  return undefined;
};

/** Plain data, without members named `__proto__`. The value is within its bounds, so that recursion is too. */
export const plainCopy = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plainCopy);
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value))
    if (name !== REFUSED_NAME) copy[name] = plainCopy((value as Record<string, unknown>)[name]);
  return copy;
};

/** The rejected value, unless it is long; only the echoed part is visited. */
const echo = (value: unknown): { value?: unknown } => {
  if (value === undefined || leastLength(value, MAX_ECHO) > MAX_ECHO) return {};
  const shown = plainCopy(value);
  const text = typeof shown === 'string' ? shown : JSON.stringify(shown);
  return text !== undefined && text.length <= MAX_ECHO ? { value: shown } : {};
};

/** A length that the value has as JSON at least, counted up to `most`. */
const leastLength = (value: unknown, most: number): number => {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  let length = 2;
  if (Array.isArray(value)) {
    for (const entry of value as unknown[]) {
      if (length > most) break;
      length += leastLength(entry, most - length);
    }
    return length;
  }
  for (const name of Object.keys(value)) {
    if (length > most) break;
    if (name === REFUSED_NAME) continue;
    length += name.length + 3 + leastLength((value as Record<string, unknown>)[name], most - length);
  }
  return length;
};
