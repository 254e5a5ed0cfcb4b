import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '@attestry/contracts';
import { Metrics, parseConfig, type PlatformConfig } from '@attestry/service-kit';
import { UnreadAnswers } from './unread-answers.js';

const MIB = 1_048_576;
/** More than the buffers of both kernels hold. */
const LARGE = Buffer.alloc(32 * MIB, 'x');

let server: Server;
let metrics: Metrics;
let unread: UnreadAnswers;
const sockets: Socket[] = [];

/** Answers `/<bytes>` with as many, counted for the address in the header `address`; a request that is refused gets a 429. */
const listen = async (over: Partial<PlatformConfig> = {}) => {
  metrics = new Metrics('gateway');
  unread = new UnreadAnswers({ ...parseConfig({ DATA_DIR: 'unused' }), ...over } as PlatformConfig, metrics);
  server = createServer(async (request, response) => {
    const address = String(request.headers['address'] ?? request.socket.remoteAddress);
    const send = (status: number, body: Buffer) => {
      response.statusCode = status;
      unread.add(address, response, body.length);
      response.end(body);
    };
    try {
      await unread.check(address);
      send(200, LARGE.subarray(0, Number(request.url!.slice(1))));
    } catch (error) {
      send((error as AppError).kind === 'tooManyRequests' ? 429 : 500, Buffer.from((error as AppError).message));
    }
  });
  unread.watch(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
};
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

const open = async (): Promise<Socket> => {
  const socket = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  sockets.push(socket);
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('connect', resolve));
  return socket;
};
const get = (bytes: number, address: string) => `GET /${bytes} HTTP/1.1\r\nHost: a\r\naddress: ${address}\r\n\r\n`;
/** Asks and reads nothing. */
const ask = async (bytes: number, address: string): Promise<Socket> => {
  const socket = await open();
  socket.pause();
  const answered = new Promise((resolve) => server.once('request', resolve));
  socket.write(get(bytes, address));
  await answered;
  await pause(20);
  return socket;
};
/** Status and bytes of an answer that is read at once. */
const read = async (bytes: number, address: string): Promise<[status: number, bytes: number]> => {
  const socket = await open();
  socket.write(get(bytes, address));
  const { promise, resolve } = Promise.withResolvers<[status: number, bytes: number]>();
  let head = '';
  let length = 0;
  socket.on('data', (chunk: Buffer) => {
    head ||= chunk.toString('latin1', 0, 200);
    length += chunk.length;
    const body = length - head.indexOf('\r\n\r\n') - 4;
    if (body >= Number(/content-length: (\d+)/i.exec(head)?.[1])) resolve([Number(head.split(' ')[1]), body]);
  });
  return promise;
};
const metric = async (name: string): Promise<number> => {
  const line = (await metrics.text()).split('\n').find((text) => text.startsWith(`${name} `));
  return Number(line?.split(' ').at(-1) ?? 0);
};
const refused = (reason: string) => metric(`attestry_http_refused_total{reason="${reason}"}`);
const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()));
/** A paused socket does not notice its end. */
const openConnections = () =>
  new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));
const until = async (isTrue: () => Promise<boolean>): Promise<void> => {
  const begun = performance.now();
  while (!(await isTrue()) && performance.now() - begun < 10_000) await pause(20);
  expect(await isTrue()).toBe(true);
};

