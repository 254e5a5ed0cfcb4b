import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { waitUntil } from '@attestry/testing';
import { checkTargetUrl, isPublicAddress, OPERATOR, Outbound, parseAnswer, TargetRefused } from './outbound.js';

describe('isPublicAddress', () => {
  it.each([
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '100.127.255.255',
    '169.254.169.254',
    '192.0.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:169.254.169.254',
    '::ffff:0:127.0.0.1',
    '::127.0.0.1',
    '::7f00:1',
    'fc00::1',
    'fdff::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::7f00:1',
    '2002:7f00:1::',
    '2001::1',
    '2001:db8::1',
    '4000::1',
    'localhost',
    '',
  ])('refuses %s', (address) => expect(isPublicAddress(address)).toBe(false));

  it.each(['8.8.8.8', '100.63.255.255', '100.128.0.1', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8'])(
    'accepts %s',
    (address) => expect(isPublicAddress(address)).toBe(true),
  );
});

describe('checkTargetUrl', () => {
  it.each([
    ['not a url', 'must be a valid URL'],
    ['/relative', 'must be a valid URL'],
    ['http://hooks.acme.com/', 'must use https'],
    ['ftp://hooks.acme.com/', 'must use https'],
    ['https://user:pw@hooks.acme.com/', 'must not contain credentials'],
    ['https://user@hooks.acme.com/', 'must not contain credentials'],
    ['https://:pw@hooks.acme.com/', 'must not contain credentials'],
    ['https://hooks.acme.com/?a=1', 'must not have a query'],
    ['https://hooks.acme.com/?', 'must not have a query'],
    ['https://hooks.acme.com/#a', 'must not have a fragment'],
    ['https://hooks.acme.com/#', 'must not have a fragment'],
    ['https://93.184.216.34/', 'must not be an IP address'],
    ['https://127.1/', 'must not be an IP address'],
    ['https://0x7f000001/', 'must not be an IP address'],
    ['https://2130706433/', 'must not be an IP address'],
    ['https://１２７.0.0.1/', 'must not be an IP address'],
    ['https://[::1]/', 'must not be an IP address'],
    ['https://localhost/', 'must have a public host name'],
    ['https://localhost./', 'must have a public host name'],
    ['https://a.localhost/', 'must have a public host name'],
    ['https://intranet/', 'must have a public host name'],
    ['https://metadata.google.internal/', 'must have a public host name'],
    ['https://nas.local/', 'must have a public host name'],
    ['https://nas.local./', 'must have a public host name'],
    ['https://a.invalid/', 'must have a public host name'],
    ['https://a.test/', 'must have a public host name'],
    ['https://a.example/', 'must have a public host name'],
    ['https://a.onion/', 'must have a public host name'],
    ['https://a.home.arpa/', 'must have a public host name'],
    ['https://1.0.0.127.in-addr.arpa/', 'must have a public host name'],
  ])('refuses %s', (url, fault) => expect(checkTargetUrl(url, false)).toEqual({ fault }));

  it.each([
    ['https://hooks.acme.com', 'https://hooks.acme.com'],
    ['https://HOOKS.acme.com:443/a/../Path%2f+%20', 'https://HOOKS.acme.com:443/a/../Path%2f+%20'],
    ['https:hooks.acme.com', 'https://hooks.acme.com/'],
    ['https:\\\\hooks.acme.com\\a', 'https://hooks.acme.com/a'],
    [' https://hooks.acme.com', 'https://hooks.acme.com/'],
    ['https://bücher.de/füße', 'https://xn--bcher-kva.de/f%C3%BC%C3%9Fe'],
    ['https://hooks.acme.com./', 'https://hooks.acme.com./'],
    ['https://hooks.test.acme.com/', 'https://hooks.test.acme.com/'],
    ['https://acme.latest/', 'https://acme.latest/'],
  ])('accepts %s byte for byte or in ASCII [T606]', (url, ascii) =>
    expect(checkTargetUrl(url, false)).toEqual({ url: ascii }),
  );

  it('accepts private targets only when they are allowed', () => {
    expect(checkTargetUrl('http://127.0.0.1:8080/hook', true)).toEqual({ url: 'http://127.0.0.1:8080/hook' });
    expect(checkTargetUrl('ftp://127.0.0.1/', true)).toEqual({ fault: 'must use https' });
    expect(checkTargetUrl('http://127.0.0.1/?a', true)).toEqual({ fault: 'must not have a query' });
  });
});

describe('parseAnswer', () => {
  const parse = (text: string) => parseAnswer(Buffer.from(text));

  it('accepts JSON of at most 64 levels and 100,000 values', () => {
    expect(parse('{"a":[1,"é"]}')).toEqual({ a: [1, 'é'] });
    expect(parse(`${'['.repeat(64)}${']'.repeat(64)}`)).toHaveLength(1);
    expect(() => parse(`${'['.repeat(65)}${']'.repeat(65)}`)).toThrow(SyntaxError);
    expect(() => parse('{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000))).toThrow(SyntaxError);
    expect(parse(JSON.stringify(Array.from({ length: 99_999 }, () => 1)))).toHaveLength(99_999);
    expect(() => parse(JSON.stringify(Array.from({ length: 100_000 }, () => 1)))).toThrow('too many values or levels');
  });

  it('refuses anything but JSON in UTF-8', () => {
    expect(() => parse('<html>')).toThrow(SyntaxError);
    expect(() => parseAnswer(Uint8Array.of(0x22, 0xff, 0x22))).toThrow(/not valid/);
  });
});

describe('Outbound', () => {
  const limits = { tenantId: 'tenant-a', timeoutMs: 2000, maxBytes: 1000 };
  const servers: Server[] = [];
  const calls: string[] = [];
  let open: Outbound;
  let guarded: Outbound;

  const serve = async (answer: RequestListener): Promise<number> => {
    const server = createServer((request, response) => {
      calls.push(`${request.method} ${request.url}`);
      answer(request, response);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  };

  beforeAll(() => {
    open = new Outbound(true);
    guarded = new Outbound(false);
  });
  beforeEach(() => {
    calls.length = 0;
  });
  afterAll(async () => {
    await Promise.all([open.close(), guarded.close()]);
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  it('refuses to connect to a name that resolves to the local machine', async () => {
    const port = await serve((_request, response) => response.end());
    for (const tenantId of ['tenant-a', OPERATOR] as const)
      await expect(guarded.send(`https://localhost:${port}/`, { ...limits, tenantId })).rejects.toMatchObject({
        name: 'TargetRefused',
        message: 'localhost has no public address',
      });
    expect(calls).toEqual([]);
    // The same name is reached where private targets are allowed: it was the guard that refused.
    for (const tenantId of ['tenant-a', OPERATOR, OPERATOR] as const)
      expect((await open.send(`http://localhost:${port}/`, { ...limits, tenantId })).status).toBe(200);
    expect(calls).toEqual(['GET /', 'GET /', 'GET /']);
  });

  it('checks the addresses that the connection uses, whatever an earlier look-up returned', async () => {
    const requested: string[] = [];
    const answers = [
      { address: '10.0.0.1', family: 4 },
      { address: '::ffff:127.0.0.1', family: 6 },
    ];
    const addresses = async (_tenantId: string, host: string) => {
      requested.push(host);
      return answers;
    };
    const rebound = new Outbound(false, { addresses });
    await expect(rebound.send('https://hooks.acme.com/', limits)).rejects.toThrow('no public address');
    expect(requested).toEqual(['hooks.acme.com']);
    await rebound.close();
  });

  it('fails with the error of the look-up', async () => {
    const failing = new Outbound(false, { addresses: () => Promise.reject(new Error('no such name')) });
    await expect(failing.send('https://hooks.acme.com/', limits)).rejects.toThrow('no such name');
    await failing.close();
  });

  it('checks URLs by its own rules', () => {
    expect(open.checkUrl('http://127.0.0.1/')).toEqual({ url: 'http://127.0.0.1/' });
    expect(guarded.checkUrl('http://127.0.0.1/')).toEqual({ fault: 'must use https' });
  });

  it('refuses literals and plain http without a look-up', async () => {
    const refusal = async (url: string) => guarded.send(url, limits).catch((error: unknown) => error);
    for (const url of ['https://127.0.0.1/', 'https://[::1]/'])
      expect(await refusal(url)).toEqual(new TargetRefused('no IP literals'));
    expect(await refusal('http://hooks.acme.com/')).toEqual(new TargetRefused('https only'));
  });

  it('sends method, headers, body and query, and returns what the target answers', async () => {
    const port = await serve((request, response) => {
      response.writeHead(200, { 'x-sent': String(request.headers['x-sent']), 'Set-Cookie': ['a=1', 'b=2'] });
      request.pipe(response);
    });
    const request = { ...limits, method: 'POST' as const, headers: { 'x-sent': 'yes' }, body: 'text' };
    const answer = await open.send(`http://127.0.0.1:${port}/hook?a=1`, request);
    expect(answer.headers).toMatchObject({ 'x-sent': 'yes', 'set-cookie': 'a=1, b=2' });
    expect(Buffer.from(answer.body).toString()).toBe('text');
    const statusOnly = { ...request, statusOnly: true };
    expect(await open.send(`http://127.0.0.1:${port}/hook?a=1`, statusOnly)).toMatchObject({
      status: 200,
      headers: {},
    });
    expect(await open.send(`http://127.0.0.1:${port}/`, { ...limits, statusOnly: true })).toMatchObject({
      status: 200,
    });
    expect(calls).toEqual(['POST /hook?a=1', 'POST /hook?a=1', 'GET /']);
  });

  it('sends the body where only the status is returned, and fails with the error of the connection', async () => {
    const bodies: string[] = [];
    const port = await serve((request, response) => {
      request.on('data', (chunk) => bodies.push(String(chunk)));
      request.on('end', () => response.end());
    });
    const request = { ...limits, method: 'POST' as const, body: 'text', statusOnly: true };
    expect((await open.send(`http://127.0.0.1:${port}/`, request)).status).toBe(200);
    expect(bodies).toEqual(['text']);
    const server = servers.at(-1)!;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await expect(open.send(`http://127.0.0.1:${port}/`, request)).rejects.not.toMatchObject({ name: 'TimeoutError' });
  });

  it('resolves names for the operator with the resolver of the system', async () => {
    const port = await serve((_request, response) => response.end());
    const outbound = new Outbound(true, { addresses: () => Promise.reject(new Error('no such name')) });
    const url = `http://localhost:${port}/`;
    expect((await outbound.send(url, { ...limits, tenantId: OPERATOR })).status).toBe(200);
    await expect(outbound.send(url, limits)).rejects.toThrow('no such name');
    await outbound.close();
  });

  it('takes the status of the response, not that of an interim response (RFC 9110 §15.2)', async () => {
    const port = await serve((_request, response) => {
      response.writeEarlyHints({ link: '</a>; rel=preload' });
      setTimeout(() => response.writeHead(201).end(), 50);
    });
    expect((await open.send(`http://127.0.0.1:${port}/`, { ...limits, statusOnly: true })).status).toBe(201);
  });

  it('closes the connection of a response that is longer than the limit, and keeps that of one that fits', async () => {
    const sockets = new Set<Socket>();
    const port = await serve((request, response) => {
      sockets.add(request.socket);
      if (request.url === '/fits') response.end('a'.repeat(limits.maxBytes));
      else response.write('a'.repeat(limits.maxBytes + 1));
    });
    const statusOnly = { ...limits, tenantId: 'tenant-c', statusOnly: true };
    for (const path of ['fits', 'fits', 'more']) {
      expect((await open.send(`http://127.0.0.1:${port}/${path}`, statusOnly)).status).toBe(200);
      // The body is read after the status was returned.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(sockets.size).toBe(1);
    const [socket] = sockets;
    await waitUntil(() => socket!.destroyed, { timeoutMs: 1000 });
  });

  it('closes the connections of the tenant that was not served for the longest time', async () => {
    const sockets: Socket[] = [];
    const port = await serve((request, response) => {
      sockets.push(request.socket);
      response.end();
    });
    const refusing = new Outbound(true, { addresses: () => Promise.reject(new Error('no such name')) });
    await refusing.send(`http://127.0.0.1:${port}/`, { ...limits, tenantId: 'tenant-0' });
    const others = Array.from({ length: 1000 }, (_, n) => ({ ...limits, tenantId: `tenant-${n + 1}` }));
    await Promise.allSettled(others.map((other) => refusing.send('http://hooks.acme.com/', other)));
    // Idle connections are kept for 4 s.
    await waitUntil(() => sockets[0]!.destroyed, { timeoutMs: 2000 });
    await refusing.close();
  });

  it('waits for the exchanges in progress when it is closed, and sends nothing afterwards', async () => {
    for (const tenantId of ['tenant-a', OPERATOR] as const) {
      const closing = new Outbound(true);
      let respond: () => void;
      const received = new Promise<void>((resolve) => (respond = resolve));
      let answered = false;
      const port = await serve((_request, response) => {
        respond();
        setTimeout(() => {
          answered = true;
          response.end();
        }, 100);
      });
      const sent = closing.send(`http://127.0.0.1:${port}/`, { ...limits, tenantId });
      await received;
      await closing.onApplicationShutdown();
      expect(answered).toBe(true);
      expect((await sent).status).toBe(200);
      for (const other of ['tenant-b', OPERATOR] as const)
        await expect(closing.send(`http://127.0.0.1:${port}/`, { ...limits, tenantId: other })).rejects.toMatchObject({
          code: 'UND_ERR_CLOSED',
        });
    }
  });

  it('does not follow a redirect', async () => {
    const port = await serve((_request, response) => response.writeHead(307, { location: '/elsewhere' }).end());
    const answer = await open.send(`http://127.0.0.1:${port}/hook`, { ...limits, method: 'POST', body: 'x' });
    expect(answer.status).toBe(307);
    expect(answer.headers['location']).toBe('/elsewhere');
    expect(calls).toEqual(['POST /hook']);
  });

  it('reads no more than the limit', async () => {
    const port = await serve((request, response) => response.end('a'.repeat(request.url === '/fits' ? 1000 : 1001)));
    expect((await open.send(`http://127.0.0.1:${port}/fits`, limits)).body).toHaveLength(1000);
    await expect(open.send(`http://127.0.0.1:${port}/more`, limits)).rejects.toMatchObject({
      name: 'AnswerTooLarge',
      message: 'response is larger than 1000 bytes',
    });
    const cut = await open.send(`http://127.0.0.1:${port}/more`, { ...limits, statusOnly: true });
    expect(cut).toMatchObject({ status: 200, body: new Uint8Array() });
  });

  it('times out on a target that does not respond and on one whose response never ends', async () => {
    const port = await serve((request, response) => {
      if (request.url === '/drip') response.writeHead(200).write('a');
    });
    const hurried = { tenantId: 'tenant-a', timeoutMs: 150, maxBytes: 1000 };
    const timeOut = { name: 'TimeoutError' };
    await expect(open.send(`http://127.0.0.1:${port}/silent`, hurried)).rejects.toMatchObject(timeOut);
    await expect(open.send(`http://127.0.0.1:${port}/drip`, hurried)).rejects.toMatchObject(timeOut);
    const statusOnly = { ...hurried, statusOnly: true };
    await expect(open.send(`http://127.0.0.1:${port}/silent`, statusOnly)).rejects.toMatchObject({
      ...timeOut,
      message: 'The exchange took too long',
    });
    // The status arrived in time, and the body was not requested.
    expect((await open.send(`http://127.0.0.1:${port}/drip`, statusOnly)).status).toBe(200);
  });

  it('does not send a request that waited for a connection until its time-out', async () => {
    let requested = 0;
    const port = await serve(() => (requested += 1));
    const patient = { tenantId: 'tenant-a', timeoutMs: 2000, maxBytes: 1000, statusOnly: true };
    const hurried = { ...patient, timeoutMs: 300 };
    const timedOut = async (sent: Promise<unknown>[]) =>
      (await Promise.allSettled(sent)).filter(
        (outcome) => outcome.status === 'rejected' && (outcome.reason as Error).name === 'TimeoutError',
      ).length;
    // Requests that occupy all connections to a host, and some that wait for one.
    const keeping = timedOut(Array.from({ length: 32 }, () => open.send(`http://127.0.0.1:${port}/`, patient)));
    const start = performance.now();
    expect(await timedOut(Array.from({ length: 8 }, () => open.send(`http://127.0.0.1:${port}/`, hurried)))).toBe(8);
    // Not only when a connection is free.
    expect(performance.now() - start).toBeLessThan(1700);
    expect(await keeping).toBe(32);
    const after = await serve((_request, response) => response.end());
    expect((await open.send(`http://127.0.0.1:${after}/`, patient)).status).toBe(200);
    expect(requested).toBe(32);
  });
});
