/** Bounds of a JSON value whose members are not declared. */
export interface JsonBounds {
  /** Members of the object, or entries of the array, that the value is. */
  entries: number;
  /** Characters of a member's name, at any depth. */
  name: number;
  /** Characters of a text, at any depth. */
  text: number;
  /** Levels of objects and arrays, the value itself included. */
  depth: number;
  /** Members and entries of all levels together. */
  values: number;
}

export const DEFAULT_BOUNDS: JsonBounds = { entries: 100, name: 1024, text: 4096, depth: 32, values: 1000 };

/** The one name that is refused as that of a member: assigning to it would change what an object is. Every other name is data. */
export const REFUSED_NAME = '__proto__';

/** The first bound that the value exceeds; without recursion, because the depth itself may exceed the stack. */
export const jsonFault = (value: unknown, bounds: JsonBounds): string | undefined => {
  let values = 0;
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    const below: unknown[] = [];
    for (const item of level) {
      if (typeof item === 'string' && item.length > bounds.text)
        return `must have strings of at most ${bounds.text} characters`;
      if (typeof item !== 'object' || item === null) continue;
      if (depth === bounds.depth) return `must not nest deeper than ${bounds.depth} levels`;
      const names = Array.isArray(item) ? undefined : Object.keys(item);
      const size = names?.length ?? (item as unknown[]).length;
      if (depth === 0 && size > bounds.entries) return `must have at most ${bounds.entries} entries`;
      values += size;
      if (values > bounds.values) return `must have at most ${bounds.values} values in total`;
      if (names) {
        for (const name of names) {
          if (name === REFUSED_NAME) return `must not have a member named ${REFUSED_NAME}`;
          if (name.length > bounds.name) return `must have names of at most ${bounds.name} characters`;
          below.push((item as Record<string, unknown>)[name]);
        }
      } else for (const entry of item as unknown[]) below.push(entry);
    }
    level = below;
  }
  return undefined;
};

/** A value within another one, with the names and places that lead to it. */
interface Located {
  item: unknown;
  within?: Located;
  step?: string;
}

const pathOf = (located: Located): string[] => (located.within ? [...pathOf(located.within), located.step!] : []);

/** Most characters of a path that an error shows. */
const MAX_PATH = 1024;

/** Names and places joined by dots, as errors show them. */
export const shownPath = (steps: readonly string[]): string => steps.join('.').slice(0, MAX_PATH).toWellFormed();

/**
 * Result of {@link jsonFault}, with the path of the value that exceeds the bound. A value is searched a second time only when it is
 * refused.
 */
export const locatedJsonFault = (value: unknown, bounds: JsonBounds): { path: string[]; msg: string } | undefined => {
  const msg = jsonFault(value, bounds);
  if (msg === undefined) return undefined;
  let level: Located[] = [{ item: value }];
  for (let depth = 0; level.length > 0; depth++) {
    const below: Located[] = [];
    for (const within of level) {
      const { item } = within;
      if (typeof item === 'string' && item.length > bounds.text)
        return { path: pathOf(within), msg: `must have at most ${bounds.text} characters` };
      if (typeof item !== 'object' || item === null) continue;
      const names = Object.keys(item);
      const isMisnamed =
        !Array.isArray(item) && names.some((name) => name.length > bounds.name || name === REFUSED_NAME);
      if (depth === bounds.depth || isMisnamed) return { path: pathOf(within), msg };
      // Bounds of the value as a whole.
      if ((depth === 0 && names.length > bounds.entries) || below.length + names.length > bounds.values)
        return { path: [], msg };
      for (const step of names) below.push({ item: (item as Record<string, unknown>)[step], within, step });
    }
    level = below;
  }
  return { path: [], msg };
};
