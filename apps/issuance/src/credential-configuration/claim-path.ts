/**
 * `mapFrom` of a claim mapping as names from the root of the user object, or `undefined` when the syntax is wrong:
 * `claims.address.formatted`, `claims['https://example.com/x']`, `authenticationProvider.url|subjectId`. Inside quotes a
 * quote and a backslash are escaped by a backslash.
 */
export const parseClaimPath = (text: string): string[] | undefined => {
  const root = /^(?:claims|authenticationProvider)/.exec(text)?.[0];
  if (!root || text.length > 1024) return undefined;
  const names: string[] = [];
  const step = /\.([^\s.[\]'"\\]+)|\['((?:[^'\\]|\\['\\])+)'\]|\["((?:[^"\\]|\\["\\])+)"\]/y;
  step.lastIndex = root.length;
  while (step.lastIndex < text.length) {
    const found = step.exec(text);
    if (!found) return undefined;
    names.push(found[1] ?? (found[2] ?? found[3])!.replace(/\\(.)/g, '$1'));
  }
  if (!names.length) return undefined;
  if (root === 'authenticationProvider' && !(names.length === 1 && ['url', 'subjectId'].includes(names[0]!)))
    return undefined;
  return [root, ...names];
};
