/** Optional white space, `;` or `,` before a parameter or link. */
const SPACE = /[ \t]*/y;
const TARGET = /<([^>]*)>/y;
const PARAMETER = /;[ \t]*([^ \t=;,"<>]+)[ \t]*(?:=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^ \t;,"]*)))?/y;

const match = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at;
  return pattern.exec(text);
};

/** Target of the first link with `rel="alternate"` and this media type in the `Link` header, as it is written there (RFC 8288 §3). */
export const alternateOf = (header: string | undefined, type: string): string | undefined => {
  if (header === undefined) return undefined;
  let at = 0;
  const skip = (): void => void (at += match(SPACE, header, at)![0].length);
  while (at < header.length) {
    skip();
    // Empty elements of a list are allowed (RFC 9110 §5.6.1).
    if (header[at] === ',') {
      at++;
      continue;
    }
    const target = match(TARGET, header, at);
    if (!target) return undefined;
    at += target[0].length;
    const parameters = new Map<string, string>();
    for (;;) {
      skip();
      const parameter = match(PARAMETER, header, at);
      if (!parameter) break;
      at += parameter[0].length;
      const [, name, quoted, plain = ''] = parameter;
      // The first of a name counts (RFC 8288 §3.3).
      const key = name!.toLowerCase();
      if (!parameters.has(key)) parameters.set(key, quoted?.replace(/\\(.)/g, '$1') ?? plain);
    }
    const relations = (parameters.get('rel') ?? '').toLowerCase().split(/[ \t]+/);
    if (relations.includes('alternate') && (parameters.get('type') ?? '').toLowerCase() === type) return target[1];
    // Only a comma separates links; anything else is malformed.
    if (at < header.length && header[at] !== ',') return undefined;
  }
  return undefined;
};
