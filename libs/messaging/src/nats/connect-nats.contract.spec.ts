import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  findNatsServer,
  hasOpenssl,
  makeTestCertificates,
  NatsServer,
  skipSuite,
  waitUntil,
  type TestCertificates,
} from '@attestry/testing';
import { connectNats, NatsRefused, type NatsOptions } from './connect-nats.js';

const program = findNatsServer();
const missing = program === undefined ? 'nats-server' : hasOpenssl() ? undefined : 'openssl';

if (program === undefined || missing !== undefined) {
  skipSuite('connections to NATS', `${missing} is not installed (Debian: apt install ${missing})`);
  it.skip('connections to NATS', () => undefined);
} else {
  const connects = async (options: NatsOptions): Promise<string> => {
    const connection = await connectNats(options);
    const { host } = connection.info!;
    await connection.close();
    return host;
  };

  describe('a connection to NATS', () => {
    it('waits for a server that is not available yet', async () => {
      const server = await NatsServer.start(program);
      await server.kill();
      let connected = false;
      const reasons: string[] = [];
      const options = { servers: [server.url], onWaiting: (reason: string) => void reasons.push(reason) };
      const connecting = connects(options).then(() => (connected = true));
      await waitUntil(() => reasons.length > 0);
      expect([connected, reasons]).toEqual([false, ['connection refused']]);
      await server.restart();
      await connecting;
      await server.stop();
    });

    it('fails at once with the reason when the password is wrong', async () => {
      const server = await NatsServer.start(program, undefined, {
        lines: ['authorization { user: somebody, password: right }'],
      });
      const servers = [server.url];
      await connects({ servers, user: 'somebody', password: 'right' });
      const wrong = connects({ servers, user: 'somebody', password: 'wrong' });
      await expect(wrong).rejects.toThrow(/^NATS at nats:.*credentials refused.*authorization violation/i);
      await expect(connects({ servers })).rejects.toBeInstanceOf(NatsRefused);
      await server.stop();
    });
  });

  it('a connection to NATS survives a period in which its password is refused', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'attestry-nats-'));
    const lines = ['authorization { user: somebody, password: right }'];
    const server = await NatsServer.start(program, folder, { lines });
    const connection = await connectNats({ servers: [server.url], user: 'somebody', password: 'right' });
    const refused: unknown[] = [];
    void (async () => {
      for await (const status of connection.status()) if (status.type === 'error') refused.push(status.error);
    })();
    const file = join(folder, 'nats.conf');
    const change = async (from: string, to: string) => {
      await server.kill();
      writeFileSync(file, readFileSync(file, 'utf8').replace(`password: ${from}`, `password: ${to}`));
      await server.restart();
    };
    await change('right', 'changed');
    // Twice: at the second the client would give up by itself.
    await waitUntil(() => refused.length > 2);
    await change('changed', 'right');
    await waitUntil(() => connection.rtt().then(() => true));
    expect(connection.isClosed()).toBe(false);
    await connection.close();
    await server.stop();
  });

  describe('a connection to NATS over TLS', () => {
    let folder: string;
    let made: TestCertificates;
    let server: NatsServer;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'attestry-tls-'));
      made = makeTestCertificates(folder);
      const { ca, server: own } = made;
      server = await NatsServer.start(program, undefined, {
        lines: [
          `tls { cert_file: "${own.cert}", key_file: "${own.key}", ca_file: "${ca}", verify: true, timeout: 5 }`,
          'authorization { user: somebody, password: right }',
        ],
      });
    });
    afterAll(async () => {
      await server.stop();
      rmSync(folder, { recursive: true });
    });
    const over = (tls: NatsOptions['tls'], scheme = 'tls') => ({
      servers: [`${scheme}://127.0.0.1:${server.port}`],
      user: 'somebody',
      password: 'right',
      ...(tls && { tls }),
    });

    it("is established with the server's CA and a client certificate", async () => {
      expect(await connects(over({ ca: made.ca, ...made.client }))).toBe('127.0.0.1');
    });

    it('is refused without the CA: the server is not authenticated', async () => {
      await expect(connects(over(undefined))).rejects.toThrow(/^NATS at tls:.*TLS/);
      await expect(connects(over({ ...made.client }))).rejects.toBeInstanceOf(NatsRefused);
      await expect(connects(over(undefined, 'nats'))).rejects.toBeInstanceOf(NatsRefused);
    });

    it('fails with an error without a client certificate', async () => {
      const onWaiting = (reason: string) => {
        throw new Error(`waited: ${reason}`);
      };
      await expect(connects({ ...over({ ca: made.ca }), onWaiting })).rejects.toThrow(/waited|TLS/);
    }, 20_000);

    it('is refused with missing files', async () => {
      await expect(connects(over({ ca: join(folder, 'none.crt') }))).rejects.toThrow(/none\.crt/);
    });

    it('is refused for a tls:// address when the server does not use TLS, before a password is sent', async () => {
      const open = await NatsServer.start(program);
      const options = { ...over(undefined), servers: [`tls://127.0.0.1:${open.port}`] };
      await expect(connects(options)).rejects.toThrow(/does not support 'tls'/);
      await open.stop();
    });
  });
}
