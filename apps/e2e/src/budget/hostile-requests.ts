import { rulesOf, type JsonSchema, type Operation } from '@attestry/contracts';
import type { OperationParts } from '@attestry/testing';
import { shapeOf, type Member, type MemberPath } from './request-shapes.js';

/** The parts in which a hostile request differs from a valid one. */
export interface HostileParts {
  path?: string;
  params?: Record<string, string>;
  /** Text behind the question mark. */
  query?: string;
  headers?: Record<string, string>;
  body?: { mediaType: string; text: string };
}

/** A family of requests of any size. */
export interface Hostile {
  name: string;
  /** Input for measuring the time of the main thread. */
  size: number;
  /** Input for counting its work, once and fourfold; absent where only native code depends on the size. */
  part?: number;
  of(right: OperationParts, size: number): HostileParts;
}

const ENTRIES = 50_000;
const DEPTH = 5000;
const MEBIBYTE = 1_048_576;
/** Largest body: 1 MiB, less the members around the hostile part. */
const MAX_TEXT = MEBIBYTE - 16_384;
/** Node accepts 16 KiB of headers, including the request line. */
const LINE = 12_000;
const LINE_MEMBERS = 1_400;
/** An XML body holds at most 32 KiB; beyond that it is refused by its length. */
const XML_TEXT = 31_000;
const PART = 1000;

const JSON_TYPE = 'application/json';
const FORM = 'application/x-www-form-urlencoded';
const XML = 'application/xml';

/** Parts up to the requested number, limited to those that fit. */
const upTo = (count: number, most: number, one: (index: number) => string, separator: string): string => {
  const parts: string[] = [];
  for (let index = 0, length = 0; index < count; index++) {
    const part = one(index);
    length += part.length + separator.length;
    if (length > most) break;
    parts.push(part);
  }
  return parts.join(separator);
};
const filled = (pattern: string, length: number): string =>
  pattern.repeat(Math.ceil(length / pattern.length)).slice(0, length);

type Text = (size: number) => string;
/** Built once for each size: many operations are sent the same text of a mebibyte. */
const builtOnce = (of: Text): Text => {
  const built = new Map<number, string>();
  return (size) => {
    const text = built.get(size) ?? of(size);
    built.set(size, text);
    return text;
  };
};
const members = builtOnce((size) => upTo(size, MAX_TEXT, (index) => `"x${index}":1`, ','));
const nestedLists: Text = (size) => '['.repeat(size) + ']'.repeat(size);
const nestedObjects: Text = (size) => `${'{"a":'.repeat(size)}1${'}'.repeat(size)}`;
const listOf = (one: (index: number) => unknown): Text =>
  builtOnce((size) => `[${upTo(size, MAX_TEXT, (index) => JSON.stringify(one(index)), ',')}]`);
const uuid = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;

const strings = listOf((index) => `e${index}`);
const uuids = listOf(uuid);
const objects = listOf(() => ({ x: 1 }));
const numbers = listOf((index) => index);

/** Texts that a pattern may take long over. */
const STRINGS = ['a', ' ', '.', 'a.', 'a@a.', '%', 'https://a/', 'eyJ9.', 'did:web:a:'];
const quoted = new Map(STRINGS.map((pattern) => [pattern, builtOnce((size) => JSON.stringify(filled(pattern, size)))]));

/** Entries that differ, and entries as they are declared. */
const lists = ({ type, enum: words, format }: JsonSchema): [string, Text][] => [
  ['strings', strings],
  ...(words ? [['declared words', listOf((index) => words[index % words.length])] as [string, Text]] : []),
  ...(format === 'uuid' ? [['UUIDs', uuids] as [string, Text]] : []),
  ...(type === 'object' || type === undefined ? [['objects', objects] as [string, Text]] : []),
];

/** Placeholder in the JSON text for content that JSON.stringify cannot write as intended. */
const MARK = '\u0001hostile\u0001';
const MARKED = JSON.stringify(MARK);

