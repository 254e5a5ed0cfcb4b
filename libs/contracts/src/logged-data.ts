import { mayHavePassword } from './addresses.js';
import { isUuid } from './identifiers.js';
import { REFUSED_NAME } from './json/json-bounds.js';
import type { Operation, OperationRequest } from './operation.js';

/**
 * Data of a call that analytics stores beside its metadata: nothing at level 1, members known to be harmless at level 2, everything but
 * secrets at level 3 (specification notes, Logging levels). Sealed before it is stored, whatever the level.
 */
export type LoggingLevel = 1 | 2 | 3;
export const LOGGING_LEVELS: readonly LoggingLevel[] = [1, 2, 3];

/** Replaces a value that is not stored. */
export const HIDDEN = '***';

/**
 * Level 2: members with these names are shown, at any depth. A member that is not listed is hidden with everything
 * below it, so that a new member is hidden until it is reviewed.
 */
const HARMLESS = new Set(
  `algorithm algorithms body categories clientId clientIds clientName createdAt credentialConfigurationId credentials data dateFrom
  dateTo did disabled entries environmentId events expiresAt expiresIn expiryTime format id ids inputMode issuedDate keyId keys keyType
  kmsKeyId limit localMetadata managementUserIds method minutes months days hours years nextCursor offerId options params permissions
  persist profile query registered registrationStatus requestIds revocable roles seconds sessionId status subdomain tenantId
  transactionCodeConfiguration type types updatedAt userId validFrom validUntil verifiedAt isVerified webhookId`.split(
    /\s+/,
  ),
);

/** Hidden at every level: secrets, tokens and values a token can be obtained with; the URIs of offers contain their code. */
const SECRET =
  /secret|token|passw|passphrase|code$|^code|^uri|^qr|proof|nonce|assertion|authorization$|signature|credential$|jwt|jwe|jws|private|^(?:d|p|q|dp|dq|qi|k)$|api-?key/i;
const HARMLESS_DESPITE = new Set(['credentials', 'transactionCodeConfiguration', 'tokenEndpointAuthMethod']);

/** Secret values, whatever the member's name: JWTs and JWEs, offers, PEM keys, bearer values. */
const SECRET_VALUE = /eyJ[A-Za-z0-9_-]{8,}(?:\.|$)|openid-credential-offer:|pre-authorized_code|-----BEGIN|^Bearer /;

/** Personal members. Kept only under the person's key, see {@link LoggedData}. */
const PERSONAL = new Set(['claims', 'claimSets', 'email', 'subjectId', 'authenticationProvider']);

/** Longest JSON text that is kept. */
export const MAX_LOGGED_BYTES = 16_384;
const MAX_TEXT = 1000;
/** With more values than these the JSON text exceeds the limit: each takes two bytes at least. */
const MAX_VALUES = MAX_LOGGED_BYTES / 2;

/** The value exceeds the limit; visiting it stops. */
class TooLong extends Error {}

export interface LoggedData {
  /** The data without personal values. */
  general: unknown;
  /** The person the data is about, if there is exactly one and the data has personal values. */
  personId?: string;
  /** The data with personal values; may be kept only under that person's key. */
  personal?: unknown;
}

/** Level 2 shows ids, identifiers of the platform and times; a sentence in a listed member is hidden. */
const PLAIN_TEXT = /^[\w.:%/+-]{1,200}$/;

/** Only the shown part of a text is searched for secrets: the search may take quadratic time. */
const shownText = (text: string): string => {
  const start = text.slice(0, MAX_TEXT);
  if (SECRET_VALUE.test(start)) return HIDDEN;
  return text.length > MAX_TEXT ? `${start}…` : text;
};

const isSecret = (name: string, secrets: readonly string[]): boolean =>
  !HARMLESS_DESPITE.has(name) && (name.length > MAX_TEXT || SECRET.test(name) || secrets.includes(name));

interface Rules {
  level: 2 | 3;
  secrets: readonly string[];
  personal: boolean;
  /** Values that may still be visited. */
  left: number;
}

