import { createLocalJWKSet, errors, type JSONWebKeySet } from 'jose';
import { parseAnswer, type Outbound, type OutboundRequest } from './outbound.js';

/** Keys of a provider. */
export type KeySet = ReturnType<typeof createLocalJWKSet>;

/** Most bytes of a key set or of a token response. */
export const MAX_PROVIDER_BYTES = 1024 * 1024;
/** A key set is kept for each provider. */
const MOST_KEYS = 100;
/** Time for a request for keys, milliseconds. */
const TIMEOUT_MS = 5000;
/** Keys that a provider withdraws are trusted no longer than this, milliseconds. */
const FRESH_MS = 5 * 60_000;
/** An unknown key id causes the key set to be fetched again, but not more often than this, milliseconds. */
const REFETCH_MS = 5000;

/** Signatures that only the provider can make: never `none`, never a shared secret. */
export const PROVIDER_SIGNATURES = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** A document of a provider is no JSON object, or lacks what is needed. */
export class DocumentInvalid extends Error {
  override readonly name = 'DocumentInvalid';

  /** @param isMissing another document does not name it */
  constructor(
    message: string,
    readonly isMissing = false,
  ) {
    super(message);
  }
}

/** A document of a provider was answered with another status than 200. */
export class DocumentRefused extends Error {
  override readonly name = 'DocumentRefused';

  constructor(
    url: string,
    readonly status: number,
  ) {
    super(`${url} returned status ${status}`);
  }
}

/**
 * A JSON object of a provider.
 * @param deadline milliseconds since the epoch
 * @throws DocumentRefused, DocumentInvalid, AnswerTooLarge, or the error of the connection
 */
export const fetchDocument = async (
  outbound: Outbound,
  url: string,
  { tenantId, deadline }: { tenantId: OutboundRequest['tenantId']; deadline: number },
): Promise<Record<string, unknown>> => {
  const timeoutMs = Math.max(1, Math.min(TIMEOUT_MS, deadline - Date.now()));
  const headers = { accept: 'application/json' };
  const { status, body } = await outbound.send(url, { tenantId, headers, timeoutMs, maxBytes: MAX_PROVIDER_BYTES });
  if (status !== 200) throw new DocumentRefused(url, status);
  return documentOf(url, body);
};

const documentOf = (url: string, body: Uint8Array): Record<string, unknown> => {
  try {
    const value = parseAnswer(body);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
  }
  throw new DocumentInvalid(`${url} did not return a JSON object`);
};

/**
 * The key set of an OpenID provider, cached for some minutes. Providers rotate keys without notice: an unknown key id makes it be fetched again
 * (OpenID Connect Core 1.0 §10.1.1).
 */
export class ProviderKeys {
  private keys: KeySet | undefined;
  private fetchedAt = -Infinity;
  private requestedAt = -Infinity;
  private fetching: Promise<KeySet> | undefined;

  /** @param request the key set. @throws what the caller of {@link keySet} gets */
  constructor(private readonly request: (deadline: number) => Promise<Record<string, unknown>>) {}

  /**
   * @param fresh the cached set lacks the key: fetched again unless it was requested just now
   * @param now milliseconds since the epoch
   * @throws Error when the provider cannot be reached or its response is invalid; known keys stay in use while they are fresh
   */
  async keySet(now: number, deadline: number, fresh = false): Promise<KeySet> {
    if (this.keys && now - this.fetchedAt < FRESH_MS && !(fresh && now - this.requestedAt >= REFETCH_MS))
      return (await (fresh ? this.fetching : undefined)) ?? this.keys;
    this.fetching ??= this.fetch(now, deadline).finally(() => (this.fetching = undefined));
    return this.fetching;
  }

  /** Runs a verification, and again with fresh keys when the set has none for the token. @throws its errors, and those of {@link keySet} */
  async verify<T>(now: number, deadline: number, run: (keys: KeySet) => Promise<T>): Promise<T> {
    const keys = await this.keySet(now, deadline);
    try {
      return await run(keys);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      const fresh = await this.keySet(now, deadline, true);
      if (fresh === keys) throw error;
      return run(fresh);
    }
  }

  private async fetch(now: number, deadline: number): Promise<KeySet> {
    this.requestedAt = now;
    const { keys: given } = await this.request(deadline);
    if (Array.isArray(given) && given.length > MOST_KEYS)
      throw new DocumentInvalid(`the key set has more than ${MOST_KEYS} keys`);
    const keys = createLocalJWKSet({ keys: given } as JSONWebKeySet);
    this.keys = keys;
    this.fetchedAt = now;
    return keys;
  }
}
