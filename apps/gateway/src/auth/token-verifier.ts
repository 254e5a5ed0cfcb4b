import { createHash } from 'node:crypto';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { createLocalJWKSet, errors, jwtVerify, type JWTPayload, type JSONWebKeySet } from 'jose';
import { LRUCache } from 'lru-cache';
import { isUuid, retrieveTokenKeys, type PlatformContext } from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { CLOCK, LOGGER, PlatformConfig, ServiceClient, type Logger } from '@attestry/service-kit';
import { newRequestId } from '../request/request-id.js';

/** A token of a client of the tenant or of the management API. */
export interface ClientToken {
  clientId: string;
  audience: string;
  issuer: string;
  expiresAt: number;
  /** `jti`, which a revocation names. Absent in tokens that this platform did not issue. */
  tokenId?: string;
  /** The client's secret that the token was issued for. Absent in tokens of releases that did not name it. */
  secretId?: string;
}

/** A token of a member of a tenant, from an exchange (ADR 0127). It has no `client_id`, so that no release takes it for one of a client. */
export interface MemberToken {
  userId: string;
  audience: string;
  issuer: string;
  expiresAt: number;
  /** The grant of the exchanged token, if the built-in sign-in issued it. */
  grantId?: string;
}

export type VerifiedToken = ClientToken | MemberToken;

/** An unknown key id causes the key set to be fetched again, but not more often than this. */
const REFETCH_MS = 1000;
/** A key set older than this is fetched again while it is used, so that a retired key is dropped, milliseconds. */
const FRESH_MS = 60_000;
/** A key set older than this is not used: management was unreachable for that long. */
const BELIEVED_MS = 15 * 60_000;
/** A verified token is verified again after this long: the key that signed it may have been retired. */
const REMEMBERED_MS = 5 * 60_000;

/**
 * Verifies access tokens of clients and members (RFC 7519, RFC 9068): signature, type, issuer, expiry. A token that was verified is
 * remembered for some minutes, so that its signature is not checked with each call.
 */
@Injectable()
export class TokenVerifier {
  private readonly verified = new LRUCache<string, { token: VerifiedToken; until: number }>({ max: 20_000 });
  private readonly issuers: string[];
  private keys: ReturnType<typeof createLocalJWKSet> | undefined;
  private fetchedAt = -Infinity;
  private fetching: Promise<void> | undefined;

  constructor(
    private readonly services: ServiceClient,
    config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Optional() @Inject(LOGGER) private readonly logger?: Logger,
  ) {
    this.issuers = config.environments.map(
      ({ authorizationServerDomain }) => `${config.publicScheme}://${authorizationServerDomain}`,
    );
  }

  /**
   * `undefined` when the token is not one of ours or has expired.
   * @param deadline of the call that brought it, milliseconds since the epoch
   * @param beforeCheck awaited where the token is not remembered as verified
   */
  async verify(token: string, deadline: number, beforeCheck?: () => Promise<void>): Promise<VerifiedToken | undefined> {
    const now = this.clock.now().getTime();
    const key = createHash('sha256').update(token).digest('base64');
    const known = this.verified.get(key);
    if (known && now < known.until) return known.token;
    await beforeCheck?.();
    const payload = await this.checkToken(token, now, deadline);
    if (!payload) return undefined;
    const verified = tokenOf(payload);
    if (!verified) return undefined;
    this.verified.set(key, { token: verified, until: Math.min(verified.expiresAt, now + REMEMBERED_MS) });
    return verified;
  }

  private async checkToken(token: string, now: number, deadline: number): Promise<JWTPayload | undefined> {
    for (const fresh of [false, true]) {
      const age = now - this.fetchedAt;
      if (fresh && age < REFETCH_MS) return undefined;
      if (!this.keys || fresh || age > BELIEVED_MS) await this.fetchKeys(now, deadline);
      // In the background: while management is unreachable, the keys fetched before verify tokens.
      else if (age > FRESH_MS)
        this.fetchKeys(now, deadline).catch((error: unknown) =>
          this.logger?.warn({ error: String(error) }, 'token keys not refreshed'),
        );
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

  /** Calls at the same time share one request. */
  private fetchKeys(now: number, deadline: number): Promise<void> {
    const context: PlatformContext = {
      caller: { kind: 'public' },
      requestId: newRequestId(),
      operation: 'gateway.token-keys',
      deadline,
    };
    this.fetching ??= this.services
      .call(retrieveTokenKeys, {}, context)
      .then((keySet) => {
        this.keys = createLocalJWKSet(keySet as unknown as JSONWebKeySet);
        this.fetchedAt = now;
      })
      .finally(() => (this.fetching = undefined));
    return this.fetching;
  }
}

const tokenOf = (payload: JWTPayload): VerifiedToken | undefined => {
  const { client_id: clientId, secret_id: secretId, grant_id: grantId, aud, iss, exp, jti, sub } = payload;
  if (typeof aud !== 'string' || !iss || !exp) return undefined;
  const common = { audience: aud, issuer: iss, expiresAt: exp * 1000 };
  if (clientId === undefined && isUuid(sub))
    return { userId: sub, ...common, ...(typeof grantId === 'string' && { grantId }) };
  if (typeof clientId !== 'string') return undefined;
  return {
    clientId,
    ...common,
    ...(jti !== undefined && { tokenId: jti }),
    ...(typeof secretId === 'string' && { secretId }),
  };
};
