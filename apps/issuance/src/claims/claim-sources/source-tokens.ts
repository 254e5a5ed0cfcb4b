import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@attestry/event-store';
import { CLOCK } from '@attestry/service-kit';
import { LRUCache } from 'lru-cache';
import type { SourceAuthorization } from './claim-sources.events.js';
import { GuardedExchange } from './guarded-exchange.js';
import { jsonObjectOf, SourceFailed } from './source-exchange.js';

type OAuthAuthorization = Extract<SourceAuthorization, { type: 'oauth-client-credentials' }>;

const MAX_TOKEN_ANSWER_BYTES = 65_536;
const MAX_TOKEN = 8192;
/** A token is not used for longer, so that a token of a client that was withdrawn is not used for days. */
const MAX_AGE_SECONDS = 3600;
/** A token that expires sooner is not used: it must be valid when it arrives. */
const LEEWAY_SECONDS = 10;

interface Token {
  /** `Authorization` */
  header: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** Access tokens for sources (RFC 6749 §4.4), in memory only; concurrent requests for one share it. */
@Injectable()
export class SourceTokens {
  /** By {@link keyOf}: with other settings or another secret a token is not found. */
  private readonly tokens = new LRUCache<string, Token>({ max: 1000 });
  private readonly requested = new Map<string, Promise<Token>>();

  constructor(
    private readonly exchange: GuardedExchange,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Value of `Authorization`. @throws SourceFailed */
  async authorize(tenantId: string, authorization: OAuthAuthorization, secret: string): Promise<string> {
    const key = keyOf(tenantId, authorization);
    const known = this.tokens.get(key);
    if (known && known.expiresAt > this.clock.now().getTime()) return known.header;
    let request = this.requested.get(key);
    if (!request) {
      request = this.request(tenantId, authorization, secret);
      this.requested.set(key, request);
      const end = () => this.requested.delete(key);
      request.then((token) => {
        this.tokens.set(key, token);
        end();
      }, end);
    }
    return (await request).header;
  }

  /** The source refused it: the next request gets another one. */
  forget(tenantId: string, authorization: OAuthAuthorization): void {
    this.tokens.delete(keyOf(tenantId, authorization));
  }

  private async request(tenantId: string, authorization: OAuthAuthorization, secret: string): Promise<Token> {
    const answer = await this.exchange.send(tenantId, tokenRequest(authorization, secret), MAX_TOKEN_ANSWER_BYTES);
    if (answer.status !== 200) throw new SourceFailed(`the status of the token endpoint is ${answer.status}`);
    return tokenOf(jsonObjectOf(answer), this.clock.now());
  }
}

const keyOf = (tenantId: string, authorization: OAuthAuthorization): string =>
  JSON.stringify([tenantId, authorization]);

/** RFC 6749 §2.3.1: form-encoded before it is base64. */
const formEncoded = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);

const tokenRequest = (
  { tokenEndpoint, clientId, scope, audience, tokenEndpointAuthMethod }: OAuthAuthorization,
  secret: string,
) => {
  const isBasic = tokenEndpointAuthMethod === 'client_secret_basic';
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    ...(scope !== undefined && { scope }),
    ...(audience !== undefined && { audience }),
    ...(!isBasic && { client_id: clientId, client_secret: secret }),
  });
  const basic = Buffer.from(`${formEncoded(clientId)}:${formEncoded(secret)}`).toString('base64');
  return {
    url: tokenEndpoint,
    method: 'POST' as const,
    headers: {
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      ...(isBasic && { authorization: `Basic ${basic}` }),
    },
    body: form.toString(),
  };
};

/** RFC 6749 §5.1. One without `expires_in` is used once. @throws SourceFailed */
export const tokenOf = (answer: Record<string, unknown>, now: Date): Token => {
  const { access_token: token, token_type: type, expires_in: expiresIn } = answer;
  if (typeof token !== 'string' || token.length > MAX_TOKEN || !/^[\x21-\x7e]+$/.test(token))
    throw new SourceFailed('the token endpoint returned no usable access_token');
  // RFC 9110 §5.6.2: the name of an authentication scheme.
  if (typeof type !== 'string' || !/^[\w!#$%&'*+.^`|~-]{1,64}$/.test(type))
    throw new SourceFailed('the token endpoint returned no usable token_type');
  const seconds = typeof expiresIn === 'number' && expiresIn > 0 ? Math.min(expiresIn, MAX_AGE_SECONDS) : 0;
  return { header: `${type} ${token}`, expiresAt: now.getTime() + (seconds - LEEWAY_SECONDS) * 1000 };
};
