type Members = Record<string, unknown>;
const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g;
const RANDOM = 'kq3Zb8XnW5mVt1Yc7RfL2sHd9JpA4uGe';
const DID_KEY = 'z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK';
const MORNING = '2026-01-15T09:30:00.000Z';
/** A percent-encoded character, a JWT, the key of a did:key, or a text of letters and digits: a secret, an id or a part of a key. */
const TEXT = /%[0-9A-F]{2}|(?<jwt>eyJ[\w-]+\.[\w-]+\.[\w-]*)|(?<key>\bz(?:6Mk|6LS|Dn)\w{40,})|(?<random>[\w-]{20,})/g;
/** Names of suites and types have digits too: `JsonWebSignature2020`. */
const isRandom = (text: string): boolean =>
  [/\d/, /[a-z]/, /[A-Z]/].every((kind) => kind.test(text)) && !/20\d\d$/.test(text);
/** Names that the rows of the registry number. */
const NAMES: Record<string, string> = {
  'renamed ': 'Student portal',
  Type: 'StudentCard',
  'visitor-': 'ada',
  'person-': 'ada',
};

/** Replaces by constant values what differs with each run: times, ids, tokens, keys, names of hosts and numbered names. */
const withStableValues = (text: string): string => {
  const ids = new Map<string, string>();
  const idOf = (id: string): string =>
    ids.get(id) ?? ids.set(id, `7f1c9f0e-9a4c-4a3b-8a52-0c8f4e3f2b6${ids.size.toString(16)}`).get(id)!;
  const fragments = new Map<string, string>();
  const fragmentOf = (fragment: string): string =>
    fragments.get(fragment) ?? fragments.set(fragment, `#kq3Zb8XnW${fragments.size}`).get(fragment)!;
  return text
    .replace(/-----BEGIN ([A-Z0-9 ]+)-----[^-]+/g, String.raw`-----BEGIN $1-----\nMIIB\n`)
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, MORNING)
    .replace(/(?<="registered":)\d+/g, String(Date.parse(MORNING)))
    .replace(UUID, idOf)
    .replace(/#[1-9A-HJ-NP-Za-km-z]{10}\b/g, fragmentOf)
    .replace(/(?<="c_nonce":")\w+/, 'mwsi0pk2')
    .replace(
      /(?<![a-z0-9.-])(?:(auth|management|contexts)\.|[a-z0-9-]+\.)?localhost(?::|%3A|%253A)\d+/g,
      (host: string, platform?: string) =>
        platform
          ? `${platform}.attestry.example`
          : `${host.startsWith('localhost') ? 'attestry' : 'university'}.example`,
    )
    .replace(/127\.0\.0\.1(?::|%3A)\d+/g, 'login.example')
    .replace(/(?<![a-z])http(?=(?::\/\/|%3A%2F%2F)[a-z.]+\.example)/g, 'https')
    .replace(
      /\b(Acme|renamed |brand|visitor-|person-|Type|u)(?: ?[1-9][0-9a-z]?|[a-rt-z])\b/g,
      (_, name: string) => NAMES[name] ?? name,
    )
    .replace(TEXT, (...match) => {
      const { jwt, key, random } = match.at(-1) as Record<string, string | undefined>;
      if (jwt) return 'eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl';
      if (key) return DID_KEY;
      return random && isRandom(random) ? RANDOM.repeat(9).slice(0, random.length) : (match[0] as string);
    });
};

/** Maps whose members differ with each call. */
const OPEN = ['metadata'];
/** Paths of all members: those of the entries of an array are one set. */
export const membersOf = (value: unknown, at = ''): string[] => {
  const found = Array.isArray(value)
    ? value.flatMap((entry) => membersOf(entry, `${at}[]`))
    : isObject(value)
      ? Object.entries(value).flatMap(([name, member]) => [
          `${at}.${name}`,
          ...(OPEN.includes(name) ? [] : membersOf(member, `${at}.${name}`)),
        ])
      : [];
  return [...new Set(found)].sort();
};

const fullest = <Entry>(entries: Entry[]): Entry =>
  entries.toSorted((a, b) => membersOf(b).length - membersOf(a).length)[0]!;

/** Keeps the one with the most members of several objects, in a list or under ids. */
const reduced = (value: unknown): unknown => {
  if (Array.isArray(value)) {
    const entries = value.map(reduced);
    if (entries.length > 0 && entries.every(isObject)) return [fullest(entries)];
    return [...new Map(entries.map((entry) => [JSON.stringify(entry), entry])).values()];
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [name, reduced(member)] as const);
  const isMap = members.length > 1 && members.every(([name]) => name.replace(UUID, '') === '');
  return Object.fromEntries(isMap ? [fullest(members)] : members);
};

/** Members of each entry of a page, or of any other response. */
export const shapesOf = (body: unknown): string[][] => {
  const { data } = body as { data?: unknown };
  return Array.isArray(data) && data.length > 0
    ? data.map((entry) => membersOf(exampleOf(entry)))
    : [membersOf(exampleOf(body))];
};

/** A response as the interface definition shows it. */
export const exampleOf = (body: unknown): unknown => {
  const { nextCursor: _cursor, ...page } = isObject(body) && Array.isArray(body['data']) ? body : {};
  const shown = 'data' in page ? page : body;
  return JSON.parse(withStableValues(JSON.stringify(reduced(shown))));
};
