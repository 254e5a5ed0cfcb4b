import { Inject, Injectable } from '@nestjs/common';
import { mediaTypeOf, oauthError, type AppError } from '@attestry/contracts';
import {
  AnswerTooLarge,
  CLOCK,
  DnsBudgetExceeded,
  Outbound,
  parseAnswer,
  PROVIDER_SIGNATURES,
  type OutboundAnswer,
} from '@attestry/service-kit';
import type { Clock } from '@attestry/event-store';
import { jwtVerify, type JWTPayload } from 'jose';
import type * as oidc from 'openid-client';
import { UNREACHABLE } from './provider-errors.js';
import type { SignInProvider } from './sign-in-providers.js';

/** Time for the request, milliseconds; less where the sign-in has less left. */
const REQUEST_MS = 5000;
/** Left of the sign-in for what follows, milliseconds. */
const RESERVED_MS = 1500;
const MAX_BYTES = 65_536;

/** Claims of a UserInfo response, with its JSON text; or why there are none. */
export type UserInfoClaims =
  | { claims: Record<string, unknown>; text: string }
  | {
      failure: string;
      /** A later request may succeed. */
      isTemporary: boolean;
    };

const NOT_VERIFIED = 'the answer was a JWT that could not be verified';
const TOO_LATE = `there was no answer within ${REQUEST_MS / 1000} seconds`;

class UserInfoFailed extends Error {
  override readonly name = 'UserInfoFailed';

  constructor(
    message: string,
    readonly isTemporary = false,
  ) {
    super(message);
  }
}

/**
 * UserInfo endpoint of a provider (OpenID Connect Core 1.0 §5.3), through the guarded client. The answer is JSON, or a JWT that is verified as
 * the ID token is; one that is encrypted cannot be read. Redirects are not followed, because they would take the access token elsewhere.
 */
