import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { decodeJwt, errors, jwtVerify, type JWTPayload } from 'jose';
import { LRUCache } from 'lru-cache';
import { unavailable } from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import {
  CLOCK,
  LOGGER,
  Outbound,
  PlatformConfig,
  PROVIDER_SIGNATURES,
  SignInRegistry,
  type KeySet,
  type Logger,
  type PersonOfIssuer,
} from '@attestry/service-kit';
import { BuiltInIssuer } from './built-in-issuer.js';
import { OidcIssuer } from './oidc-issuer.js';

/** The issuer of tokens for people, and its keys. */
interface TokenIssuer {
  readonly issuer: string;
  keySet(now: number, deadline: number, fresh?: boolean): Promise<KeySet>;
  /** Whether a token with these claims was revoked before it expires; for an issuer that can be queried at each call. */
  hasEnded?(claims: JWTPayload): Promise<boolean>;
}

/** A verified token is accepted without checking the keys again for at most this long, milliseconds. */
const REMEMBER_MS = 60_000;
/** How far the provider's clock may be from ours, seconds. */
const TOLERANCE_SECONDS = 5;

/** OpenID Connect Core 1.0 §2. */
const MAX_SUBJECT = 255;
/** Longer values are not names or addresses. */
const isClaim = (value: unknown): value is string => typeof value === 'string' && value.length <= 1000;

/**
 * Verifies access tokens of people: those of the operator's OpenID provider, or else of the built-in sign-in (RFC 9068 §4). The type
 * distinguishes an access token from an ID token, whose audience is a client in any case; `sub` equal to `client_id` is a machine (§2.2),
 * not a person.
 */
@Injectable()
export class UserTokenVerifier {
  private readonly verified = new LRUCache<string, { token: PersonOfIssuer; payload: JWTPayload; until: number }>({
    max: 20_000,
  });
  private readonly provider: TokenIssuer | undefined;
  private readonly audience: string;

  constructor(
    config: PlatformConfig,
    outbound: Outbound,
    signIns: SignInRegistry,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const { managementOidcIssuer: issuer } = config;
    if (issuer !== undefined) this.provider = new OidcIssuer(issuer, outbound);
    else if (config.signIn === 'built-in') this.provider = new BuiltInIssuer(config.signInIssuer, signIns);
    this.audience = config.peopleAudience;
  }

  /** Whether the token names the provider as its issuer; no other check. */
  isOurs(token: string): boolean {
    if (!this.provider) return false;
    try {
      return decodeJwt(token).iss === this.provider.issuer;
    } catch (error) {
      if (error instanceof errors.JOSEError) return false;
      throw error;
    }
  }

  /**
   * `undefined` when it is not a valid access token of a person.
   * @param deadline of the call that brought it, milliseconds since the epoch
   * @param beforeCheck awaited where the token is not remembered as verified
   * @throws AppError 503 when the provider's keys are unavailable
   */
  async verify(
    token: string,
    deadline: number,
    beforeCheck?: () => Promise<void>,
  ): Promise<PersonOfIssuer | undefined> {
    const now = this.clock.now().getTime();
    const key = createHash('sha256').update(token).digest('base64');
    const known = this.verified.get(key);
    if (known && known.until > now) return (await this.hasEnded(known.payload)) ? undefined : known.token;
    await beforeCheck?.();
    const payload = await this.checkUserToken(token, now, deadline);
    if (!payload?.sub || payload.sub.length > MAX_SUBJECT || !payload.exp) return undefined;
    if (payload['client_id'] === payload.sub) return undefined;
    if (await this.hasEnded(payload)) return undefined;
    const { email, name } = payload;
    const user: PersonOfIssuer = {
      issuer: payload.iss!,
      subject: payload.sub,
      emailVerified: payload['email_verified'] === true,
      ...(isClaim(email) && { email }),
      ...(isClaim(name) && { name }),
    };
    this.verified.set(key, { token: user, payload, until: Math.min(payload.exp * 1000, now + REMEMBER_MS) });
    return user;
  }

  private async hasEnded(payload: JWTPayload): Promise<boolean> {
    return (await this.provider!.hasEnded?.(payload)) ?? false;
  }

  private async checkUserToken(token: string, now: number, deadline: number): Promise<JWTPayload | undefined> {
    for (const fresh of [false, true]) {
      const keys = await this.keys(now, deadline, fresh);
      try {
        const { payload } = await jwtVerify(token, keys, {
          algorithms: PROVIDER_SIGNATURES,
          typ: 'at+jwt',
          issuer: this.provider!.issuer,
          audience: this.audience,
          requiredClaims: ['sub', 'exp', 'iat', 'client_id'],
          clockTolerance: TOLERANCE_SECONDS,
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

  private async keys(now: number, deadline: number, fresh: boolean): Promise<KeySet> {
    try {
      return await this.provider!.keySet(now, deadline, fresh);
    } catch (error) {
      this.logger.error({ error: String(error) }, 'keys of the openid provider not available');
      throw unavailable('Service temporarily unavailable', error);
    }
  }
}
