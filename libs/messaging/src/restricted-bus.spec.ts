import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '@attestry/testing';
import type { BusRights } from './bus-rights.js';
import { InProcessBus } from './in-process/in-process-bus.js';
import type { FeedMessage, MessageBus } from './message-bus.js';
import { NotPermitted, RestrictedBus } from './restricted-bus.js';

const NOTHING: BusRights = {
  name: 'nobody',
  serves: [],
  calledBy: [],
  calls: [],
  publishes: [],
  consumes: [],
  listens: [],
};
const DIDS: BusRights = {
  ...NOTHING,
  name: 'dids',
  serves: ['op.dids.create-did'],
  publishes: ['event.dids.did-created'],
};
const ISSUANCE: BusRights = {
  ...NOTHING,
  name: 'issuance',
  calls: ['op.dids.create-did'],
  consumes: [{ name: 'issuance.dids', subjects: ['event.dids.did-created', 'event.dids.did-deleted'] }],
  listens: [{ name: 'issuance.ears', subjects: ['event.dids.>'] }],
};

describe('a bus restricted to the rights of a participant', () => {
  let folder: string;
  let bus: MessageBus;
  let dids: MessageBus;
  let issuance: MessageBus;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'attestry-restricted-'));
    bus = await InProcessBus.open({ file: join(folder, 'feed.db'), onError: () => undefined });
    dids = new RestrictedBus(bus, DIDS);
    issuance = new RestrictedBus(bus, ISSUANCE);
  });
  afterEach(async () => {
    await bus.close();
    rmSync(folder, { recursive: true });
  });
  const event = (subject = 'event.dids.did-created') => ({ id: subject, subject, data: {} });

  it('sends requests in the name of its participant, whatever the caller passes', async () => {
    dids.serve('op.dids.create-did', async (_data, _headers, from) => ({ ok: true, data: from }));
    const options = { timeoutMs: 5000, from: 'gateway' };
    expect(await issuance.request('op.dids.create-did', {}, options)).toEqual({ ok: true, data: 'issuance' });
  });

  it('allows declared subjects', async () => {
    const { name, subjects } = ISSUANCE.consumes[0]!;
    const got: FeedMessage[] = [];
    issuance.consume({ name, subjects }, async (messages) => void got.push(...messages));
    issuance.listen(ISSUANCE.listens[0]!, async (messages) => void got.push(...messages));
    await issuance.head();
    await dids.publish([event()]);
    await waitUntil(() => got.length === 2);
  });

  it('refuses everything else, and names it', async () => {
    const handler = async () => undefined;
    const [consumed] = ISSUANCE.consumes;
    expect(() => issuance.serve('op.dids.create-did', async () => ({ ok: true, data: 1 }))).toThrow(NotPermitted);
    await expect(dids.request('op.dids.create-did', {}, { timeoutMs: 5000 })).rejects.toThrow(
      'dids may not request op.dids.create-did: it is not among its rights on the bus',
    );
    await expect(issuance.publish([event()])).rejects.toThrow(NotPermitted);
    await expect(dids.publish([event(), event('event.dids.did-deleted')])).rejects.toThrow('event.dids.did-deleted');
    expect(await dids.head()).toBeUndefined();
    expect(() => dids.consume(consumed!, handler)).toThrow(NotPermitted);
    expect(() => issuance.consume({ name: 'issuance.ears', subjects: ['event.dids.>'] }, handler)).toThrow(
      NotPermitted,
    );
    expect(() => issuance.consume({ ...consumed!, subjects: ['event.>'] }, handler)).toThrow('event.>');
    expect(() => issuance.consume({ ...consumed!, subjects: ['event.dids.did-created'] }, handler)).toThrow(
      'without event.dids.did-deleted',
    );
    expect(() => dids.listen(ISSUANCE.listens[0]!, handler)).toThrow(NotPermitted);
  });

  it('does not close the bus for other participants when it is closed', async () => {
    await issuance.close();
    await dids.publish([event()]);
    expect(await dids.head()).toMatch(/^\d+$/);
  });
});
