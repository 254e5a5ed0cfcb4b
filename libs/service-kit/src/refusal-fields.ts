import type { AppError, OperationRequest } from '@attestry/contracts';

/** Most characters of a reason and of the path of a member in a log line. */
const MAX_SHOWN = 300;
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

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** What a text holds when it is encoded: JSON, a form, or the payload of a JWT. */
const heldBy = (text: string): unknown[] => {
  if (/^\s*[[{]/.test(text)) return [parsed(text)];
  const [, header, payload] = /^([\w-]+)\.([\w-]+)\./.exec(text) ?? [];
  if (payload !== undefined)
    return [header!, payload].map((part) => parsed(Buffer.from(part, 'base64url').toString('utf8')));
  return text.includes('=') ? [...new URLSearchParams(text).values()] : [];
};

/**
 * Texts and numbers of a request that its reason has, longest first. A value is compared with the reason, not stored: most are longer than it.
 */
const valuesIn = (reason: string, request: unknown): string[] => {
  const found = new Set<string>();
  const below: unknown[] = [request];
  while (below.length > 0) {
    const value = below.pop();
    if (isContainer(value)) {
      for (const entry of Object.values(value)) below.push(entry);
      continue;
    }
    if (typeof value === 'string') for (const held of heldBy(value)) below.push(held);
    else if (typeof value !== 'number') continue;
    const text = String(value).trim();
    for (const part of [text, ...tellingPartsOf(text)])
      if (part.length >= MIN_VALUE && part.length <= reason.length && reason.includes(part)) found.add(part);
  }
  return [...found].sort((a, b) => b.length - a.length);
};

const shown = (text: string, request: unknown): string => {
  const hidden = valuesIn(text, request).reduce((rest, value) => rest.replaceAll(value, HIDDEN), text);
  return hidden.length > MAX_SHOWN ? `${hidden.slice(0, MAX_SHOWN).toWellFormed()}…` : hidden;
};

/**
 * Fields of a log line about a refusal: the member and the reason of its first fault, and how many more there are. A message may repeat a part
 * of the request to its caller; in the log every value of the request is replaced, whoever wrote the message. Of details only `param` and
 * `msg` are read, never `value`.
 * @param request as it was sent: its members, not its values, may be named. Where it is not known there is no reason
 */
export const refusalFields = (
  { code, check, claim, message, details }: AppError,
  request: Partial<OperationRequest> | undefined,
): Record<string, unknown> => {
  const [first, ...more] = details ?? [];
  return {
    code,
    ...(check !== undefined && { check }),
    ...(claim !== undefined && { claim }),
    ...(first && { member: shown(first.param, request) }),
    ...(request && { reason: shown(first?.msg ?? message, request) }),
    ...(more.length > 0 && { furtherFaults: more.length }),
  };
};
