/** Characters of all names and texts, and values, of the claims of one credential: a claim of a user may be mapped to many. */
const MAX_CHARACTERS = 65_536;
const MAX_VALUES = 1000;
const MAX_DEPTH = 32;

/** Why claims are too large for one credential: `exceed …` or `nest …`, after "must not". */
export const claimsSizeFault = (claims: Readonly<Record<string, unknown>>): string | undefined => {
  let characters = 0;
  let values = 0;
  const faultOf = (value: unknown, depth: number): string | undefined => {
    if (++values > MAX_VALUES) return `exceed ${MAX_VALUES} values in total`;
    if (typeof value === 'string') characters += value.length;
    if (characters > MAX_CHARACTERS) return `exceed ${MAX_CHARACTERS} characters in total`;
    if (typeof value !== 'object' || value === null) return undefined;
    if (depth === MAX_DEPTH) return `nest deeper than ${MAX_DEPTH} levels`;
    const isArray = Array.isArray(value);
    for (const [name, member] of Object.entries(value)) {
      if (!isArray) characters += name.length;
      const fault = faultOf(member, depth + 1);
      if (fault) return fault;
    }
    return undefined;
  };
  return faultOf(claims, 0);
};
