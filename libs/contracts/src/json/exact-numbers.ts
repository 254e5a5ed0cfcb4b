/** Numbers that may have another decimal value than their double: 15 significant digits and two digits of exponent never do. */
const SUSPECT = /\d[\d.]{15}|\de[+-]?\d{3}/i;
const NUMBER = /-?\d[\d.eE+-]*/y;

/** Digits without zeros at either end, and the power of ten of the last one; zero has none. */
const decimalOf = (number: string): string => {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '';
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
};

/** Whether a JSON number has the decimal value of the shortest text of its double (ECMA-262 §6.1.6.1.20, RFC 8785 §3.2.2.3). */
export const isExactNumber = (number: string): boolean => {
  if (!SUSPECT.test(number)) return true;
  const double = Number(number);
  return Number.isFinite(double) && decimalOf(number) === decimalOf(String(double));
};

interface Level {
  /** Where the name of the current member begins in the text; undefined for the entries of an array. */
  name: number | undefined;
  isArray: boolean;
  entry: number;
}

/**
 * Paths of the numbers of a JSON text that would be signed with another value. The text is scanned for suspicious digits first, so that nearly
 * all texts cost one pass of a regular expression; nothing is parsed a second time.
 * @param text that `JSON.parse` accepts
 * @param most paths that are returned
 */
export const inexactNumbers = (text: string, most: number): string[][] => {
  if (!SUSPECT.test(text)) return [];
  const found: string[][] = [];
  const levels: Level[] = [];
  let nameExpected = false;
  for (let at = 0; at < text.length && found.length < most; at++) {
    const level = levels.at(-1);
    switch (text[at]) {
      case '"':
        if (nameExpected) level!.name = at;
        nameExpected = false;
        at = endOfText(text, at);
        break;
      case '{':
        levels.push({ name: undefined, isArray: false, entry: 0 });
        nameExpected = true;
        break;
      case '[':
        levels.push({ name: undefined, isArray: true, entry: 0 });
        nameExpected = false;
        break;
      case '}':
      case ']':
        levels.pop();
        nameExpected = false;
        break;
      case ',':
        level!.entry++;
        nameExpected = !level!.isArray;
        break;
      default: {
        const number = match(NUMBER, text, at);
        if (number === undefined) break;
        at += number.length - 1;
        if (!isExactNumber(number)) found.push(levels.map((one) => stepOf(text, one)));
      }
    }
  }
  return found;
};

const match = (pattern: RegExp, text: string, at: number): string | undefined => {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
};

/** Index of the closing quotation mark; without a regular expression, whose stack a long text would exhaust. */
const endOfText = (text: string, start: number): number => {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
};

const stepOf = (text: string, { name, isArray, entry }: Level): string =>
  isArray ? String(entry) : (JSON.parse(text.slice(name, endOfText(text, name!) + 1)) as string);
