import { isObject } from '../../reading/raw-request/raw-request.js';

/** A value that is compared as a whole. */
export interface SearchValue {
  /** Names that lead to it. */
  path: readonly string[];
  /** JSON, the names of its objects sorted. */
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

/** One text for equal values. RFC 8785 has none for ill-formed Unicode, which claims of a provider or of an interaction hook may contain. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_name, member: unknown) => (isObject(member) ? sorted(member) : member));

const sorted = (object: object) =>
  Object.fromEntries(Object.entries(object).sort(([one], [other]) => (one < other ? -1 : 1)));
