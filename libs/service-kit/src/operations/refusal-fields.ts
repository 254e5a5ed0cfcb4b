import type { AppError, OperationRequest } from '@attestry/contracts';

/** Most characters of a reason and of the path of a member in a log line. */
const MAX_SHOWN = 300;
/** Most characters that are compared with the request. */
const MAX_READ = 2000;
/** Shortest value that is looked for in a reason: shorter ones are parts of words. */
const MIN_VALUE = 3;
const HIDDEN = '***';

/** Longest beginning of a value whose parts are looked for too. */
const MAX_SPLIT = 4096;
/** Between the parts of an address, an e-mail or a list. */
const SEPARATOR = /[\s/:?#&=,;"'<>()[\]{}]+/;
/** Hosts, mail addresses and ids; words of a sentence are in reasons too. */
const tellingPartsOf = (text: string): string[] =>
  text
    .slice(0, MAX_SPLIT)
    .split(SEPARATOR)
    .flatMap((part) => [part, ...part.split('@')])
    .filter((part) => /[\d.@_]/.test(part));

/** Values that requests choose from, and that reasons list: they show nothing of a request, and without them a reason cannot be read. */
const OWN_VALUES: ReadonlySet<string> = new Set([
  ...['code', 'none', 'plain', 'S256', 'query', 'true', 'false', 'null', 'web', 'ion', 'jwk', 'jwt', 'did'],
  ...[
    'authorization_code',
    'refresh_token',
    'client_credentials',
    'openid_credential',
    'attestation',
    'Bearer',
    'DPoP',
  ],
  ...['urn:ietf:params:oauth:grant-type:pre-authorized_code', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'],
  ...['numeric', 'text', 'manual', 'host', 'domain'],
  ...['string', 'number', 'boolean', 'date', 'dateTime', 'binary', 'object', 'array', 'application/json'],
]);

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Most characters of a request, and most texts and numbers in it, that are compared with a reason. */
const MAX_COMPARED = 64 * 1024;
const MAX_VALUES = 4000;
/** A request holds a token, which holds a text of JSON. What is encoded more often is compared as it is. */
const MAX_LEVELS = 3;

/** Values in an encoded text, and whether they are all: names of members of JSON and of a form are no values. */
const heldBy = (text: string, level: number): { held: unknown[]; isAll: boolean } => {
  if (level >= MAX_LEVELS) return { held: [], isAll: false };
  if (/^\s*[[{]/.test(text)) {
    const value = parsed(text);
    return { held: [value], isAll: value !== undefined };
  }
  const [, header, payload] = /^([\w-]+)\.([\w-]+)\./.exec(text) ?? [];
  if (payload !== undefined) {
    const held = [header!, payload].map((part) => parsed(Buffer.from(part, 'base64url').toString('utf8')));
    return { held, isAll: false };
  }
  // Only the request itself is a form: a value with equals signs is compared as it is.
  if (level > 0 || !text.includes('=')) return { held: [], isAll: false };
  return { held: [...new URLSearchParams(text).values()], isAll: true };
};

/**
 * Texts and numbers of a request that its reason has, longest first. A value is compared with the reason, not stored: most are longer than it.
 * @returns undefined where the request is too large for that
 */
const valuesIn = (reason: string, request: unknown, encoded: readonly string[]): string[] | undefined => {
  const found = new Set<string>();
  const below: [value: unknown, level: number][] = [[request, 1]];
  for (const text of encoded) below.push([text, 0]);
  let [values, characters] = [0, 0];
  while (below.length > 0) {
    const [value, level] = below.pop()!;
    if (isContainer(value)) {
      const entries = Object.values(value);
      if (below.length + entries.length > MAX_VALUES) return undefined;
      for (const entry of entries) below.push([entry, level]);
      continue;
    }
    if (typeof value !== 'string' && typeof value !== 'number') continue;
    const text = String(value).trim();
    const { held, isAll } = typeof value === 'string' ? heldBy(text, level) : { held: [], isAll: false };
    // A text that holds others is read once, of a long one only the beginning is split.
    characters += held.length > 0 ? text.length / 8 : Math.min(text.length, MAX_SPLIT);
    if (++values > MAX_VALUES || characters > MAX_COMPARED) return undefined;
    if (below.length + held.length > MAX_VALUES) return undefined;
    for (const one of held) below.push([one, level + 1]);
    if (isAll) continue;
    for (const part of [text, ...tellingPartsOf(text)])
      if (part.length >= MIN_VALUE && !OWN_VALUES.has(part) && part.length <= reason.length && reason.includes(part))
        found.add(part);
  }
  return [...found].sort((a, b) => b.length - a.length);
};

const WORD = '[\\p{L}\\p{N}_]';

/** Where it is a word or words: a part of a longer name, such as `code` in `code_challenge`, is none of the request. */
const wholeWords = (value: string): RegExp => {
  const text = value.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const isWord = (at: number) => new RegExp(WORD, 'u').test(value.at(at)!);
  return new RegExp(`${isWord(0) ? `(?<!${WORD})` : ''}${text}${isWord(-1) ? `(?!${WORD})` : ''}`, 'gu');
};

const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length).toWellFormed()}…` : text;

/** Without values of the request; undefined where it is too large to look for them. */
const shown = (whole: string, request: Partial<OperationRequest> | undefined): string | undefined => {
  // More than is shown, so that no value is cut before it is found.
  const text = cut(whole, MAX_READ);
  const { raw, ...parts } = request ?? {};
  const encoded = raw ? [raw.text, raw.url.slice(raw.url.indexOf('?') + 1)] : [];
  const values = valuesIn(text, raw ? { ...parts, headers: raw.headers, url: raw.url } : parts, encoded);
  return (
    values &&
    cut(
      values.reduce((rest, value) => rest.replace(wholeWords(value), HIDDEN), text),
      MAX_SHOWN,
    )
  );
};

/**
 * Fields of a log line about a refusal: the member and the reason of its first fault, and how many more there are. A message may repeat a part
 * of the request to its caller; in the log every value of the request is replaced, whoever wrote the message. Of details only `param` and
 * `msg` are read, never `value`.
 * @param request as it was sent: its members, not its values, may be named. Where it is not known, or too large to be compared, there is no
 *   reason
 */
export const refusalFields = (
  { code, check, claim, message, details }: AppError,
  request: Partial<OperationRequest> | undefined,
): Record<string, unknown> => {
  const [first, ...more] = details ?? [];
  const member = first && shown(first.param, request);
  const reason = request && shown(first?.msg ?? message, request);
  return {
    code,
    ...(check !== undefined && { check }),
    ...(claim !== undefined && { claim }),
    ...(member !== undefined && { member }),
    ...(reason !== undefined && { reason }),
    ...(more.length > 0 && { furtherFaults: more.length }),
  };
};
