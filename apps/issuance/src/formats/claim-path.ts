interface Step {
  name: string;
  isQuoted: boolean;
  /** Where it begins in the text. */
  at: number;
}

const stepsOf = (text: string): { root: string; steps: Step[] } | undefined => {
  const root = /^(?:claims|authenticationProvider)/.exec(text)?.[0];
  if (!root || text.length > 1024) return undefined;
  const steps: Step[] = [];
  const step = /\.([^\s.[\]'"\\]+)|\['((?:[^'\\]|\\['\\])+)'\]|\["((?:[^"\\]|\\["\\])+)"\]/y;
  step.lastIndex = root.length;
  while (step.lastIndex < text.length) {
    const at = step.lastIndex;
    const found = step.exec(text);
    if (!found) return undefined;
    const quoted = found[2] ?? found[3];
    steps.push({ name: found[1] ?? quoted!.replace(/\\(.)/g, '$1'), isQuoted: quoted !== undefined, at });
  }
  return steps.length ? { root, steps } : undefined;
};

/**
 * `mapFrom` of a claim mapping as names from the root of the user object, or `undefined` when the syntax is wrong:
 * `claims.address.formatted`, `claims['https://example.com/x']`, `authenticationProvider.url|subjectId`. Inside quotes a
 * quote and a backslash are escaped by a backslash.
 */
export const parseClaimPath = (text: string): string[] | undefined => {
  const parsed = stepsOf(text);
  if (!parsed) return undefined;
  const names = parsed.steps.map(({ name }) => name);
  if (parsed.root === 'authenticationProvider' && !(names.length === 1 && ['url', 'subjectId'].includes(names[0]!)))
    return undefined;
  return [parsed.root, ...names];
};

/** Longest path that a message repeats. */
const MAX_SHOWN = 200;
const shown = (path: string): string =>
  path.length > MAX_SHOWN ? `${path.slice(0, MAX_SHOWN).toWellFormed()}…` : path;

const isAddress = (name: string): boolean => name.includes('://') || /^urn:/i.test(name);
/** The host of an address has no end in the name, or the next step has what only an address has. */
const isSplit = (name: string, next: string): boolean =>
  isAddress(name) && (!/:\/\/[^/?#]+[/?#]/.test(name) || /[/:?#]/.test(next));

/**
 * Why a path with the right syntax can never have a value, with the path that can: a name with dots that is not quoted, and an element of
 * a list.
 */
export const unmatchedPath = (text: string): string | undefined => {
  const parsed = stepsOf(text);
  if (!parsed) {
    const list = text.length > 1024 ? undefined : /^(claims\S+?)\.?\[(?:\d+|\*)\]/.exec(text)?.[1];
    return list === undefined ? undefined : listFault(list);
  }
  const { steps } = parsed;
  for (const [position, { name, isQuoted, at }] of steps.entries()) {
    const next = steps[position + 1];
    if (!isQuoted && next && !next.isQuoted && isSplit(name, next.name)) {
      const end = steps.slice(position).find((step) => step.isQuoted)?.at ?? text.length;
      const path = `${text.slice(0, at)}['${text.slice(at + 1, end)}']${text.slice(end)}`;
      return `must have ${shown(path)} in mapFrom: a name with dots is quoted`;
    }
    if (!isQuoted && position > 0 && /^(?:\d+|\*)$/.test(name)) return listFault(text.slice(0, at), name);
  }
  return undefined;
};

const listFault = (list: string, name?: string): string =>
  `must have ${shown(list)} in mapFrom, for the whole list, as lists have no index${
    name === undefined || name === '*'
      ? ''
      : `; a member of an object that is called ${name.slice(0, 20)} is ['${name.slice(0, 20)}']`
  }`;
