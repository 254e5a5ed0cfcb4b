import canonicalize from 'canonicalize';
import { isObject } from '../protocol/raw-request.js';

/** A value that is compared as a whole. */
export interface SearchValue {
  /** Names that lead to it. */
  path: readonly string[];
  /** Canonical JSON (RFC 8785). */
  text: string;
}

/** The values of an object, outermost and first ones first; members of objects count one by one, arrays and empty objects as a whole. */
export const searchValues = (root: string, object: object, max: number): SearchValue[] => {
  const values: SearchValue[] = [];
  let level: [path: string[], value: unknown][] = Object.entries(object).map(([name, value]) => [[root, name], value]);
  while (level.length > 0) {
    const below: typeof level = [];
    for (const [path, value] of level) {
      const members = isObject(value) ? Object.entries(value) : [];
      if (members.length === 0) values.push({ path, text: textOf(value) });
      if (values.length === max) return values;
      for (const [name, member] of members) below.push([[...path, name], member]);
    }
    level = below;
  }
  return values;
};

/** Whether the object has the value at its path. */
export const hasValue = (object: unknown, { path, text }: SearchValue): boolean => {
  let value = object;
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return false;
    value = value[name];
  }
  return textOf(value) === text;
};

const textOf = (value: unknown): string =>
  // As RFC 8785 §3.2.2 serializes them.
  typeof value === 'object' && value !== null ? canonicalize(value)! : JSON.stringify(value);
