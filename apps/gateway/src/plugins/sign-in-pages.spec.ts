import { EventEmitter } from 'node:events';
import { ReleaseIssuerKeyRequest, type Operation } from '@attestry/contracts';
import { SignInRegistry, type SignIn, type SignInCall } from '@attestry/service-kit';
import {
  errorOf,
  EXCEEDED,
  exchangeOf,
  operationOf,
  ratesOf,
  recordsOf,
  replyOf,
  unread,
} from '../pipeline/exchange.spec-fixture.js';
import { passes } from './plugins.spec-fixture.js';
import { SignInPages } from './sign-in-pages.js';

const AUTH = { api: 'auth' as const, publicUrl: 'https://auth.example' };
const config = { signInIssuer: 'https://auth.example/sign-in', publicScheme: 'https' };

class RawResponse extends EventEmitter {
  readonly headers: Record<string, unknown> = {};
  setHeader(name: string, value: unknown): void {
    this.headers[name] = value;
  }
}
const visit = async (url: string, { host = AUTH, limits = ratesOf(), offered = true } = {}) => {
  const visits: { visit: SignInCall; headers: object }[] = [];
  const calls: unknown[] = [];
  const signIns = new SignInRegistry();
  const handle: SignIn['handle'] = async (request, _response, made) =>
    void visits.push({ visit: made, headers: { ...request.headers } });
  if (offered) signIns.offer({ handle } as SignIn);
  const call = async (operation: Operation, request: unknown, context: unknown, isChecked: boolean) => {
    calls.push(operation.name, context, request, isChecked);
    return 'done';
  };
  const health = { isClosing: false };
  const { used } = recordsOf();
  const deps = { ...(used as object), config, rates: limits.rates, health, unread, services: { call } } as never;
  const directory = { userOf: async () => 'u1' } as never;
  const exchange = exchangeOf({ url }, {}, { host });
  const raw = new RawResponse();
  const reply = Object.assign(replyOf(exchange), {
    raw,
    getHeaders: () => replyOf(exchange).kept,
    hijack: () => undefined,
  });
  exchange.request.raw.headers['x-forwarded-host'] = 'evil.example';
  await passes(new SignInPages(deps, signIns, directory).plugin, exchange);
  return { visits, calls, raw, reply };
};

describe('the pages of the sign-in', () => {
  it.each(['/sign-in', '/sign-in/login?x=1'])('serve %s as the configured host', async (url) => {
    const limits = ratesOf();
    const { visits, raw } = await visit(url, { limits });
    expect(visits).toHaveLength(1);
    expect(visits[0]).toMatchObject({
      visit: { requestId: 'r1', address: '192.0.2.1' },
      headers: { host: 'auth.example', 'x-forwarded-proto': 'https' },
    });
    expect(visits[0]!.headers).not.toHaveProperty('x-forwarded-host');
    expect(raw.headers).toMatchObject({ 'x-request-id': 'r1', 'x-ratelimit-limit': 10 });
    expect(limits.calls).toHaveLength(1);
  });

  it('call operations as the user that signed in', async () => {
    const { visits, calls } = await visit('/sign-in');
    const id = '11111111-1111-4111-8111-111111111111';
    const release = { tenantId: id, did: 'did:web:a.example', configurationId: id };
    const result = await visits[0]!.visit.call({} as never, operationOf({ body: ReleaseIssuerKeyRequest }), release);
    const request = { params: {}, query: {}, body: release };
    expect(result).toBe('done');
    expect(calls).toEqual([
      'dids.list-dids',
      expect.objectContaining({ caller: { kind: 'user', userId: 'u1' } }),
      request,
      true,
    ]);
  });

  it('are limited as public calls, and their query is UTF-8', async () => {
    expect((await errorOf(() => visit('/sign-in', { limits: ratesOf(EXCEEDED) }))).kind).toBe('tooManyRequests');
    expect((await errorOf(() => visit('/sign-in?a=%ff'))).kind).toBe('invalid');
  });

  it.each([
    ['at another path', '/sign-inn', {}],
    ['on another host', '/sign-in', { host: { ...AUTH, publicUrl: 'https://auth.other.example' } }],
    ['by a process without a sign-in', '/sign-in', { offered: false }],
  ])('are not served %s', async (_what, url, options) => {
    const limits = ratesOf();
    expect((await visit(url, { ...options, limits })).visits).toEqual([]);
    expect(limits.calls).toEqual([]);
  });
});