@Injectable()
export class UserInfo {
  constructor(
    private readonly outbound: Outbound,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * @param subject of the ID token
   * @param deadline of the sign-in, milliseconds since the epoch
   * @throws AppError `server_error` for an answer without this subject (§5.3.2, §5.3.4)
   */
  async request(
    tenantId: string,
    provider: SignInProvider,
    { accessToken, subject, deadline }: { accessToken: string; subject: string; deadline: number },
  ): Promise<UserInfoClaims> {
    try {
      const endpoint = this.endpointOf(tenantId, provider.client);
      const timeoutMs = Math.min(REQUEST_MS, deadline - RESERVED_MS - Date.now());
      if (timeoutMs < 1) throw new UserInfoFailed('the sign-in had no time left for it', true);
      const answer = await this.send(tenantId, endpoint, accessToken, Math.floor(timeoutMs));
      const { claims, text, isSigned } = read(answer);
      // The subject is checked even when the signature is wrong: a response with another one is about another person.
      checkSubject(claims, subject);
      if (isSigned) await verify(answer, provider, { now: this.clock.now().getTime(), deadline });
      return { claims, text };
    } catch (error) {
      if (error instanceof UserInfoFailed) return { failure: error.message, isTemporary: error.isTemporary };
      throw error;
    }
  }

  /** Endpoint in the cached discovery document. */
  private endpointOf(tenantId: string, client: oidc.Configuration): string {
    const endpoint: unknown = client.serverMetadata().userinfo_endpoint;
    if (endpoint === undefined) throw new UserInfoFailed('the provider has no UserInfo endpoint');
    if (typeof endpoint !== 'string' || !URL.canParse(endpoint)) throw new UserInfoFailed(UNREACHABLE);
    // An authorization endpoint may have a query too (RFC 6750 §2).
    const bare = new URL(endpoint);
    bare.search = '';
    if ('fault' in this.outbound.checkUrl(bare.href, tenantId) || this.outbound.faultOfPort(tenantId, endpoint))
      throw new UserInfoFailed(UNREACHABLE);
    return endpoint;
  }

  private async send(
    tenantId: string,
    endpoint: string,
    accessToken: string,
    timeoutMs: number,
  ): Promise<OutboundAnswer> {
    try {
      return await this.outbound.send(endpoint, {
        tenantId,
        headers: { accept: 'application/json, application/jwt;q=0.9', authorization: `Bearer ${accessToken}` },
        timeoutMs,
        maxBytes: MAX_BYTES,
      });
    } catch (error) {
      if (error instanceof AnswerTooLarge) throw new UserInfoFailed('the answer has more than 64 KiB');
      if (error instanceof DnsBudgetExceeded)
        throw new UserInfoFailed('the DNS look-ups of the tenant took too long', true);
      const isLate = (error as { name?: unknown }).name === 'TimeoutError';
      throw new UserInfoFailed(isLate ? TOO_LATE : UNREACHABLE, isLate);
    }
  }
}

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

interface Read {
  claims: Record<string, unknown>;
  text: string;
  /** The response is a JWT, which is to be verified. */
  isSigned: boolean;
}

const read = ({ status, headers, body }: OutboundAnswer): Read => {
  if (REDIRECTS.includes(status)) throw new UserInfoFailed(`the answer was a redirect, status ${status}`);
  if (status !== 200) throw new UserInfoFailed(`the answer had status ${status}`, status === 429 || status >= 500);
  const type = mediaTypeOf(headers['content-type']);
  if (type === 'application/json') return { ...objectOf(body), isSigned: false };
  if (type !== 'application/jwt')
    throw new UserInfoFailed('the answer was neither application/json nor application/jwt');
  const [, payload, , ...more] = Buffer.from(body).toString('latin1').split('.');
  if (payload === undefined || more.length > 0) throw new UserInfoFailed(NOT_VERIFIED);
  return { ...objectOf(Buffer.from(payload, 'base64url')), isSigned: true };
};

const objectOf = (body: Uint8Array): Omit<Read, 'isSigned'> => {
  try {
    const value = parseAnswer(body);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { claims: value as Record<string, unknown>, text: Buffer.from(body).toString('utf8') };
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
  }
  throw new UserInfoFailed('the answer was not a JSON object');
};

/** How far the provider's clock may be from ours, seconds, as for an ID token. */
const TOLERANCE_SECONDS = 30;

/** §5.3.4: the signature by a published key of the provider, and `iss`, `aud` and times, where it has them. */
const verify = async (
  { body }: OutboundAnswer,
  { client, keys, settings }: SignInProvider,
  { now, deadline }: { now: number; deadline: number },
): Promise<void> => {
  const metadata = client.serverMetadata();
  const announced = metadata.userinfo_signing_alg_values_supported ??
    metadata.id_token_signing_alg_values_supported ?? ['RS256'];
  const token = Buffer.from(body).toString('latin1');
  const algorithms = PROVIDER_SIGNATURES.filter((name) => announced.includes(name));
  let payload: JWTPayload;
  try {
    ({ payload } = await keys.verify(now, deadline - RESERVED_MS, (set) =>
      jwtVerify(token, set, { algorithms, clockTolerance: TOLERANCE_SECONDS }),
    ));
  } catch {
    // The same error is thrown without keys: a response that cannot be verified is not used.
    throw new UserInfoFailed(NOT_VERIFIED);
  }
  const { iss, aud } = payload;
  const audiences = Array.isArray(aud) ? aud : [aud];
  if (iss !== undefined && iss !== metadata.issuer) throw new UserInfoFailed(NOT_VERIFIED);
  if (aud !== undefined && !audiences.includes(settings.clientId)) throw new UserInfoFailed(NOT_VERIFIED);
};

const checkSubject = ({ sub }: Record<string, unknown>, subject: string): void => {
  if (sub === subject) return;
  throw otherSubject(sub === undefined ? 'without sub' : 'with another sub than the ID token');
};

const otherSubject = (description: string): AppError =>
  oauthError('server_error', `the authentication provider returned a UserInfo response ${description}`, {
    check: 'user-info',
  });
