import { isUtf8 } from 'node:buffer';
import { invalid, type ErrorDetail } from '@attestry/contracts';

type Location = ErrorDetail['location'];

const MSG = 'must be valid UTF-8';
const MAX_NAME = 100;

const refusal = (param: string, location: Location, msg = MSG) => invalid({ msg, param, location });

/** RFC 3986 §2.1: a run of percent-encoded octets; between two of them are only whole characters. */
const RUN = /(?:%[0-9A-Fa-f]{2})+/g;
/** An octet that is not ASCII. */
const FOREIGN = /%[89A-Fa-f][0-9A-Fa-f]/;
const RAW = /[^\x00-\x7f]/;

const decodes = (text: string): boolean =>
  !FOREIGN.test(text) || (text.match(RUN) ?? []).every((run) => isUtf8(Buffer.from(run.replaceAll('%', ''), 'hex')));

/** `application/x-www-form-urlencoded` text, of a query or a body. @throws AppError 400 naming the member */
const checkMembers = (text: string, location: Location): void => {
  if (!FOREIGN.test(text)) return;
  for (const pair of text.split('&')) {
    if (decodes(pair)) continue;
    const name = pair.split('=', 1)[0]!;
    throw refusal(decodes(name) ? decodeName(name) : location, location);
  }
};

const decodeName = (name: string): string => {
  const text = name.replaceAll('+', ' ');
  try {
    return decodeURIComponent(text).slice(0, MAX_NAME);
  } catch {
    // A percent sign that encodes nothing.
    return text.slice(0, MAX_NAME);
  }
};

/**
 * The path of a request target is UTF-8 when it is decoded, and so are the raw octets in it.
 * @throws AppError 400
 */
export const checkPath = (path: string): void => {
  if (RAW.test(path)) throw refusal('path', 'params', 'must be percent-encoded');
  if (FOREIGN.test(path) && !decodes(path)) throw refusal('path', 'params');
};

/** @param query without the question mark @throws AppError 400 naming the member */
export const checkQuery = (query: string): void => {
  if (RAW.test(query)) throw refusal('query', 'query', 'must be percent-encoded');
  checkMembers(query, 'query');
};

/** The text of a body. Node would replace invalid UTF-8 by U+FFFD, and two bodies would become one text. @throws AppError 400 */
export const decodeBody = (raw: Buffer | undefined, mediaType: string): string => {
  if (!raw?.length) return '';
  if (!isUtf8(raw)) throw refusal('body', 'body');
  const text = raw.toString('utf8');
  if (mediaType === 'application/x-www-form-urlencoded') checkMembers(text, 'body');
  return text;
};