const at = (container: unknown, [step, ...rest]: MemberPath, value: unknown): unknown => {
  if (step === undefined) return value;
  if (step === 0) {
    const [first, ...others] = Array.isArray(container) ? (container as unknown[]) : [];
    return [at(first, rest, value), ...others];
  }
  const known = typeof container === 'object' && container !== null && !Array.isArray(container) ? container : {};
  return { ...known, [step]: at((known as Record<string, unknown>)[step], rest, value) };
};
const read = (container: unknown, path: MemberPath): unknown =>
  path.reduce<unknown>((value, step) => (value as Record<string | number, unknown> | undefined)?.[step], container);

const jsonOf = ({ body }: OperationParts): unknown =>
  body === undefined || typeof body === 'string' || body instanceof URLSearchParams ? {} : body;
const json = (text: string): HostileParts => ({ body: { mediaType: JSON_TYPE, text } });
/** The right body with a text of our own at a place in it. */
const jsonWith = (right: OperationParts, path: MemberPath, text: string): HostileParts =>
  json(JSON.stringify(at(jsonOf(right), path, MARK)).replace(MARKED, () => text));
/** The right body with further members at a place in it. */
const jsonWithMembers = (right: OperationParts, path: MemberPath, text: string): HostileParts => {
  const known = read(jsonOf(right), path);
  const own = typeof known === 'object' && known !== null && !Array.isArray(known) ? known : {};
  const whole = JSON.stringify(at(jsonOf(right), path, { ...own, [MARK]: 1 }));
  return json(whole.replace(`${MARKED}:1`, () => text || '"x":1'));
};

const nameOf = (path: MemberPath) => path.join('.') || 'the body';
const hostile = (name: string, size: number, part: number | undefined, of: Hostile['of']): Hostile => ({
  name,
  size,
  ...(part !== undefined && { part }),
  of,
});
/** One text is enough to count work by. */
const partOf = (pattern: string) => (pattern === 'a' ? PART : undefined);

const jsonMember = ({ path, kind, items }: Member): Hostile[] => {
  const place = nameOf(path);
  const nested = [
    hostile(`${place}: nested lists`, DEPTH, PART, (right, size) => jsonWith(right, path, nestedLists(size))),
    hostile(`${place}: nested objects`, DEPTH, PART, (right, size) => jsonWith(right, path, nestedObjects(size))),
  ];
  const more = hostile(`${place}: more members`, ENTRIES, PART, (right, size) =>
    jsonWithMembers(right, path, members(size)),
  );
  switch (kind) {
    case 'object':
      return [more];
    case 'open':
      return [more, ...nested, ...jsonList(path, {})];
    case 'array':
      return [...nested, ...jsonList(path, items ?? {})];
    case 'string':
      return STRINGS.map((pattern) =>
        hostile(`${place}: long text of ${pattern}`, MAX_TEXT, partOf(pattern), (right, size) =>
          jsonWith(right, path, quoted.get(pattern)!(size)),
        ),
      );
  }
};
const jsonList = (path: MemberPath, items: JsonSchema): Hostile[] =>
  lists(items).map(([what, text]) =>
    hostile(`${nameOf(path)}: list of ${what}`, ENTRIES, PART, (right, size) => jsonWith(right, path, text(size))),
  );

