import { oauthError, TOKEN_EXCHANGE } from '@attestry/contracts';
import type { TokenSubject } from '../auth/authenticate.js';
import { errorOf, EXCEEDED, exchangeOf, rate, ratesOf } from './exchange.spec-fixture.js';
import { identifySubject, isTokenExchange } from './identify-subject.js';

class Body {}
const FORM = 'application/x-www-form-urlencoded';
const auth = { api: 'auth' as const, publicUrl: 'https://auth.example' };
const config = {
  publicScheme: 'https',
  environments: [{ domain: 'example', authorizationServerDomain: 'auth.example' }],
} as never;
const good = {
  grant_type: TOKEN_EXCHANGE,
  subject_token: 'a.b.c',
  subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  audience: 'https://acme.example',
};
const tokenCall = (body: string, type = FORM, host: object = auth) =>
  exchangeOf(
    { method: 'POST', headers: { 'content-type': type }, body },
    {
      http: { method: 'POST', path: '/oauth/token', success: 200, body: 'json-or-form' },
      rate: 'client-token',
      body: Body,
    },
    { host: host as never },
  );
const form = (members: Record<string, string> = good) => new URLSearchParams(members).toString();

/** @param refusal of the subject token */
const used = (state = rate(), refusal?: Error) => {
  const { rates, calls } = ratesOf(state);
  const asked: unknown[] = [];
  const subject = async (...args: unknown[]): Promise<TokenSubject> => {
    await (args[2] as () => Promise<void>)();
    asked.push(...args.slice(0, 2));
    if (refusal) throw refusal;
    return { userId: 'u', expiresAt: 7000 };
  };
  return { deps: { authenticate: { subject } as never, rates, config }, calls, asked };
};

describe('the subject of a token call', () => {
  it('is the person whose token is exchanged, counted for that person', async () => {
    const exchange = tokenCall(form());
    const { deps, calls, asked } = used();
    expect(isTokenExchange(exchange)).toBe(true);
    await identifySubject(exchange, deps);
    expect(exchange.subject).toEqual({ userId: 'u', expiresAt: 7000, audience: 'https://acme.example' });
    expect(exchange.tokenClientId).toBe('user:u');
    expect(asked).toEqual(['a.b.c', exchange.deadline]);
    expect(calls).toEqual([
      ['publicCalls', '192.0.2.1'],
      ['tokenCalls', 'user:u'],
    ]);
  });

  it('is none of a call with another grant type, or without one', async () => {
    for (const body of ['{"grant_type":"client_credentials"}', '{}', 'null', `{"grant_type":["${TOKEN_EXCHANGE}"]}`]) {
      const exchange = tokenCall(body, 'application/json');
      const { deps, calls } = used();
      await identifySubject(exchange, deps);
      expect([exchange.subject, calls]).toEqual([undefined, []]);
    }
  });

  it('is not read beyond the public limit of the address, and refused beyond the limit of the person', async () => {
    const { deps, asked } = used(EXCEEDED);
    expect((await errorOf(() => identifySubject(tokenCall(form()), deps))).kind).toBe('tooManyRequests');
    expect(asked).toEqual([]);
    const exchange = tokenCall(form());
    const { rates } = ratesOf(EXCEEDED);
    const authenticate = { subject: async () => ({ userId: 'u', expiresAt: 7000 }) } as never;
    const error = await errorOf(() => identifySubject(exchange, { authenticate, rates, config }));
    expect([error.kind, exchange.subject]).toEqual(['tooManyRequests', undefined]);
  });

  it('is refused with its reason, and named in no limit', async () => {
    const exchange = tokenCall(form());
    const { deps } = used(rate(), oauthError('invalid_request', 'no'));
    expect((await errorOf(() => identifySubject(exchange, deps))).message).toBe('no');
    expect([exchange.subject, exchange.tokenClientId]).toEqual([undefined, undefined]);
  });

  it('is read at an authorization host and from a form only', async () => {
    const { deps, asked } = used();
    const management = { api: 'management' as const, publicUrl: 'https://management.example' };
    const elsewhere = await errorOf(() => identifySubject(tokenCall(form(), FORM, management), deps));
    expect([elsewhere.code, elsewhere.message]).toEqual([
      'unsupported_grant_type',
      'Tokens are exchanged at an authorization host: https://auth.example/oauth/token',
    ]);
    const json = await errorOf(() => identifySubject(tokenCall(JSON.stringify(good), 'application/json'), deps));
    expect([json.code, json.message]).toEqual([
      'invalid_request',
      'A token exchange must be sent as application/x-www-form-urlencoded',
    ]);
    expect(asked).toEqual([]);
  });
});
