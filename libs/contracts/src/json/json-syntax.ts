const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERALS = ['true', 'false', 'null'];
const ESCAPE = /[^"\\/bfnrtu]/;

/** End of what the sticky pattern matches at the index. */
const endOf = (pattern: RegExp, text: string, at: number): number => {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
};

/** Index behind the string that begins at `at`, or the negative complement of the index of its fault. */
const stringEnd = (text: string, at: number): number => {
  for (let index = at + 1; index < text.length; index++) {
    const character = text[index]!;
    if (character === '"') return index + 1;
    if (character < ' ') return ~index;
    if (character !== '\\') continue;
    index++;
    if (index < text.length && ESCAPE.test(text[index]!)) return ~index;
    if (text[index] !== 'u') continue;
    for (let digits = 0; digits < 4; digits++)
      if (++index < text.length && !/[0-9A-Fa-f]/.test(text[index]!)) return ~index;
  }
  return ~text.length;
};

/** Result as from {@link stringEnd}, for a number or a literal. */
const scalarEnd = (text: string, at: number): number => {
  const literal = LITERALS.find((it) => it[0] === text[at]);
  if (literal === undefined) {
    const end = endOf(NUMBER, text, at);
    return end === at ? ~(text[at] === '-' ? at + 1 : at) : end;
  }
  for (let index = 0; index < literal.length; index++) if (text[at + index] !== literal[index]) return ~(at + index);
  return at + literal.length;
};

/**
 * Where a text stops being JSON (RFC 8259): the index of the first character that cannot be there, its length where it ends too early, or
 * undefined for JSON. Linear, and without recursion.
 */
export const jsonFaultIndex = (text: string): number | undefined => {
  /** Closing characters of the objects and arrays that are open. */
  const open: ('}' | ']')[] = [];
  let expected: 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end' = 'value';
  for (let at = endOf(SPACE, text, 0); ; at = endOf(SPACE, text, at)) {
    const character = text[at];
    const isDone = expected === 'comma or end' && open.length === 0;
    if (character === undefined) return isDone ? undefined : at;
    if (isDone) return at;
    if (character === open.at(-1) && expected.endsWith('end')) {
      open.pop();
      expected = 'comma or end';
      at++;
      continue;
    }
    if (expected === 'colon' || expected === 'comma or end') {
      if (character !== (expected === 'colon' ? ':' : ',')) return at;
      expected = expected === 'comma or end' && open.at(-1) === '}' ? 'name' : 'value';
      at++;
      continue;
    }
    const isName = expected.startsWith('name');
    if (!isName && (character === '{' || character === '[')) {
      open.push(character === '{' ? '}' : ']');
      expected = character === '{' ? 'name or end' : 'value or end';
      at++;
      continue;
    }
    if (isName && character !== '"') return at;
    const end = character === '"' ? stringEnd(text, at) : scalarEnd(text, at);
    if (end < 0) return Math.min(~end, text.length);
    at = end;
    expected = isName ? 'colon' : 'comma or end';
  }
};

/** The fault and its position, without a part of the text: `it ends too early, at line 1, column 5`. Of a text that `JSON.parse` refuses. */
export const jsonFaultPosition = (text: string): string => {
  const index = jsonFaultIndex(text) ?? text.length;
  if (index === text.length && endOf(SPACE, text, 0) === index) return 'it is empty';
  const before = text.slice(0, index);
  const line = before.split('\n').length;
  const position = `line ${line}, column ${index - before.lastIndexOf('\n')}`;
  if (index === text.length) return `it ends too early, at ${position}`;
  const character = text[index]!;
  const isAfterComma = (character === '}' || character === ']') && before.trimEnd().endsWith(',');
  return `${isAfterComma ? `a comma before ${character}` : 'unexpected character'} at ${position}`;
};
