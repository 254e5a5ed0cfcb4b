import type { RequestListener, Server, ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Metrics } from '@attestry/service-kit';
import { createGatewayServer } from './create-gateway-server.js';

const LIMITS = {
  publicScheme: 'https' as const,
  requestTimeoutMs: 30_000,
  maxConnections: 100,
  maxConnectionsPerPeer: 50,
  trustedProxies: [] as string[],
};

const GET = 'GET / HTTP/1.1\r\nHost: a.example\r\n\r\n';
const TUNNEL = 'CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n';

let server: Server;
let metrics: Metrics;
const sockets: Socket[] = [];

const listen = async (over: Partial<typeof LIMITS>, listener: RequestListener = (_request, answer) => answer.end()) => {
  metrics = new Metrics('gateway');
  server = createGatewayServer({ ...LIMITS, ...over }, metrics, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
};
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

interface Peer {
  socket: Socket;
  text: () => string;
  closed: Promise<number>;
}
/** @param localAddress the peer address for the server */
const open = async (localAddress = '127.0.0.1'): Promise<Peer> => {
  const { port } = server.address() as AddressInfo;
  const begun = performance.now();
  const socket = connect({ host: '127.0.0.1', port, localAddress });
  sockets.push(socket);
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  socket.on('error', () => undefined);
  const closed = new Promise<number>((resolve) => socket.once('close', () => resolve(performance.now() - begun)));
  await new Promise((resolve) => socket.once('connect', resolve));
  return { socket, text: () => text, closed };
};
const isOpen = async ({ socket, text }: Peer): Promise<boolean> => {
  socket.write('GET / HTTP/1.1\r\nHost: a.example\r\n\r\n');
  for (let n = 0; n < 200 && !text().includes('200 OK') && !socket.destroyed; n++) await pause(10);
  return text().includes('200 OK');
};
const count = async (name: string): Promise<number> => {
  const line = (await metrics.text()).split('\n').find((text) => text.startsWith(`${name} `));
  return Number(line?.split(' ').at(-1) ?? 0);
};

describe('requests in flight', () => {
  it('are counted until they are answered or their connection ends', async () => {
    const answers: ServerResponse[] = [];
    await listen({}, (_request, answer) => void answers.push(answer));
    const inFlight = () => count('attestry_http_requests_in_flight');
    expect(await inFlight()).toBe(0);
    const waiting = [await open(), await open()];
    for (const { socket } of waiting) socket.write(GET);
    while ((await inFlight()) < 2) await pause(10);
    answers[0]!.end();
    while ((await inFlight()) > 1) await pause(10);
    for (const { socket } of waiting) socket.destroy();
    while ((await inFlight()) > 0) await pause(10);
  });
});

describe('connections', () => {
  it('of one peer are limited; those of other peers and closed ones are not counted', async () => {
    await listen({ maxConnectionsPerPeer: 3 });
    const peers = [await open(), await open(), await open()];
    for (const peer of peers) expect(await isOpen(peer)).toBe(true);
    const fourth = await open();
    await fourth.closed;
    expect(fourth.text()).toBe('');
    expect(await isOpen(await open('127.0.0.2'))).toBe(true);
    expect(await count('attestry_http_refused_total{reason="connections-of-peer"}')).toBe(1);
    expect(await count('attestry_http_connections')).toBe(4);
    peers[0]!.socket.destroy();
    while ((await count('attestry_http_connections')) > 3) await pause(10);
    expect(await isOpen(await open())).toBe(true);
  });

  it('of a trusted proxy are limited only by the total', async () => {
    await listen({ maxConnections: 5, maxConnectionsPerPeer: 2, trustedProxies: ['127.0.0.1'] });
    for (let n = 0; n < 5; n++) expect(await isOpen(await open())).toBe(true);
    const sixth = await open();
    await sixth.closed;
    expect(await count('attestry_http_refused_total{reason="connections"}')).toBe(1);
  });

  it('of the peer with the most are closed when another peer connects', async () => {
    await listen({ maxConnections: 4, maxConnectionsPerPeer: 3 });
    const many = [await open('127.0.0.2'), await open('127.0.0.2'), await open('127.0.0.2')];
    for (const peer of many) expect(await isOpen(peer)).toBe(true);
    expect(await isOpen(await open('127.0.0.3'))).toBe(true);
    expect(await isOpen(await open('127.0.0.4'))).toBe(true);
    await many[0]!.closed;
    expect(await isOpen(await open('127.0.0.5'))).toBe(true);
    // Now each has one, and none has to give way.
    await (
      await open('127.0.0.6')
    ).closed;
    expect(many.filter(({ socket }) => !socket.destroyed)).toHaveLength(1);
  });

  it('whose request has arrived are not closed for other peers', async () => {
    await listen({ maxConnections: 2, maxConnectionsPerPeer: 2 }, () => undefined);
    const busy = [await open('127.0.0.2'), await open('127.0.0.2')];
    for (const { socket } of busy) socket.write('GET / HTTP/1.1\r\nHost: a.example\r\n\r\n');
    await pause(100);
    await (
      await open('127.0.0.3')
    ).closed;
    expect(busy.filter(({ socket }) => !socket.destroyed)).toHaveLength(2);
  });
});

describe('responses that are not read', () => {
  /** More than the buffers of both kernels hold. */
  const LARGE = Buffer.alloc(32 * 1024 * 1024, 'x');
  const GET_LARGE = 'GET /large HTTP/1.1\r\nHost: a.example\r\n\r\n';
  const large: RequestListener = (request, answer) => void answer.end(request.url === '/large' ? LARGE : undefined);
  const unread = async (address?: string): Promise<Peer> => {
    const peer = await open(address);
    peer.socket.pause();
    peer.socket.write(GET_LARGE.repeat(5));
    return peer;
  };

  it('are ended when another peer connects', async () => {
    await listen({ maxConnections: 2, maxConnectionsPerPeer: 2 }, large);
    await unread('127.0.0.2');
    await unread('127.0.0.2');
    await pause(200);
    expect(await isOpen(await open('127.0.0.3'))).toBe(true);
    expect(await count('attestry_http_refused_total{reason="connections"}')).toBe(1);
  });
});

describe('requests that take too long to arrive', () => {
  it.each([
    ['no bytes', ''],
    ['half of the header', 'GET / HTTP/1.1\r\nHost: a.exa'],
  ])('after %s, get a 408 with a request id, and the connection is closed', async (_what, text) => {
    await listen({ requestTimeoutMs: 400 });
    const peer = await open();
    peer.socket.write(text);
    expect(await peer.closed).toBeLessThan(5000);
    expect(peer.text()).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\nx-request-id: [0-9A-Za-z]{22}\r\n/);
    expect(await count('attestry_http_refused_total{reason="timeout"}')).toBe(1);
  });

  it('headers that arrive byte by byte are ended too', async () => {
    await listen({ requestTimeoutMs: 400 });
    const peer = await open();
    peer.socket.write('GET / HTTP/1.1\r\nHost: a.example\r\n');
    const drops = setInterval(() => peer.socket.write('x: y\r\n'), 50);
    expect(await peer.closed).toBeLessThan(5000);
    clearInterval(drops);
  });

  it('do not close an idle connection', async () => {
    await listen({ requestTimeoutMs: 300 });
    const peer = await open();
    expect(await isOpen(peer)).toBe(true);
    await pause(1500);
    expect(peer.socket.destroyed).toBe(false);
  });
});