/** Bodies of any JSON operation, whatever its members. */
const anyJson: Hostile[] = [
  hostile('unknown members', ENTRIES, PART, (right, size) => jsonWithMembers(right, [], members(size))),
  hostile('an unknown list', ENTRIES, PART, (right, size) => jsonWith(right, ['x'], strings(size))),
  hostile('unknown nested lists', DEPTH, PART, (right, size) => jsonWith(right, ['x'], nestedLists(size))),
  hostile('unknown nested objects', DEPTH, PART, (right, size) => jsonWith(right, ['x'], nestedObjects(size))),
  hostile('an unknown text', MAX_TEXT, PART, (right, size) => jsonWith(right, ['x'], `"${filled('a', size)}"`)),
  hostile('unknown members and a name of the prototype', ENTRIES, PART, (right, size) =>
    jsonWithMembers(right, [], `"constructor":1,"__proto__":1,${members(size)}`),
  ),
  hostile('one member many times', MAX_TEXT / 8, PART, (right, size) =>
    jsonWithMembers(
      right,
      [],
      upTo(size, MAX_TEXT, () => '"x":1', ','),
    ),
  ),
  hostile('escapes', MAX_TEXT / 12, PART, (right, size) =>
    jsonWith(right, ['x'], `"${'\\ud83d\\ude00'.repeat(size)}"`),
  ),
  hostile('members with escapes', ENTRIES, PART, (right, size) =>
    jsonWithMembers(right, [], `"x":"\\ud83d\\ude00",${members(size)}`),
  ),
  hostile('only lists', DEPTH, PART, (_right, size) => json(nestedLists(size))),
  hostile('only objects', DEPTH, PART, (_right, size) => json(nestedObjects(size))),
  hostile('a list', ENTRIES, PART, (_right, size) => json(numbers(size))),
  // A valid body but for its last byte.
  hostile('members without an end', ENTRIES, PART, (_right, size) => json(`{${members(size)}`)),
  hostile('a text without an end', MAX_TEXT, PART, (_right, size) => json(`{"x":"${filled('a', size)}`)),
  hostile('a list without an end', MAX_TEXT, PART, (_right, size) => json(`[${filled('1,', size)}1`)),
  hostile('more after the end', ENTRIES, PART, (_right, size) => json(`{${members(size)}}]`)),
];

const formText = ({ body }: OperationParts): string => (body instanceof URLSearchParams ? body.toString() : '');
const form = (right: OperationParts, text: string): HostileParts => ({
  body: { mediaType: FORM, text: [formText(right), text].filter(Boolean).join('&') },
});
/** The right form with another value of a member. */
const formWith = (right: OperationParts, name: string, value: string): HostileParts => {
  const others = new URLSearchParams(formText(right));
  others.delete(name);
  return { body: { mediaType: FORM, text: `${others.toString()}&${name}=${value}` } };
};

const anyForm: Hostile[] = [
  hostile('unknown members', ENTRIES, PART, (right, size) =>
    form(
      right,
      upTo(size, MAX_TEXT, (index) => `x${index}=1`, '&'),
    ),
  ),
  hostile('empty members', MAX_TEXT, PART, (right, size) => form(right, filled('&', size))),
  hostile('escapes', MAX_TEXT / 3, PART, (right, size) => form(right, `x=${'%41'.repeat(size)}`)),
  hostile('broken escapes', MAX_TEXT, PART, (right, size) => form(right, `x=${filled('%', size)}`)),
  hostile('a broken escape at the end', MAX_TEXT, PART, (right, size) => form(right, `x=${filled('a+', size)}%`)),
];
const formMember = ({ path: [name] }: Member): Hostile[] =>
  name === undefined || name === 0
    ? []
    : [
        hostile(`${name}: many times`, ENTRIES, PART, (right, size) =>
          form(
            right,
            upTo(size, MAX_TEXT, (index) => `${name}=${index}`, '&'),
          ),
        ),
        hostile(`${name}: nested lists`, DEPTH, PART, (right, size) => formWith(right, name, nestedLists(size))),
        hostile(`${name}: nested objects`, DEPTH, PART, (right, size) => formWith(right, name, nestedObjects(size))),
        hostile(`${name}: a list`, ENTRIES, PART, (right, size) => formWith(right, name, strings(size))),
        hostile(`${name}: a list of objects`, ENTRIES, PART, (right, size) =>
          formWith(right, name, listOf(() => ({ type: 'openid_credential' }))(size)),
        ),
        ...STRINGS.map((pattern) =>
          hostile(`${name}: long text of ${pattern}`, MAX_TEXT, partOf(pattern), (right, size) =>
            formWith(right, name, filled(pattern, size)),
          ),
        ),
      ];

const element = (name: string, content: string) => `<${name}>${content}</${name}>`;
const escaped = (value: unknown): string =>
  String(typeof value === 'object' ? '' : value).replace(/[&<>]/g, (it) => `&#${it.charCodeAt(0)};`);
