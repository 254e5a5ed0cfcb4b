/** @engines embedded postgres */
import { randomUUID } from 'node:crypto';
import { retrieveClientKeys, tenantPurged } from '@attestry/contracts';
import { serviceContext } from '@attestry/service-kit';
import { waitUntil } from '@attestry/testing';
import { ServiceUnderTest } from '@attestry/testing/services';
import { decodeProtectedHeader } from 'jose';
import { ClientKeys } from './client-keys/client-keys.js';
import { clientKeys, clientKeysStream } from './client-keys/client-keys.state.js';
import { tenantConfigService } from './index.js';

const DAY_MS = 86_400_000;
const LEAD_MS = 2500;
const OVERLAP_MS = 60_000;
const service = new ServiceUnderTest(tenantConfigService, {
  config: { tenantKeyLeadSeconds: LEAD_MS / 1000, tenantKeyOverlapSeconds: OVERLAP_MS / 1000 },
});
let keys: ClientKeys;

beforeAll(async () => {
  await service.open();
  keys = service.get(ClientKeys);
}, 60_000);
afterAll(() => service.remove());

const kids = async (tenantId: string) =>
  (await service.visit(retrieveClientKeys, {}, tenantId)).keys.map(({ kid }) => kid);
const signingKid = async (tenantId: string) => decodeProtectedHeader(await keys.signJwt(tenantId, {})).kid;
const stored = (tenantId: string) => service.engines.vault.signingKeys.listSigningKeys(tenantId, 'client');
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
  service.ahead += 366 * DAY_MS;
  const [old, second] = await rotated(tenantId, 2);
  expect(old).toBe(first);
  service.ahead += LEAD_MS;
  expect(await signingKid(tenantId)).toBe(second);
  expect(await kids(tenantId)).toEqual([first, second]);
  service.ahead += OVERLAP_MS;
  expect(await rotated(tenantId, 1)).toEqual([second]);
  await waitUntil(async () => (await stored(tenantId)).length === 1, { what: 'the end of the old key' });
  expect(await signingKid(tenantId)).toBe(second);
});

it('sign with the former key until the lead is over [T762]', async () => {
  const tenantId = randomUUID();
  const first = await signingKid(tenantId);
  service.ahead += 366 * DAY_MS;
  const { kid, signsFrom } = await keys.rotate(tenantId, serviceContext('tenant-config.test', tenantId));
  const untilThen = Date.parse(signsFrom) - service.now().getTime();
  expect(untilThen).toBeGreaterThan(0);
  expect(await keys.rotate(tenantId, serviceContext('tenant-config.test', tenantId))).toEqual({ kid, signsFrom });
  expect([kid === first, await signingKid(tenantId)]).toEqual([false, first]);
});

it('are not left over by a rotation that was interrupted [T835]', async () => {
  const tenantId = randomUUID();
  const first = await signingKid(tenantId);
  const { streams, vault } = service.engines;
  const { runDecision } = streams;
  service.ahead += 366 * DAY_MS;
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
  await service.engines.bus.publish([
    {
      id: `purged-${tenantId}`,
      subject: tenantPurged.subject,
      headers: { tenantId, requestId: 'purge', occurredAt: new Date().toISOString() },
      data: { tenantId },
    },
  ]);
  await waitUntil(
    async () => (await service.engines.events.readStream(`tenantConfigPurgedTenant-${tenantId}`)).length === 1,
    { what: 'the record of the purge' },
  );
  service.ahead += 366 * DAY_MS;
  await rotated(other, 2);
  const { revision } = await service.engines.streams.load(clientKeys, clientKeysStream(tenantId));
  expect(revision).toBe(0);
});
