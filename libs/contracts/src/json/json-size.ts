export interface JsonLimits {
  /** Most values: objects, arrays and scalars, the outermost included. */
  values: number;
  /** Most levels; a scalar has one. */
  depth: number;
}

export interface JsonSize {
  values: number;
  depth: number;
  /** The first limit found exceeded; counting ends there. */
  exceeds?: keyof JsonLimits;
}

/**
 * Counts what is in a JSON value without recursion: a value nested thousands deep would exhaust the stack of any function that
 * calls itself for each level. A member that occurs at several places counts at each.
 */
export const jsonSize = (value: unknown, limits: JsonLimits): JsonSize => {
  const size: JsonSize = { values: 0, depth: 0 };
  let level: unknown[] = [value];
  while (level.length) {
    size.depth++;
    size.values += level.length;
    if (size.depth > limits.depth) return { ...size, exceeds: 'depth' };
    if (size.values > limits.values) return { ...size, exceeds: 'values' };
    const next: unknown[] = [];
    for (const entry of level) {
      if (typeof entry !== 'object' || entry === null) continue;
      for (const inner of Object.values(entry)) next.push(inner);
      if (size.values + next.length > limits.values)
        return { ...size, values: size.values + next.length, exceeds: 'values' };
    }
    level = next;
  }
  return size;
};