const xml = (right: OperationParts, content: string, end = '</r>'): HostileParts => {
  const known = Object.entries(jsonOf(right) as object).map(([name, value]) => element(name, escaped(value)));
  return { body: { mediaType: XML, text: `<r>${known.join('')}${content}${end}` } };
};
/** Each within the limit of XML, and far beyond it. */
const anyXml: Hostile[] = [XML_TEXT, MAX_TEXT].flatMap((most) => {
  const made = (name: string, one: (size: number) => string, end?: string) =>
    hostile(`XML of ${most} bytes: ${name}`, most, PART, (right, size) => xml(right, one(size), end));
  return [
    made('unknown members', (size) => upTo(size, size, (index) => `<x${index}/>`, '')),
    made('one member many times', (size) => filled('<x>1</x>', size - (size % 8))),
    made('nested', (size) => '<a>'.repeat(size / 7) + '</a>'.repeat(size / 7)),
    made('attributes', (size) => `<x ${upTo(size, size, (index) => `a${index}=""`, ' ')}/>`),
    made('entities', (size) => element('x', '&amp;'.repeat(size / 5))),
    made('comments', (size) => '<!---->'.repeat(size / 7)),
    made('open brackets', (size) => filled('<', size)),
    made('no end', (size) => '<x>1</x>'.repeat(size / 8), ''),
    made('text', (size) => element('x', filled('a ', size))),
  ];
});

const jwe = (header: string, rest = '..aXY.Y2lwaGVy.dGFn'): HostileParts => ({
  body: { mediaType: 'application/jwt', text: `${Buffer.from(header).toString('base64url')}${rest}` },
});
/** Compact JWEs, each within the limit of 64 KiB and far beyond it; a key of the tenant is not needed to send them. */
const anyJwe: Hostile[] = [45_000, MAX_TEXT / 2].flatMap((most) => [
  hostile(`JWE of ${most} bytes: members of the header`, most, undefined, (_right, size) =>
    jwe(`{"alg":"ECDH-ES",${upTo(size, size - 100, (index) => `"x${index}":1`, ',')}}`),
  ),
  hostile(`JWE of ${most} bytes: nested lists`, most, undefined, (_right, size) => jwe(nestedLists(size / 2))),
  hostile(`JWE of ${most} bytes: dots`, most, undefined, (_right, size) => jwe('{}', filled('.', size))),
  hostile(`JWE of ${most} bytes: no header end`, most, undefined, (_right, size) => jwe(filled('{"a":', size))),
  hostile(`JWE of ${most} bytes: ciphertext`, most, undefined, (_right, size) =>
    jwe('{}', `..aXY.${filled('A', size)}.!`),
  ),
]);

const jws = (header: string, claims = '{}'): string =>
  `${[header, claims].map((text) => Buffer.from(text).toString('base64url')).join('.')}.AAAA`;
const certificates: Text = (size) => `[${upTo(size / 8, size, () => '"MIIBAA=="', ',')}]`;
/** Headers with a compact JWS without a valid signature, each within the limit of 16 KiB and far beyond it. */
const jwsHeaders = (name: string): Hostile[] =>
  [11_000, 30_000].flatMap((most) => {
    const made = (what: string, of: Text) =>
      line(`header ${name} of ${most} bytes: ${what}`, (size) => ({ headers: { [name]: of(size) } }), most);
    const dpop = (member: string) => `{"typ":"dpop+jwt","alg":"ES256",${member}}`;
    return [
      made('members of the header', (size) => jws(`{${upTo(size, size - 100, (index) => `"x${index}":1`, ',')}}`)),
      made('members of the claims', (size) =>
        jws(dpop('"jwk":{}'), `{${upTo(size, size - 100, (index) => `"x${index}":1`, ',')}}`),
      ),
      made('nested claims', (size) => jws(dpop('"jwk":{}'), nestedLists(size / 2))),
      made('a long coordinate', (size) => jws(dpop(`"jwk":{"kty":"EC","crv":"P-256","x":"${filled('A', size)}"}`))),
      made('certificates', (size) =>
        jws(`{"typ":"oauth-client-attestation+jwt","alg":"ES256","x5c":${certificates(size)}}`),
      ),
      made('dots', (size) => filled('eyJ9.', size)),
    ];
  });

