/**
 * The value as JSON represents it, frozen, so that neither side of a call can change the other's data: itself if it is plain data,
 * otherwise a copy by JSON. A frozen object counts as deeply frozen, so that data is visited once.
 * @throws TypeError for what JSON cannot express
 */
export const frozenData = <T>(value: T): T => {
  if (value === undefined || freezePlain(value)) return value;
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? (undefined as T) : freezeDeep(JSON.parse(text) as T);
};

/** Freezes what JSON would keep unchanged; false for everything else, which is left unchanged. */
const freezePlain = (value: unknown): boolean => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0);
    case 'object':
      break;
    default:
      return false;
  }
  if (value === null || Object.isFrozen(value)) return true;
  if (Array.isArray(value)) {
    for (const entry of value) if (!freezePlain(entry)) return false;
  } else {
    if (Object.getPrototypeOf(value) !== Object.prototype) return false;
    for (const name of Object.keys(value)) if (!freezePlain((value as Record<string, unknown>)[name])) return false;
  }
  Object.freeze(value);
  return true;
};

/** Freezes arrays and objects of any class, down to those that are frozen already. */
export const freezeDeep = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const name of Object.keys(value)) freezeDeep((value as Record<string, unknown>)[name]);
  return Object.freeze(value);
};
