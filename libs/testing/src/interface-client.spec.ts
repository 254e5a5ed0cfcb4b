import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TenantApi } from './tenant-api.js';

const headers = {
  'content-type': 'application/json',
  'x-request-id': 'abcdefghijklmnopqrstuv',
  'x-ratelimit-limit': '1',
  'x-ratelimit-remaining': '0',
  'x-ratelimit-reset': '1',
};
/** The next response. */
let next: { status: number; text: string; headers?: Record<string, string> };
let seen: Pick<IncomingMessage, 'method' | 'url' | 'headers'> & { body: string };
const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (part: string) => (body += part));
  request.on('end', () => {
    seen = { method: request.method!, url: request.url!, headers: request.headers, body };
    response.writeHead(next.status, next.headers ?? headers).end(next.text);
  });
});
let api: TenantApi;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  api = new TenantApi(`http://acme.localhost:${(server.address() as AddressInfo).port}`, 'the-token');
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe('a call through the types of the interface definition', () => {
  it('sends its body as JSON with the token of the client', async () => {
    next = { status: 201, text: '{"did":"did:key:z6Mk"}' };
    const answer = await api.dids.create({ method: 'key', options: { keyType: 'P-256' } });
    expect(seen).toMatchObject({
      method: 'POST',
      url: '/v1/dids',
      body: '{"method":"key","options":{"keyType":"P-256"}}',
      headers: { authorization: 'Bearer the-token', 'content-type': 'application/json' },
    });
    expect(seen.headers.host).toMatch(/^acme\.localhost:/);
    expect(answer).toMatchObject({ status: 201, body: { did: 'did:key:z6Mk' }, text: next.text });
  });

  it('encodes path parameters and repeats lists in the query', async () => {
    next = { status: 200, text: '{}' };
    await api.dids.retrieve('did:web:a.example%3A3000:x/y');
    expect(seen).toMatchObject({ method: 'GET', url: '/v1/dids/did%3Aweb%3Aa.example%253A3000%3Ax%2Fy', body: '' });
    await api.analytics.list({ limit: 5, types: ['A', 'B'] });
    expect(seen.url).toBe('/v1/events?limit=5&types=A&types=B');
  });

  it('returns any status, with text or without a body', async () => {
    next = { status: 204, text: '' };
    expect(await api.users.delete('x')).toMatchObject({ status: 204, body: undefined, text: '' });
    next = { status: 502, text: 'Bad Gateway', headers: { ...headers, 'content-type': 'text/plain' } };
    expect(await api.users.list()).toMatchObject({ status: 502, body: 'Bad Gateway' });
    next = { status: 400, text: '{"code":"BadRequest"}' };
    expect((await api.users.list()).body).toEqual({ code: 'BadRequest' });
  });

  it('fails when a response lacks a header that every response must have', async () => {
    next = { status: 200, text: '{}', headers: {} };
    await expect(api.users.list()).rejects.toThrow('x-request-id');
  });
});