const line = (name: string, of: (size: number) => HostileParts, size = LINE, part?: number): Hostile =>
  hostile(name, size, part, (_right, wanted) => of(wanted));
const inHeader = (name: string, pattern: string) =>
  line(`header ${name} of ${pattern}`, (size) => ({ headers: { [name]: filled(pattern, size) } }));

/** Addresses and headers of any operation. */
const anyLine: Hostile[] = [
  line('unknown query members', (n) => ({ query: upTo(n, LINE, (index) => `x${index}=1`, '&') }), LINE_MEMBERS, 300),
  line('empty query members', (size) => ({ query: filled('&', size) })),
  line('broken escapes in the query', (size) => ({ query: `x=${filled('%', size)}` })),
  inHeader('authorization', 'Bearer '),
  inHeader('cookie', 'a=1;'),
  inHeader('content-type', 'a/b;c=d;'),
  inHeader('traceparent', '00-'),
  inHeader('x-forwarded-for', '1.1.1.1,'),
  inHeader('forwarded', 'for=1.1.1.1;'),
  inHeader('accept', 'a/b;q=0.1,'),
  inHeader('accept-language', 'a-b,'),
  inHeader('idempotency-key', 'k'),
  inHeader('dpop', 'eyJ9.'),
  inHeader('prefer', 'handling=x;a="b,'),
  inHeader('if-none-match', '"a",'),
];

/** Everything hostile that fits an operation, from its declaration: an operation added later has its own at once. */
export const hostileRequests = (operation: Operation): Hostile[] => {
  const { bodies, query, params } = shapeOf(operation);
  const { method, body = 'json', alsoAt = [], acceptsHeaders } = operation.http!;
  const headers = new Set(acceptsHeaders ? rulesOf(acceptsHeaders).map(({ propertyName }) => propertyName) : []);
  const inAddress = [
    ...alsoAt
      .filter((path) => path.startsWith('*'))
      .map((path) => line(`${path}: many segments`, (size) => ({ path: path.replace('*', filled('/a', size)) }))),
    ...query.flatMap((name) => [
      line(
        `query ${name}: many times`,
        (n) => ({ query: upTo(n, LINE, (i) => `${name}=${i}`, '&') }),
        LINE_MEMBERS,
        300,
      ),
      line(`query ${name}: many in one`, (n) => ({ query: `${name}=${upTo(n, LINE, String, ',')}` }), 2000, 400),
      ...['a', '%5B', '%7B%22a%22:', 'a.'].map((pattern) =>
        line(`query ${name}: long text of ${pattern}`, (size) => ({ query: `${name}=${filled(pattern, size)}` })),
      ),
    ]),
    ...params.flatMap((name) =>
      ['a', ':', '.', 'did:web:a:'].map((pattern) =>
        line(`path ${name}: long text of ${pattern}`, (size) => ({ params: { [name]: filled(pattern, size / 3) } })),
      ),
    ),
  ];
  if (method === 'GET') return [...anyLine, ...inAddress];
  const types = bodies.map(({ mediaType }) => mediaType);
  const ofBodies = bodies.flatMap(({ mediaType, members: known }) =>
    mediaType === FORM ? known.flatMap(formMember) : known.flatMap(jsonMember),
  );
  return [
    ...anyLine,
    ...inAddress,
    ...[...headers].flatMap(jwsHeaders),
    // Input that it does not accept is sent too: it is refused before it is read or parsed in vain.
    ...anyJson,
    ...(types.includes(FORM) || body === 'form' || body === 'raw' ? anyForm : anyForm.slice(0, 1)),
    ...(body === 'raw' && types.includes(JSON_TYPE) ? anyJwe : []),
    ...(body === 'json-or-xml' ? anyXml : anyXml.slice(0, 1)),
    ...ofBodies,
  ];
};
