import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { createLocalJWKSet, errors, jwtVerify, type JWTPayload, type JSONWebKeySet } from 'jose';
import { LRUCache } from 'lru-cache';
import { retrieveTokenKeys, type OperationContext } from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { CLOCK, PlatformConfig, ServiceClient } from '@attestry/service-kit';

export interface ClientToken {
  clientId: string;
  audience: string;
  issuer: string;
  expiresAt: number;
}

/** Unknown key ids make the key set be fetched again, but not more often than this. */
const REFETCH_MS = 1000;

/**
 * Verifies client access tokens (RFC 7519, RFC 9068): signature, type, issuer, expiry. A token that was verified is
 * remembered until it expires, so that its signature is checked once.
 */
@Injectable()
export class TokenVerifier {
  private readonly verified = new LRUCache<string, ClientToken>({ max: 20_000 });
  private readonly issuers: string[];
  private keys: ReturnType<typeof createLocalJWKSet> | undefined;
  private fetchedAt = 0;

  constructor(
    private readonly services: ServiceClient,
    config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.issuers = config.environments.map(
      ({ authorizationServerDomain }) => `${config.publicScheme}://${authorizationServerDomain}`,
    );
  }

  /**
   * `undefined` when the token is not one of ours or has expired.
   * @param deadline of the call that brought it, milliseconds since the epoch
   */
  async verify(token: string, deadline: number): Promise<ClientToken | undefined> {
    const now = this.clock.now().getTime();
    const key = createHash('sha256').update(token).digest('base64');
    const known = this.verified.get(key);
    if (known) return known.expiresAt > now ? known : undefined;
    const payload = await this.check(token, now, deadline);
    if (!payload) return undefined;
    const { client_id: clientId, aud, iss, exp } = payload;
    if (typeof clientId !== 'string' || typeof aud !== 'string' || !iss || !exp) return undefined;
    const verified = { clientId, audience: aud, issuer: iss, expiresAt: exp * 1000 };
    this.verified.set(key, verified);
    return verified;
  }

  private async check(token: string, now: number, deadline: number): Promise<JWTPayload | undefined> {
    for (const fresh of [false, true]) {
      if (fresh && now - this.fetchedAt < REFETCH_MS) return undefined;
      if (!this.keys || fresh) await this.fetchKeys(now, deadline);
      try {
        const { payload } = await jwtVerify(token, this.keys!, {
          algorithms: ['ES256'],
          typ: 'at+jwt',
          issuer: this.issuers,
          currentDate: new Date(now),
        });
        return payload;
      } catch (error) {
        if (error instanceof errors.JWKSNoMatchingKey) continue;
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    }
    return undefined;
  }

  private async fetchKeys(now: number, deadline: number): Promise<void> {
    const context: OperationContext = {
      caller: { kind: 'service', service: 'gateway' },
      requestId: '',
      operation: 'gateway.token-keys',
      deadline,
      publicUrl: '',
    };
    const keySet = await this.services.call(retrieveTokenKeys, {}, context);
    this.keys = createLocalJWKSet(keySet as unknown as JSONWebKeySet);
    this.fetchedAt = now;
  }
}
