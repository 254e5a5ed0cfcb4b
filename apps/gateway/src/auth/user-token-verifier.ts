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
  type RequiredClaims,
} from '@attestry/service-kit';
import { BuiltInIssuer } from './built-in-issuer.js';
import { checkUserToken, claimRefusal } from './check-user-token.js';
import { OidcIssuer } from './oidc-issuer.js';

/** The issuer of tokens for people, and its keys. */
interface TokenIssuer {
  readonly issuer: string;
  keySet(now: number, deadline: number, fresh?: boolean): Promise<KeySet>;
  /** Whether the tokens of a grant were revoked before they expire; for an issuer that can be queried at each call. */
  hasEnded?(grantId: string): Promise<boolean>;
}

/** A token of a person that was verified. */
export interface VerifiedUserToken {
  person: PersonOfIssuer;
  /** Milliseconds since the epoch. */
  expiresAt: number;
  /** The grant of the built-in sign-in that it was issued for. */
  grantId?: string;
}

/** A verified token is accepted without checking the keys again for at most this long, milliseconds. */
const REMEMBER_MS = 60_000;
/** How far the provider's clock may be from ours, seconds. */
const TOLERANCE_SECONDS = 5;

/** Longer values are not names or addresses. */
const isClaim = (value: unknown): value is string => typeof value === 'string' && value.length <= 1000;

/** Verifies access tokens of people: those of the operator's OpenID provider, or else of the built-in sign-in (RFC 9068 §4). */
@Injectable()
export class UserTokenVerifier {
  private readonly verified = new LRUCache<string, { token: VerifiedUserToken; until: number }>({ max: 20_000 });
  private readonly provider: TokenIssuer | undefined;
  private readonly audience: string;
  private readonly requiredClaims: RequiredClaims;

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
    this.requiredClaims = config.managementOidcRequiredClaims;
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
   * `undefined` when its signature is not one of the provider, or the token was revoked.
   * @param deadline of the call that brought it, milliseconds since the epoch
   * @param beforeCheck awaited where the token is not remembered as verified
   * @throws AppError 401 that names the claim or the type for which a token of the provider is refused; 503 when the provider's keys are
   * unavailable
   */
  async verify(
    token: string,
    deadline: number,
    beforeCheck?: () => Promise<void>,
  ): Promise<VerifiedUserToken | undefined> {
    const now = this.clock.now().getTime();
    const key = createHash('sha256').update(token).digest('base64');
    const known = this.verified.get(key);
    if (known && known.until > now) return (await this.hasEnded(known.token.grantId)) ? undefined : known.token;
    await beforeCheck?.();
    const payload = await this.verifyToken(token, now, deadline);
    if (!payload) return undefined;
    const claims = checkUserToken(payload, this.requiredClaims);
    const { email, name, grant_id: grantId } = claims;
    const verified: VerifiedUserToken = {
      person: {
        issuer: claims.iss,
        subject: claims.sub,
        emailVerified: claims['email_verified'] === true,
        ...(isClaim(email) && { email }),
        ...(isClaim(name) && { name }),
      },
      expiresAt: claims.exp * 1000,
      ...(typeof grantId === 'string' && { grantId }),
    };
    if (await this.hasEnded(verified.grantId)) return undefined;
    this.verified.set(key, { token: verified, until: Math.min(verified.expiresAt, now + REMEMBER_MS) });
    return verified;
  }

  /** Whether the tokens of a grant of the built-in sign-in were revoked. */
  async hasEnded(grantId: string | undefined): Promise<boolean> {
    return grantId !== undefined && (await this.provider?.hasEnded?.(grantId)) === true;
  }

  private async verifyToken(token: string, now: number, deadline: number): Promise<JWTPayload | undefined> {
    for (const fresh of [false, true]) {
      const keys = await this.keys(now, deadline, fresh);
      try {
        const { payload } = await jwtVerify(token, keys, {
          algorithms: PROVIDER_SIGNATURES,
          // It distinguishes an access token from an ID token, whose audience is a client in any case (RFC 9068 §2.1).
          typ: 'at+jwt',
          issuer: this.provider!.issuer,
          audience: this.audience,
          requiredClaims: ['sub', 'exp', 'iat'],
          clockTolerance: TOLERANCE_SECONDS,
          currentDate: new Date(now),
        });
        return payload;
      } catch (error) {
        if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired)
          throw claimRefusal(error, this.audience);
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
