import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DnsBudgetExceeded, Outbound } from '@attestry/service-kit';
import { GuardedExchange } from './guarded-exchange.js';
import { SourceFailed } from './source-exchange.js';
import { SourceTokens } from './source-tokens.js';

let server: Server;
let port: number;
let requests = 0;
beforeAll(async () => {
  server = createServer((_request, response) => {
    requests += 1;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"access_token":"t","token_type":"Bearer","expires_in":60}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  requests = 0;
});

/** An exchange whose look-ups have these answers, one after the other. */
const exchangeWith = (allowPrivate: boolean, ...answers: (string[] | Error)[]) => {
  const looked: string[] = [];
  const addresses = async (tenantId: string, host: string) => {
    looked.push(`${tenantId} ${host}`);
    const answer = answers[Math.min(looked.length, answers.length) - 1]!;
    if (answer instanceof Error) throw answer;
    return answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
  const outbound = new Outbound(allowPrivate, { addresses });
  return { exchange: new GuardedExchange(outbound), outbound, looked };
};
const failureOf = async (exchange: GuardedExchange, url: string): Promise<string> => {
  try {
    await exchange.send('t1', { url, method: 'GET' }, 1000);
    return 'nothing';
  } catch (error) {
    expect(error).toBeInstanceOf(SourceFailed);
    return (error as SourceFailed).message;
  }
};

describe('an exchange with a claims source [T414]', () => {
  it.each([['127.0.0.1'], ['10.0.0.8'], ['169.254.169.254'], ['::1'], ['::ffff:127.0.0.1'], ['fd00::1']])(
    'is not made with %s, whatever name leads there',
    async (address) => {
      const { exchange, outbound, looked } = exchangeWith(false, [address]);
      expect(await failureOf(exchange, `https://source.example.com:${port}/`)).toBe('the address is not public');
      expect([looked, requests]).toEqual([['t1 source.example.com'], 0]);
      await outbound.close();
    },
  );

  it('is not made after a name was bound to another address', async () => {
    const { exchange, outbound } = exchangeWith(false, ['192.0.2.1'], ['127.0.0.1'], ['8.8.8.8', '127.0.0.1']);
    // Reserved for documentation (RFC 5737), and then the address of this machine.
    for (const _ of [1, 2])
      expect(await failureOf(exchange, `https://source.example.com:${port}/`)).toBe('the address is not public');
    expect(requests).toBe(0);
    await outbound.close();
  });

  it.each(['http://source.example.com/', 'https://127.0.0.1/', 'https://[::1]/'])(
    'is not made with %s, if it was stored while such addresses were allowed',
    async (url) => {
      const { exchange, outbound, looked } = exchangeWith(false, ['8.8.8.8']);
      expect([await failureOf(exchange, url), looked]).toEqual(['the address is not public', []]);
      await outbound.close();
    },
  );

  it('counts toward the DNS budget of the tenant, and names no host in its reason', async () => {
    const { exchange, outbound } = exchangeWith(
      true,
      new DnsBudgetExceeded('secret.internal', 1),
      Object.assign(new Error('queryA ENOTFOUND secret.internal'), { code: 'ENOTFOUND' }),
      new Error('secret.internal'),
    );
    const reasons = [];
    for (const _ of [1, 2, 3]) reasons.push(await failureOf(exchange, 'http://source.example.com/'));
    expect(reasons).toEqual([
      'the DNS look-ups of the tenant took too long',
      'the connection failed: ENOTFOUND',
      'the connection failed',
    ]);
    await outbound.close();
  });
});

describe('access tokens of claims sources [T415]', () => {
  it('are fetched once for concurrent requests, and again for other settings, tenants and after they expired', async () => {
    let now = Date.now();
    const { exchange, outbound } = exchangeWith(true, ['127.0.0.1']);
    const tokens = new SourceTokens(exchange, { now: () => new Date(now) });
    const authorization = {
      type: 'oauth-client-credentials' as const,
      ...{ tokenEndpoint: `http://login.example.com:${port}/`, clientId: 'c', sealedSecret: 'v1' },
      tokenEndpointAuthMethod: 'client_secret_basic' as const,
    };
    const get = (tenantId = 't1', more: object = {}) =>
      tokens.authorize(tenantId, { ...authorization, ...more }, 'secret');
    expect(await Promise.all([get(), get(), get()])).toEqual(Array(3).fill('Bearer t'));
    await get();
    expect(requests).toBe(1);
    await get('t2');
    await get('t1', { sealedSecret: 'v2' });
    await get('t1', { scope: 'more' });
    expect(requests).toBe(4);
    now += 50_000;
    await get();
    expect(requests).toBe(5);
    tokens.forget('t1', authorization);
    await get();
    await get();
    expect(requests).toBe(6);
    await outbound.close();
  });

  it('are requested again after a failure', async () => {
    const { exchange, outbound } = exchangeWith(true, new Error('x'), ['127.0.0.1']);
    const tokens = new SourceTokens(exchange, { now: () => new Date() });
    const authorization = {
      type: 'oauth-client-credentials' as const,
      ...{ tokenEndpoint: `http://login.example.com:${port}/`, clientId: 'c', sealedSecret: 'v1' },
      tokenEndpointAuthMethod: 'client_secret_post' as const,
    };
    const get = () => tokens.authorize('t1', authorization, 'secret');
    const failed = await Promise.allSettled([get(), get()]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await get()).toBe('Bearer t');
    await outbound.close();
  });
});