/** Members or entries as `show` returns them. @throws TooLong */
const mapMembers = (value: object, rules: Rules, show: (member: unknown, name: string) => unknown): unknown => {
  const count = (): void => {
    if (--rules.left < 0) throw new TooLong();
  };
  if (Array.isArray(value))
    return value.map((entry: unknown) => {
      count();
      return show(entry, '');
    });
  return Object.fromEntries(
    // Stored data have no member of this name; a refused request may have one.
    Object.keys(value)
      .filter((name) => name !== REFUSED_NAME)
      .map((name) => {
        const member = (value as Record<string, unknown>)[name];
        if (member === undefined) return [name, undefined];
        count();
        return [name, show(member, name)];
      }),
  );
};

const shown = (value: unknown, rules: Rules): unknown => {
  if (typeof value === 'string') {
    const isHidden = mayHavePassword(value) || (rules.level === 2 && !PLAIN_TEXT.test(value));
    return isHidden ? HIDDEN : shownText(value);
  }
  if (typeof value !== 'object' || value === null) return value;
  const isList = Array.isArray(value);
  return mapMembers(value, rules, (member, name) => (isList ? shown(member, rules) : memberOf(name, member, rules)));
};

const memberOf = (name: string, value: unknown, rules: Rules): unknown => {
  if (PERSONAL.has(name)) return rules.personal ? withoutSecretValues(value, rules) : HIDDEN;
  if (isSecret(name, rules.secrets)) return HIDDEN;
  if (rules.level === 2 && !HARMLESS.has(name)) return HIDDEN;
  return shown(value, rules);
};

/** Claim names are chosen by the tenant: a claim is hidden by its value (a token), never by its name. */
const withoutSecretValues = (value: unknown, rules: Rules): unknown => {
  if (typeof value === 'string') return shownText(value);
  if (typeof value !== 'object' || value === null) return value;
  return mapMembers(value, rules, (member) => withoutSecretValues(member, rules));
};

const hasPersonal = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some(hasPersonal)
    : typeof value === 'object' && value !== null
      ? Object.entries(value).some(([name, member]) => PERSONAL.has(name) || hasPersonal(member))
      : false;

const loggable = (value: unknown, rules: Omit<Rules, 'left'>): unknown => {
  try {
    const bounded = shown(value, { ...rules, left: MAX_VALUES });
    if (Buffer.byteLength(JSON.stringify(bounded) ?? '') <= MAX_LOGGED_BYTES) return bounded;
  } catch (error) {
    if (!(error instanceof TooLong)) throw error;
  }
  return { tooLong: true };
};

/** The one user a call is about, if there is one: by name, or as the object of an operation on users. */
const personOf = (
  { analytics }: Operation,
  { params, body }: OperationRequest,
  answer: unknown,
): string | undefined => {
  const named = (value: unknown, name: string): unknown =>
    (value as Record<string, unknown> | null | undefined)?.[name];
  const ids = [named(params, 'userId'), named(body, 'userId'), named(answer, 'userId')];
  if (analytics?.category === 'user') ids.push(named(params, 'id'), named(answer, 'id'));
  const found = ids.find(isUuid);
  return found?.toLowerCase();
};

const dataOf = (operation: Operation, level: 2 | 3, value: object, personId: string | undefined): LoggedData => {
  // Claims stand among what faults must not echo; here the person's key guards them.
  const secrets = (operation.secrets ?? []).filter((name) => !PERSONAL.has(name));
  const general = loggable(value, { level, secrets, personal: false });
  if (level === 2 || personId === undefined || !hasPersonal(value)) return { general };
  return { general, personId, personal: loggable(value, { level, secrets, personal: true }) };
};

/** `data` of a START. */
export const loggedRequest = (operation: Operation, level: 2 | 3, request: OperationRequest): LoggedData => {
  const { params, query, body } = request;
  // Before validation: a body may be any JSON.
  const parts = Object.entries({ params, query, body }).filter(([, part]) => Object.keys(part ?? {}).length > 0);
  return dataOf(operation, level, Object.fromEntries(parts), personOf(operation, request, undefined));
};

/** `data` of a SUCCESS; nothing when there was no answer to show. */
export const loggedAnswer = (
  operation: Operation,
  level: 2 | 3,
  request: OperationRequest,
  answer: unknown,
): LoggedData | undefined =>
  typeof answer !== 'object' || answer === null
    ? undefined
    : dataOf(operation, level, { body: answer }, personOf(operation, request, answer));
