import { invalidBody } from '@attestry/contracts';

/** Levels of objects and lists. */
export const MAX_DEPTH = 64;
/** Members and entries of all levels together: more than an offer with claims takes, which may have 20,000. */
export const MAX_VALUES = 25_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const [OPEN_LIST, CLOSE_LIST] = [0x5b, 0x5d];
const [OPEN_OBJECT, CLOSE_OBJECT] = [0x7b, 0x7d];

/** End of the text that begins before `from`; the runs of backslashes are disjoint, so that this is linear. */
const endOfText = (text: string, from: number): number => {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
};

/**
 * Bounds the work of `JSON.parse` and of every visitor of its result, in one pass and without creating a value (ADR 0041). Text that is no
 * JSON is left to the parser.
 * @throws AppError 400
 */
export const checkJsonText = (text: string): void => {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++)
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfText(text, at + 1);
        break;
      case OPEN_OBJECT:
      case OPEN_LIST:
        if (++depth > MAX_DEPTH) throw invalidBody('body', `must not nest deeper than ${MAX_DEPTH} levels`);
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        depth--;
        break;
      case COMMA:
        if (++values >= MAX_VALUES) throw invalidBody('body', `must have at most ${MAX_VALUES} members and entries`);
    }
};
