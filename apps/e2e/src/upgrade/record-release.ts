// Records the data of this release for the tests of later ones: `node apps/e2e/dist/upgrade/record-release.js FOLDER`.
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import {
  connectManagement,
  findPostgres,
  freePort,
  PostgresServer,
  startPlatformProcess,
  WebhookReceiver,
} from '@attestry/testing';
import { command, postgresTool } from '../commands.js';
import { answersOf, listsOf, makeTenant, tenantOn, type Recorded } from './history.js';

const NAMES = ['first', 'second'];

/** Runs a platform with a history, and stops it. */
const makeHistory = async (dataDir: string, settings: Record<string, string>): Promise<Recorded> => {
  const secrets = {
    MASTER_KEY: randomBytes(32).toString('base64url'),
    MANAGEMENT_CLIENT_ID: 'operator',
    MANAGEMENT_CLIENT_SECRET: randomBytes(32).toString('base64url'),
  };
  const port = await freePort();
  const env = { ...secrets, PORT: String(port), WEBHOOK_RETRY_SECONDS: '1', ...settings };
  const platform = await startPlatformProcess({ dataDir, env });
  const management = await connectManagement(platform, {
    client_id: secrets.MANAGEMENT_CLIENT_ID,
    client_secret: secrets.MANAGEMENT_CLIENT_SECRET,
  });
  const receivers: WebhookReceiver[] = [];
  try {
    const made = [];
    for (const name of NAMES) {
      receivers.push(await WebhookReceiver.start(`${platform.tenantUrl(name)}/v1/webhooks/jwks`));
      made.push(await makeTenant(platform, management, name, receivers.at(-1)!));
    }
    const tenants = [];
    for (const { webhookIds, ...tenant } of made)
      tenants.push({
        ...tenant,
        ...(await answersOf(await tenantOn(platform, tenant), management, { holder: tenant.holder, webhookIds })),
      });
    const paths = ['/v1/tenants', ...tenants.map(({ id }) => `/v1/tenants/${id}/clients`)];
    return { port, secrets, lists: await listsOf(management.client, paths), tenants };
  } finally {
    await Promise.all(receivers.map((receiver) => receiver.close()));
    await platform.end();
  }
};

const pack = async (to: string, name: string, bytes: Buffer): Promise<void> =>
  writeFile(join(to, `${name}.gz`), gzipSync(bytes, { level: 9 }));

/** With the log of a file that was not closed last: its last transactions are there. */
const packFolder = async (dataDir: string, to: string): Promise<void> => {
  for (const name of await readdir(dataDir))
    if (/\.db(-wal)?$/.test(name) && !name.startsWith('lock.'))
      await pack(to, name, await readFile(join(dataDir, name)));
};

const main = async (folder: string): Promise<void> => {
  const work = await mkdtemp(join(tmpdir(), 'attestry-record-'));
  try {
    const embedded = join(folder, 'embedded');
    await mkdir(embedded, { recursive: true });
    const recorded = await makeHistory(join(work, 'data'), {});
    await packFolder(join(work, 'data'), embedded);
    await pack(embedded, 'answers.json', Buffer.from(JSON.stringify(recorded)));

    const onPostgres = join(folder, 'postgres');
    await mkdir(onPostgres, { recursive: true });
    const programs = findPostgres();
    if (!programs) throw new Error('PostgreSQL is not installed');
    const server = await PostgresServer.start(programs);
    try {
      const database = { DATABASE_URL: server.url() };
      await command('migrate', [], database);
      const answers = await makeHistory(join(work, 'beside'), database);
      const dump = join(work, 'dump.sql');
      await postgresTool(programs, 'pg_dump', ['--no-owner', '--no-privileges', '--file', dump, server.url()]);
      await pack(onPostgres, 'dump.sql', await readFile(dump));
      await packFolder(join(work, 'beside'), onPostgres);
      await pack(onPostgres, 'answers.json', Buffer.from(JSON.stringify(answers)));
    } finally {
      await server.stop();
    }
  } finally {
    await rm(work, { recursive: true });
  }
};

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node apps/e2e/dist/upgrade/record-release.js FOLDER');
await main(resolve(folder));