describe('invalid requests', () => {
  const answerTo = async (bytes: string | Buffer): Promise<string> => {
    const peer = await open();
    peer.socket.write(bytes);
    await peer.closed;
    return peer.text();
  };

  it.each([
    ['a request with an unknown method', 'FROB / HTTP/1.1\r\nHost: a.example\r\n\r\n', 405],
    ['a CONNECT request', 'CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n', 405],
    ['text that is not HTTP', 'GARBAGE\r\n\r\n', 400],
    ['a TLS handshake', Buffer.from('16030100a5010000a10303', 'hex'), 400],
    [
      'a request with two Content-Length fields',
      'POST / HTTP/1.1\r\nHost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
      400,
    ],
    ['an unknown expectation', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n', 417],
  ])(
    '%s is answered without content, with a request id, and the connection is closed',
    async (_what, bytes, status) => {
      await listen({});
      const text = await answerTo(bytes);
      expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(text).toMatch(/\r\nx-request-id: [0-9A-Za-z]{22}\r\n/);
      expect(text).toMatch(/\r\ncontent-length: 0\r\n/);
      expect(text).toMatch(/\r\nx-content-type-options: nosniff\r\n/);
      expect(text).toMatch(/\r\nstrict-transport-security: max-age=31536000\r\n/);
      expect(text.endsWith('\r\n\r\n')).toBe(true);
      expect(/\r\nallow: /.test(text)).toBe(status === 405);
    },
  );

  it('a header over the size limit is answered with a body that has the members of every error shape [T805]', async () => {
    await listen({});
    const text = await answerTo(`GET / HTTP/1.1\r\nHost: a\r\nx: ${'y'.repeat(50_000)}\r\n\r\n`);
    const [head, body] = text.split('\r\n\r\n') as [string, string];
    expect(head).toMatch(/^HTTP\/1\.1 431 /);
    expect(head).toMatch(/\r\nx-request-id: [0-9A-Za-z]{22}\r\n/);
    expect(head).toMatch(/\r\ncontent-type: application\/json; charset=utf-8\r\n/);
    expect(head).toContain(`\r\ncontent-length: ${body.length}\r\n`);
    const message = 'Request Header Fields Too Large: all headers together must have at most 49152 bytes';
    expect(JSON.parse(body)).toEqual({
      ...{ code: 'RequestHeaderFieldsTooLarge', type: 'HeaderError', message, details: [] },
      ...{ error: 'invalid_request', error_description: message },
    });
  });

  it('an expectation after an unanswered request: 417 after the first response', async () => {
    await listen({}, (_request, answer) => void setTimeout(() => answer.end('first'), 50));
    const text = await answerTo(`${GET}GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\nfirstHTTP\/1\.1 417 /);
    expect(text.split('firstHTTP')[1]).toMatch(/\r\nx-request-id: [0-9A-Za-z]{22}\r\n/);
    expect(await count('attestry_http_refused_total{reason="malformed"}')).toBe(1);
  });

  it('an upgrade is a request like any other (RFC 9110 §7.8)', async () => {
    await listen({});
    const peer = await open();
    peer.socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade, close\r\nUpgrade: websocket\r\n\r\n');
    await peer.closed;
    expect(peer.text()).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([
    ['text that is not HTTP', 'GARBAGE\r\n\r\n'],
    ['a CONNECT request', TUNNEL],
  ])(
    '%s: its error is never sent as the response to a previous request, and the connection is closed',
    async (_what, bytes) => {
      let closed = 0;
      await listen({}, (_request, answer) => void answer.once('close', () => closed++));
      expect(await answerTo(GET + GET + GET + bytes)).toBe('');
      for (let n = 0; n < 100 && closed < 3; n++) await pause(10);
      expect(closed).toBe(3);
    },
  );
});

describe('a client that resets its connection', () => {
  // A listener that throws, and an `error` event without a listener, end the process.
  const errors: unknown[] = [];
  const record = (error: unknown) => void errors.push(error);
  beforeEach(() => {
    errors.length = 0;
    process.on('uncaughtExceptionMonitor', record);
  });
  afterEach(() => void process.off('uncaughtExceptionMonitor', record));

  it.each([
    ['a CONNECT request', TUNNEL],
    ['an unknown expectation', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n'],
    ['an upgrade request', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'],
    ['a request with an unknown method', 'FROB / HTTP/1.1\r\nHost: a.example\r\n\r\n'],
    ['text that is not HTTP', 'GARBAGE\r\n\r\n'],
    ['a header over the size limit', `GET / HTTP/1.1\r\nHost: a\r\nx: ${'y'.repeat(50_000)}\r\n\r\n`],
  ])('after %s, with and without unanswered requests before it, does not end the process', async (_what, bytes) => {
    await listen({ maxConnections: 1000, maxConnectionsPerPeer: 1000 }, (_request, answer) => {
      setImmediate(() => answer.end('x'.repeat(1000)));
    });
    for (let n = 0; n < 300; n++) {
      const { socket } = await open();
      socket.write((n % 2 ? GET + GET : '') + bytes);
      if (n % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
      socket.resetAndDestroy();
    }
    await pause(50);
    expect(errors).toEqual([]);
    expect(await isOpen(await open())).toBe(true);
  });
});
