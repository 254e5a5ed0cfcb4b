/** @engines embedded postgres */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDid, type ContextOf } from '@attestry/contracts';
import {
  openEngines,
  parseConfig,
  ServiceClient,
  startServices,
  type Engines,
  type RunningServices,
} from '@attestry/service-kit';
import { TEST_SETTINGS } from '@attestry/testing';
import { chosenEngines, describeIdempotency } from '@attestry/testing/services';
import { didsService } from './index.js';

const clock = { time: Date.parse('2026-03-01T10:00:00.000Z'), now: () => new Date(clock.time) };
let dataDir: string;
let engines: Engines;
let services: RunningServices;
let serial = 0;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'idempotency-'));
  const config = parseConfig({ ...TEST_SETTINGS, DATA_DIR: dataDir });
  engines = await chosenEngines(await openEngines(config, { clock }));
  services = await startServices([didsService], engines);
});
afterAll(async () => {
  await services.close();
  await engines.close();
  await rm(dataDir, { recursive: true, force: true });
});

const context = (host: string, clientId: string, idempotencyKey: string): ContextOf<typeof createDid> => ({
  tenant: {
    id: '30000000-0000-4000-8000-000000000001',
    host,
    baseUrl: `http://${host}`,
  },
  caller: { kind: 'client', clientId },
  requestId: `request${++serial}`,
  operation: 'test',
  deadline: Date.now() + 20_000,
  idempotencyKey,
});

describeIdempotency('creating a did:key', {
  engines: () => engines,
  clock,
  category: 'did',
  made: 'DidCreated',
  thing:
    () =>
    ({ key, by = 'one', other }) =>
      new ServiceClient(engines.bus, 'gateway').call(
        createDid,
        { body: { method: 'key', options: { keyType: other ? 'Ed25519' : 'P-256' } } as never },
        context('acme.localhost:8080', by, key),
      ),
});

describeIdempotency('creating a did:web', {
  engines: () => engines,
  clock,
  category: 'did',
  made: 'DidCreated',
  thing: () => {
    const url = `foreign${++serial}.example`;
    return ({ key, by = 'one', other }) =>
      new ServiceClient(engines.bus, 'gateway').call(
        createDid,
        { body: { method: 'web', options: { url: other ? `other.${url}` : url } } as never },
        context('acme.localhost:8080', by, key),
      );
  },
});