describe('answers that are not read', () => {
  it('are ended when the client has taken no byte for the time', async () => {
    await listen({ unreadTimeoutMs: 600 });
    const begun = performance.now();
    await Promise.all([ask(LARGE.length, '192.0.2.1'), ask(LARGE.length, '192.0.2.2')]);
    expect(await metric('attestry_http_unread_bytes')).toBeGreaterThan(LARGE.length);
    await until(async () => (await openConnections()) === 0);
    expect(performance.now() - begun).toBeGreaterThan(550);
    expect(await refused('timeout')).toBe(2);
    expect(await metric('attestry_http_unread_bytes')).toBe(0);
  });

  it('are ended too when the kernel has taken all of them', async () => {
    await listen({ unreadTimeoutMs: 600 });
    if (!existsSync('/proc/net/tcp')) return;
    await ask(MIB, '192.0.2.1');
    await until(async () => (await openConnections()) === 0);
    expect(await refused('timeout')).toBe(1);
  });

  it('do not end a connection without pending bytes', async () => {
    await listen({ unreadTimeoutMs: 200 });
    expect(await read(MIB, '192.0.2.1')).toEqual([200, MIB]);
    const [idle] = sockets;
    await pause(1000);
    expect([idle!.destroyed, await refused('timeout')]).toEqual([false, 0]);
  });

  it('are refused beyond the limit of an address, before they are made; other addresses are served', async () => {
    await listen({ maxUnreadBytes: 48 * MIB });
    const held = [await ask(LARGE.length, '192.0.2.1'), await ask(LARGE.length, '192.0.2.1')];
    expect((await read(1, '192.0.2.1'))[0]).toBe(429);
    expect(await read(1, '192.0.2.2')).toEqual([200, 1]);
    expect(await refused('unread-bytes')).toBe(1);
    held[0]!.destroy();
    await until(async () => (await read(1, '192.0.2.1'))[0] === 200);
  });

  it('count for the IPv6 /48 of the address, which has five times its limit', async () => {
    await listen({ maxUnreadBytes: 12 * MIB });
    for (const subnet of [1, 2]) await ask(LARGE.length, `2001:db8:1:${subnet}`);
    expect((await read(1, '2001:db8:1:9'))[0]).toBe(429);
    expect(await read(1, '2001:db8:2:9')).toEqual([200, 1]);
  });

  it('do not count once the client has taken them', async () => {
    await listen({ maxUnreadBytes: 2 * MIB });
    for (let n = 0; n < 10; n++) expect(await read(MIB, '192.0.2.1')).toEqual([200, MIB]);
    expect(await refused('unread-bytes')).toBe(0);
  });

  it('may be reserved before they are sent: one that is longer than the limit if the address has no other', async () => {
    const answers: ServerResponse[] = [];
    await listen({ maxUnreadBytes: MIB });
    server.removeAllListeners('request').on('request', (_request, response: ServerResponse) => answers.push(response));
    const [one, other] = [await ask(0, ''), await ask(0, '')];
    const reserve = async (at: number, address: string, bytes: number) => unread.reserve(address, answers[at]!, bytes);
    await reserve(0, '192.0.2.1', LARGE.length);
    await expect(reserve(1, '192.0.2.1', 1)).rejects.toThrow(/^Too many bytes/);
    await reserve(1, '192.0.2.2', 1);
    expect(await metric('attestry_http_unread_bytes')).toBe(LARGE.length + 1);
    // Bytes that are sent are counted once.
    unread.add('192.0.2.2', answers[1]!, 1);
    expect(await metric('attestry_http_unread_bytes')).toBe(LARGE.length + 1);
    one.destroy();
    other.destroy();
    await until(async () => (await metric('attestry_http_unread_bytes')) === 0);
  });

  it('beyond the limit of all are ended for the address with most', async () => {
    await listen({ maxUnreadBytes: 100 * MIB, maxUnreadBytesTotal: 110 * MIB });
    const one = await ask(LARGE.length, '192.0.2.1');
    const most = [await ask(LARGE.length, '192.0.2.2'), await ask(LARGE.length, '192.0.2.2')];
    expect(await openConnections()).toBe(3);
    await ask(LARGE.length, '192.0.2.3');
    await until(async () => (await refused('unread-answers')) === 1);
    expect(await openConnections()).toBe(3);
    one.resume();
    await pause(50);
    expect(one.destroyed).toBe(false);
    for (const socket of most) socket.resume();
    await Promise.race(most.map(closed));
    expect(await metric('attestry_http_unread_bytes')).toBeLessThan(110 * MIB);
  });

  it('of pipelined requests count before their turn', async () => {
    await listen({ maxUnreadBytes: 80 * MIB });
    const socket = await open();
    socket.pause();
    socket.write(get(LARGE.length, '192.0.2.1').repeat(3));
    await until(async () => (await metric('attestry_http_unread_bytes')) >= 2.9 * LARGE.length);
    expect((await read(1, '192.0.2.1'))[0]).toBe(429);
    await pause(120);
    expect((await read(1, '192.0.2.1'))[0]).toBe(429);
  });
});

describe('a client that reads slowly', () => {
  const readSlowly = async (bytes: number, step: number, pauseMs: number, maxMs: number) => {
    const socket = await open();
    socket.pause();
    socket.write(get(bytes, '192.0.2.1'));
    const begun = performance.now();
    let length = 0;
    let pending = 0;
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      length += chunk.length;
      pending += chunk.length;
      if (length > bytes) break;
      if (pending < step || performance.now() - begun > maxMs) continue;
      pending = 0;
      await pause(pauseMs);
    }
    return { length, ms: performance.now() - begun };
  };

  it('receives the whole response', async () => {
    // Longer than any pause of a busy machine, and much shorter than the whole answer takes.
    await listen({ unreadTimeoutMs: 2000 });
    const { length, ms } = await readSlowly(LARGE.length, 2 * MIB, 250, Infinity);
    expect(length).toBeGreaterThan(LARGE.length);
    expect(ms).toBeGreaterThan(3000);
  });

  it('receives it too while the kernel takes no further bytes because it still has megabytes', async () => {
    await listen({ unreadTimeoutMs: 3000 });
    if (!existsSync('/proc/net/tcp')) return;
    // 64 KiB each 300 ms: the kernel has 2.5 MB, and takes more when a third of that is free.
    const { length } = await readSlowly(8 * MIB, 65_536, 300, 8000);
    expect(length).toBeGreaterThan(8 * MIB);
    expect(await refused('timeout')).toBe(0);
  });
});
