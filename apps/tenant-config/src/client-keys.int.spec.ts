/** @engines embedded postgres */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { retrieveClientKeys, tenantPurged, type PublicContext } from '@attestry/contracts';
import {
  openEngines,
  parseConfig,
  ServiceClient,
  serviceContext,
  startServices,
  type Engines,
  type RunningServices,
} from '@attestry/service-kit';
import { TEST_SETTINGS, waitUntil } from '@attestry/testing';
import { chosenEngines } from '@attestry/testing/services';
import { decodeProtectedHeader } from 'jose';
import { ClientKeys } from './client-keys/client-keys.js';
import { clientKeys, clientKeysStream } from './client-keys/client-keys.state.js';
import { tenantConfigService } from './index.js';

const DAY_MS = 86_400_000;
const LEAD_MS = 2500;
const OVERLAP_MS = 60_000;
const clock = { ahead: 0, now: () => new Date(Date.now() + clock.ahead) };

let folder: string;
let engines: Engines;
let services: RunningServices;
let gateway: ServiceClient;
let keys: ClientKeys;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'attestry-client-keys-'));
  const config = parseConfig({ ...TEST_SETTINGS, DATA_DIR: folder });
  const times = { webhookKeyLeadSeconds: LEAD_MS / 1000, webhookKeyOverlapSeconds: OVERLAP_MS / 1000 };
  engines = await chosenEngines(await openEngines(Object.assign(config, times), { clock }));
  services = await startServices([tenantConfigService], engines);
  gateway = new ServiceClient(engines.bus, 'gateway');
  keys = services.app.get(ClientKeys, { strict: false });
}, 60_000);
afterAll(async () => {
  await services.close();
  await engines.close();
  rmSync(folder, { recursive: true, force: true });
});

const publicContext = (tenantId: string): PublicContext => ({
  tenant: { id: tenantId, host: 'acme.localhost', baseUrl: 'https://acme.localhost' },
  caller: { kind: 'public' },
  requestId: randomUUID(),
  operation: 'test',
  deadline: Date.now() + 20_000,
});
const kids = async (tenantId: string) =>
  (await gateway.call(retrieveClientKeys, {}, publicContext(tenantId))).keys.map(({ kid }) => kid);
const signingKid = async (tenantId: string) => decodeProtectedHeader(await keys.signJwt(tenantId, {})).kid;
const stored = (tenantId: string) => engines.vault.signingKeys.listSigningKeys(tenantId, 'client');
const rotated = (tenantId: string, count: number) =>
  waitUntil(
    async () => {
      const found = await kids(tenantId);
      return found.length === count && found;
    },
    { what: `${count} published keys` },
  );

it('are rotated by schedule also while they do not sign, with a lead and an overlap [T762] [T835]', async () => {
  const tenantId = randomUUID();
  const first = await signingKid(tenantId);
  expect(await kids(tenantId)).toEqual([first]);
  clock.ahead += 366 * DAY_MS;
  const [old, second] = await rotated(tenantId, 2);
  expect(old).toBe(first);
  clock.ahead += LEAD_MS;
  expect(await signingKid(tenantId)).toBe(second);
  expect(await kids(tenantId)).toEqual([first, second]);
  clock.ahead += OVERLAP_MS;
  expect(await rotated(tenantId, 1)).toEqual([second]);
  await waitUntil(async () => (await stored(tenantId)).length === 1, { what: 'the end of the old key' });
  expect(await signingKid(tenantId)).toBe(second);
});

it('sign with the former key until the lead is over [T762]', async () => {
  const tenantId = randomUUID();
  const first = await signingKid(tenantId);
  clock.ahead += 366 * DAY_MS;
  const { kid, signsFrom } = await keys.rotate(tenantId, serviceContext('tenant-config.test', tenantId));
  const untilThen = Date.parse(signsFrom) - clock.now().getTime();
  expect(untilThen).toBeGreaterThan(0);
  expect(await keys.rotate(tenantId, serviceContext('tenant-config.test', tenantId))).toEqual({ kid, signsFrom });
  expect([kid === first, await signingKid(tenantId)]).toEqual([false, first]);
});

it('are not left over by a rotation that was interrupted [T835]', async () => {
  const tenantId = randomUUID();
  const first = await signingKid(tenantId);
  const { streams, vault } = engines;
  const { runDecision } = streams;
  clock.ahead += 366 * DAY_MS;
  const context = serviceContext('tenant-config.test', tenantId);
  const ends = new Error('the process ended');
  let ended = 0;
  // Before the event is appended.
  const stop: typeof runDecision = async (aggregate, stream, decide, ...rest) => {
    if (stream !== clientKeysStream(tenantId))
      return runDecision.call(streams, aggregate as never, stream, decide as never, ...rest) as never;
    const { state } = await streams.load(aggregate, stream);
    await (decide as (current: typeof state) => unknown)(state);
    ended += 1;
    throw ends;
  };
  Object.assign(streams, { runDecision: stop });
  try {
    await expect(keys.rotate(tenantId, context)).rejects.toThrow(ends);
    await waitUntil(() => ended > 1, { what: 'the schedule to try it too' });
  } finally {
    Object.assign(streams, { runDecision });
  }
  const [, left] = await vault.signingKeys.listSigningKeys(tenantId, 'client');
  expect(await rotated(tenantId, 2)).toEqual([first, left!.keyId]);
  expect(await stored(tenantId)).toHaveLength(2);
});

it('are not rotated any more once the tenant was purged', async () => {
  const [tenantId, other] = [randomUUID(), randomUUID()];
  await signingKid(tenantId);
  await signingKid(other);
  await engines.bus.publish([
    {
      id: `purged-${tenantId}`,
      subject: tenantPurged.subject,
      headers: { tenantId, requestId: 'purge', occurredAt: new Date().toISOString() },
      data: { tenantId },
    },
  ]);
  await waitUntil(
    async () => (await engines.events.readStream(`tenantConfigForgottenTenant-${tenantId}`)).length === 1,
    { what: 'the record of the purge' },
  );
  clock.ahead += 366 * DAY_MS;
  await rotated(other, 2);
  const { revision } = await engines.streams.load(clientKeys, clientKeysStream(tenantId));
  expect(revision).toBe(0);
});
