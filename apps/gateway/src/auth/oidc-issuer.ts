import { createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { OPERATOR, parseAnswer, type Outbound } from '@attestry/service-kit';

/** Keys of a provider. */
export type KeySet = ReturnType<typeof createLocalJWKSet>;

/** A provider's documents are small. */
const MAX_BYTES = 256 * 1024;
const TIMEOUT_MS = 5000;
/** Keys that a provider withdraws are trusted no longer than this, milliseconds. */
const FRESH_MS = 10 * 60_000;
/** An unknown key id causes the key set to be fetched again, but not more often than this, milliseconds. */
const REFETCH_MS = 5000;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The key set of an OpenID provider, found by discovery (OpenID Connect Discovery 1.0 §4) and cached for some minutes. */
export class OidcIssuer {
  private keys: KeySet | undefined;
  private fetchedAt = -Infinity;
  private fetching: Promise<KeySet> | undefined;

  constructor(
    readonly issuer: string,
    private readonly outbound: Outbound,
  ) {}

  /**
   * @param fresh the cached set lacks the key: fetched again unless it was fetched just now
   * @param now milliseconds since the epoch
   * @throws Error when the provider cannot be reached or its response is invalid; known keys stay in use while they are fresh
   */
  async keySet(now: number, deadline: number, fresh = false): Promise<KeySet> {
    const age = now - this.fetchedAt;
    if (this.keys && age < (fresh ? REFETCH_MS : FRESH_MS)) return this.keys;
    this.fetching ??= this.fetch(deadline)
      .then((keys) => {
        this.keys = keys;
        this.fetchedAt = now;
        return keys;
      })
      .finally(() => (this.fetching = undefined));
    return this.fetching;
  }

  private async fetch(deadline: number): Promise<KeySet> {
    const { issuer } = this;
    const metadata = await this.json(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, deadline);
    // Discovery §4.3: it must be exactly the requested one.
    if (metadata['issuer'] !== issuer) throw new Error(`the discovery document of ${issuer} names another issuer`);
    const { jwks_uri: jwksUri } = metadata;
    if (typeof jwksUri !== 'string' || !URL.canParse(jwksUri))
      throw new Error(`the discovery document of ${issuer} has no jwks_uri`);
    return createLocalJWKSet((await this.json(jwksUri, deadline)) as unknown as JSONWebKeySet);
  }

  private async json(url: string, deadline: number): Promise<Record<string, unknown>> {
    const timeoutMs = Math.max(1, Math.min(TIMEOUT_MS, deadline - Date.now()));
    const { status, body } = await this.outbound.send(url, { tenantId: OPERATOR, timeoutMs, maxBytes: MAX_BYTES });
    if (status !== 200) throw new Error(`${url} returned status ${status}`);
    const value = parseAnswer(body);
    if (!isRecord(value)) throw new Error(`${url} did not return a JSON object`);
    return value;
  }
}
