/**
 * The value as JSON has it, frozen, so that neither side of a call can change what the other one holds: itself where it is plain data,
 * otherwise a copy made with JSON. An object that is frozen already counts as frozen in depth, so that data is visited once.
 * @throws TypeError for what JSON cannot express
 */
export const frozenData = <T>(value: T): T => {
  if (value === undefined || freezePlain(value)) return value;
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? (undefined as T) : freezeDeep(JSON.parse(text) as T);
};

/** Freezes what JSON would leave as it is; false for everything else, which stays as it was. */
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
