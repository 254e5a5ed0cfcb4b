/** @engines embedded postgres */
import { randomUUID } from 'node:crypto';
import {
  exportEvents,
  listEvents,
  recordSubject,
  type BusParticipant,
  type OperationRecord,
  type OperationRecordMessage,
  type OperationStartMessage,
  type Outcome,
  type RecorderMessage,
} from '@attestry/contracts';
import {
  CHAIN_START,
  chainEvent,
  EventStoreUnavailable,
  NO_STREAM,
  verifyChain,
  type EventMetadata,
  type EventStore,
  type NewEvent,
} from '@attestry/event-store';
import { waitUntil } from '@attestry/testing';
import { ServiceUnderTest, stoppedClock } from '@attestry/testing/services';
import { analyticsService } from './index.js';
import { EventsReadModel } from './event-lists/events.read-model.js';
import { operationStream } from './operation-stream/operation-stream.events.js';

const T1 = '11111111-1111-4111-8111-111111111111';
const T2 = '22222222-2222-4222-8222-222222222222';
const clock = stoppedClock('2026-11-21T10:00:00.000Z');
const START_OF_TEST = clock.time;

const service = new ServiceUnderTest(analyticsService, { clock, baseOf: () => 'http://h' });

const message = (
  outcome: Outcome,
  requestId: string,
  more: Partial<OperationRecordMessage & OperationStartMessage> = {},
) => {
  const time = new Date(clock.time).toISOString();
  const call = { prefix: 'DID_CREATE', category: 'did', tenantId: T1, requestId, operation: 'dids.create-did' };
  const begun = { ...call, startedAt: time, clientId: 'c1' };
  return outcome === 'START'
    ? { subject: recordSubject('started', 'gateway'), data: { ...begun, deadline: clock.time + 1000, ...more } }
    : { subject: recordSubject('record', 'gateway'), data: { ...begun, endedAt: time, outcome, ...more } };
};
const publish = (...messages: ReturnType<typeof message>[]) =>
  service.engines.bus.publish(messages.map((it) => ({ id: randomUUID(), ...it })));

const record = (requestId: string, more: Partial<OperationRecordMessage> = {}): OperationRecordMessage => ({
  prefix: 'DID_CREATE',
  category: 'did',
  startedAt: new Date(clock.time - 5).toISOString(),
  outcome: 'SUCCESS',
  tenantId: T1,
  requestId,
  operation: 'dids.create-did',
  clientId: 'c1',
  endedAt: new Date(clock.time).toISOString(),
  ...more,
});
const send = (by: BusParticipant, data: OperationRecordMessage) =>
  service.engines.bus.publish([{ id: randomUUID(), subject: recordSubject('record', by), data }]);

interface Appended {
  type: string;
  data: unknown;
  about: Partial<EventMetadata> & { record?: OperationRecord };
}
const appendTo = async (store: EventStore, stream: string, events: readonly Appended[]) => {
  let chain = CHAIN_START;
  const chained = events.map(({ type, data, about }): NewEvent => {
    const metadata: EventMetadata = {
      tenantId: T1,
      requestId: 'r1',
      actor: 'client:c1',
      operation: 'dids.create-did',
      correlationId: 'r1',
      causationId: 'r1',
      occurredAt: new Date(clock.time).toISOString(),
      partitionKey: T1,
      ...about,
    };
    const event = chainEvent(chain, { id: randomUUID(), type, schemaVersion: 1, data, metadata });
    chain = event.chain;
    return event;
  });
  await store.append(stream, chained, NO_STREAM);
};
/** A domain event that carries the record of its request. */
const appendRecord = (category: string, requestId: string, more: Partial<OperationRecord> = {}) => {
  const { prefix, startedAt, outcome } = record(requestId);
  const own: OperationRecord = { prefix, category: 'did', startedAt, outcome, ...more };
  return appendTo(service.engines.events, `${category}-${T1}+${requestId}`, [
    { type: 'Happened', data: {}, about: { requestId, record: own } },
  ]);
};

const list = (query: object = {}, tenantId = T1) =>
  service.admin(listEvents, { query }, tenantId) as unknown as Promise<{
    data: {
      type: string;
      requestId: string;
      metadata: Record<string, unknown>;
      data: unknown;
      timestamp: string;
      clientId?: string;
      object?: { type: string; id: string };
    }[];
    nextCursor?: string;
  }>;
const types = async (query: object = {}, tenantId = T1) => (await list(query, tenantId)).data.map(({ type }) => type);

describe('analytics', () => {
  beforeEach(async () => {
    clock.time = START_OF_TEST;
    await service.open();
  });
  afterEach(() => service.remove());

  it('lists events newest first, SUCCESS before the START of one call, each tenant only its own', async () => {
    await publish(message('START', 'r1'), message('SUCCESS', 'r1'), message('START', 'r2', { tenantId: T2 }));
    expect(await types()).toEqual(['DID_CREATE_SUCCESS', 'DID_CREATE_START']);
    expect(await types({}, T2)).toEqual(['DID_CREATE_START']);
  });

  it('accepts events of every operation from the gateway, and from a service only its own', async () => {
    let count = 0;
    const received = (by: BusParticipant, more: Partial<OperationStartMessage> = {}) => ({
      id: randomUUID(),
      subject: recordSubject('started', by),
      data: message('START', `r${++count}`, more).data,
    });
    await service.engines.bus.publish([
      received('issuance', { prefix: 'OPENID_TOKEN', operation: 'issuance.exchange-token' }),
      received('issuance'),
      received('webhooks', { operation: 'issuance.exchange-token' }),
      { id: randomUUID(), subject: recordSubject('started', 'dids'), data: null },
      received('gateway', { prefix: 'WEBHOOK_CREATE' }),
    ]);
    expect(await types()).toEqual(['WEBHOOK_CREATE_START', 'OPENID_TOKEN_START']);
  });

  it('loses no outcome when its store fails during a batch and is still unavailable at the next attempt', async () => {
    await publish(message('START', 'r1'));
    expect(await types()).toEqual(['DID_CREATE_START']);
    const store = service.engines.operationEvents;
    const there = { append: store.append.bind(store), readStream: store.readStream.bind(store) };
    let [appends, reads] = [0, 0];
    store.append = () => {
      appends += 1;
      return Promise.reject(new EventStoreUnavailable('away'));
    };
    store.readStream = () => {
      reads += 1;
      return Promise.reject(new EventStoreUnavailable('away'));
    };
    await publish(message('SUCCESS', 'r1'));
    await waitUntil(() => appends > 0 && reads > 3, { what: 'attempts in vain' });
    Object.assign(store, there);
    await waitUntil(async () => (await types()).length === 2, { what: 'the outcome' });
    expect(await types()).toEqual(['DID_CREATE_SUCCESS', 'DID_CREATE_START']);
  });

  it('filters: types and categories ORed, everything else ANDed', async () => {
    await publish(message('START', 'r1'), message('FAIL', 'r1'));
    clock.time += 60_000;
    await publish(
      message('START', 'r2', { prefix: 'WEBHOOK_CREATE', category: 'webhook', clientId: 'c2' }),
      message('SUCCESS', 'r2', { prefix: 'WEBHOOK_CREATE', category: 'webhook', clientId: 'c2' }),
    );
    expect(await types({ types: ['DID_CREATE_FAIL'] })).toEqual(['DID_CREATE_FAIL']);
    expect(await types({ types: ['DID_CREATE_FAIL'], categories: ['webhook'] })).toHaveLength(3);
    expect(await types({ types: ['DID_CREATE_FAIL'], requestIds: ['r2'] })).toEqual([]);
    expect(await types({ requestIds: ['r1', 'r2'], clientIds: ['c2'] })).toHaveLength(2);
    expect(await types({ clientIds: ['*'] })).toHaveLength(4);
    expect(await types({ clientIds: ['none'] })).toEqual([]);
    expect(await types({ managementUserIds: ['none'] })).toHaveLength(4);
    const at = (ms: number) => new Date(START_OF_TEST + ms).toISOString();
    expect(await types({ dateFrom: at(60_000) })).toHaveLength(2);
    expect(await types({ dateTo: at(0) })).toHaveLength(2);
    expect(await types({ dateFrom: at(0), dateTo: at(60_000) })).toHaveLength(4);
    expect(await types({ dateFrom: at(60_001) })).toEqual([]);
  });

  it('pages without gaps or duplicates, and refuses the cursor of another tenant', async () => {
    const requests = Array.from({ length: 25 }, (_, i) => `r${i}`);
    for (const requestId of requests) await publish(message('START', requestId), message('SUCCESS', requestId));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await list({ limit: 7, ...(cursor && { cursor }) });
      seen.push(...page.data.map(({ type, requestId }) => `${requestId} ${type}`));
      cursor = page.nextCursor;
    } while (cursor);
    expect(seen).toHaveLength(50);
    expect(new Set(seen).size).toBe(50);
    const { nextCursor } = await list({ limit: 1 });
    await expect(list({ cursor: nextCursor }, T2)).rejects.toMatchObject({
      kind: 'invalid',
      details: [{ param: 'cursor', location: 'query' }],
    });
  });

  it('ends a page and a part of an export before it has 512 KB of recorded data, and continues there [T557]', async () => {
    const data = 'x'.repeat(60_000);
    for (let n = 0; n < 12; n++)
      await publish(message('START', `r${n}`, { requestData: data }), message('SUCCESS', `r${n}`, { data }));
    const period = { dateFrom: '2026-01-01', dateTo: '2027-01-01' };
    const exported = (cursor?: string) =>
      service.admin(
        exportEvents,
        { query: period, page: cursor === undefined ? {} : { cursor } },
        T1,
      ) as unknown as ReturnType<typeof list>;
    const listed = (cursor?: string) => list({ limit: 1000, ...(cursor !== undefined && { cursor }) });
    for (const pageOf of [listed, exported]) {
      const sizes: number[] = [];
      const seen = new Set<string>();
      let cursor: string | undefined;
      do {
        const page = await pageOf(cursor);
        sizes.push(page.data.length);
        for (const { requestId, type } of page.data) seen.add(`${requestId} ${type}`);
        cursor = page.nextCursor;
      } while (cursor !== undefined && sizes.length < 10);
      expect([sizes, seen.size]).toEqual([[8, 8, 8], 24]);
    }
  });

  it('lists records of access only where their category is named [T877] [T878]', async () => {
    const access = { category: 'access', object: { type: 'operation', id: 'dids.create-did' } };
    await send('gateway', record('r1'));
    await send('gateway', record('r2', { ...access, prefix: 'ACCESS_REFUSED', outcome: 'FAIL', clientId: 'c2' }));
    await send('gateway', record('r1', { ...access, prefix: 'EVENT_EXPORT', metadata: { entriesCount: 3 } }));
    await send('gateway', record('r3', { ...access, prefix: 'EVENT_EXPORT', tenantId: T2 }));
    const own = ['DID_CREATE_SUCCESS', 'DID_CREATE_START'];
    const refused = ['ACCESS_REFUSED_FAIL', 'ACCESS_REFUSED_START'];
    const exported = ['EVENT_EXPORT_SUCCESS', 'EVENT_EXPORT_START'];
    for (const query of [
      {},
      { clientIds: ['*'] },
      { requestIds: ['r1', 'r2'] },
      { types: ['ACCESS_REFUSED_FAIL', 'EVENT_EXPORT_SUCCESS', ...own] },
      { categories: ['did'] },
      { dateFrom: '2020-01-01' },
    ])
      expect(await types(query)).toEqual(own);
    expect(await types({ objectType: 'operation' })).toEqual([]);
    expect(await types({ outcome: 'FAIL' })).toEqual([]);
    const sorted = async (query: object, tenantId = T1) => (await types(query, tenantId)).sort();
    const all = [...refused, ...exported].sort();
    expect(await sorted({ categories: ['access'] })).toEqual(all);
    expect(await sorted({ categories: ['access', 'did'] })).toEqual([...all, ...own].sort());
    expect(await sorted({ categories: ['access'], types: ['DID_CREATE_START'] })).toEqual([...all, own[1]!].sort());
    expect(await sorted({ categories: ['access'], clientIds: ['c2'] })).toEqual([...refused].sort());
    expect(await types({ categories: ['access'], requestIds: ['r1'] })).toEqual(exported);
    expect(await types({ categories: ['access'], outcome: 'FAIL' })).toEqual([refused[0]]);
    expect(await types({ categories: ['access'] }, T2)).toEqual(exported);
    const [entry] = (await list({ categories: ['access'], outcome: 'SUCCESS' })).data;
    expect(entry).toMatchObject({
      category: 'access',
      clientId: 'c1',
      metadata: { entriesCount: 3 },
      ...{ object: access.object },
    });
    const seen: string[] = [];
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const page = await list({ categories: ['access', 'did'], limit: 1, ...(cursor !== undefined && { cursor }) });
      seen.push(...page.data.map(({ type }) => type));
      cursor = page.nextCursor;
    }
    expect(seen.sort()).toEqual([...all, ...own].sort());
  });

  it('exports all that is kept without a period, up to the newest event when the export begins [T870]', async () => {
    const data = 'x'.repeat(60_000);
    const more = (name: string) =>
      publish(message('START', name, { requestData: data }), message('SUCCESS', name, { data }));
    for (let n = 0; n < 8; n++) await more(`r${n}`);
    await publish(message('START', 'other', { tenantId: T2 }), message('SUCCESS', 'other', { tenantId: T2 }));
    const exported = (query: object, cursor?: string) =>
      service.admin(exportEvents, { query, page: cursor === undefined ? {} : { cursor } }, T1) as unknown as ReturnType<
        typeof list
      >;
    const seen: string[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages === 0 || cursor !== undefined; pages++) {
      const page = await exported({}, cursor);
      seen.push(...page.data.map(({ requestId }) => requestId));
      cursor = page.nextCursor;
      clock.time += 1000;
      await more(`later${pages}`);
      if (pages > 10) throw new Error('the export follows events that were added meanwhile');
    }
    expect(new Set(seen)).toEqual(new Set(Array.from({ length: 8 }, (_, n) => `r${n}`)));
    expect(seen).toHaveLength(16);
    const [first] = seen;
    const { nextCursor } = await exported({});
    expect((await exported({ requestIds: ['no such call'] })).data).toEqual([]);
    const [until, own] = nextCursor!.split('~');
    const later = new Date(Date.parse(until!) + 60_000).toISOString();
    await expect(exported({}, `${later}~${own}`)).rejects.toMatchObject({ kind: 'invalid' });
    expect(first).toBe('r0');
  });

  it('records exactly one outcome per START: a second is discarded, a missing one becomes a FAIL', async () => {
    await publish(message('START', 'r1'), message('SUCCESS', 'r1'), message('FAIL', 'r1'), message('START', 'r2'));
    expect(await types({ requestIds: ['r2'] })).toEqual(['DID_CREATE_START']);
    clock.time += 10_000;
    await until(async () => (await types({ requestIds: ['r2'] })).length === 2);
    const [closed] = (await list({ requestIds: ['r2'] })).data;
    expect(closed).toMatchObject({ type: 'DID_CREATE_FAIL', metadata: { error: { status: 503 } }, clientId: 'c1' });
    await publish(message('SUCCESS', 'r2'));
    expect(await types({ requestIds: ['r2'] })).toEqual(['DID_CREATE_FAIL', 'DID_CREATE_START']);
    expect(await types({ requestIds: ['r1'] })).toEqual(['DID_CREATE_SUCCESS', 'DID_CREATE_START']);
  });

  it('accepts an outcome that was in the feed until after its deadline', async () => {
    await publish(message('START', 'r1'));
    expect(await types()).toHaveLength(1);
    await service.close();
    await service.openEngines();
    await publish(message('SUCCESS', 'r1'));
    clock.time += 60_000;
    await service.start();
    await until(async () => (await types()).length === 2);
    await publish(message('START', 'r2'));
    clock.time += 60_000;
    await until(async () => (await types({ requestIds: ['r2'] })).length === 2);
    expect(await types({ requestIds: ['r1'] })).toEqual(['DID_CREATE_SUCCESS', 'DID_CREATE_START']);
  });

  it('accepts an outcome that arrives after a restart, and discards redelivered messages', async () => {
    await publish(message('START', 'r1'), message('START', 'r2'), message('SUCCESS', 'r2'));
    expect(await types()).toHaveLength(3);
    await service.restart();
    await publish(message('SUCCESS', 'r1'));
    expect(await types({ requestIds: ['r1'] })).toEqual(['DID_CREATE_SUCCESS', 'DID_CREATE_START']);
    expect(await types()).toHaveLength(4);
  });

  it('continues a history whose sequence numbers belong to another feed', async () => {
    const stream = operationStream(T1, new Date(clock.time).toISOString());
    const startedAt = new Date(clock.time).toISOString();
    const fact = {
      prefix: 'DID_CREATE',
      category: 'did',
      operation: 'dids.create-did',
      startedAt,
      deadline: clock.time,
    };
    const metadata = { tenantId: T1, requestId: 'r0', actor: 'client:c1', operation: 'analytics.record-operations' };
    const caused = {
      correlationId: 'r0',
      causationId: 'r0',
      partitionKey: T1,
      occurredAt: new Date(clock.time).toISOString(),
    };
    const moved = chainEvent(CHAIN_START, {
      id: '00000000-0000-4000-8000-999999999999',
      type: 'OperationBegun',
      schemaVersion: 1,
      data: fact,
      metadata: { ...metadata, ...caused, sourceSequence: '9000000000000000' },
    });
    await service.engines.operationEvents.append(stream, [moved], NO_STREAM);
    await publish(message('START', 'r1'), message('SUCCESS', 'r1'));
    expect(await types({ requestIds: ['r1'] })).toEqual(['DID_CREATE_SUCCESS', 'DID_CREATE_START']);
    // It recognizes its own events by their sequence: nothing is duplicated after a restart.
    await service.restart();
    expect(await types({ requestIds: ['r1'] })).toHaveLength(2);
    expect(verifyChain(await service.engines.operationEvents.readStream(stream))).toMatchObject({ intact: true });
  });

  describe('records', () => {
    it('of queries and refusals come through the feed, from the gateway for all and from a service for its own', async () => {
      await send('gateway', record('r1', { metadata: { entriesCount: 2 }, start: { limit: 2 } }));
      await send('dids', record('r2', { outcome: 'FAIL', metadata: { error: { status: 404 } } }));
      await send('webhooks', record('r3'));
      const { data } = await list({ clientIds: ['c1'] });
      expect(data.map(({ type, requestId, metadata }) => [type, requestId, metadata])).toEqual([
        ['DID_CREATE_FAIL', 'r2', { error: { status: 404 } }],
        ['DID_CREATE_SUCCESS', 'r1', { entriesCount: 2 }],
        ['DID_CREATE_START', 'r2', {}],
        ['DID_CREATE_START', 'r1', { limit: 2 }],
      ]);
      expect(data.at(-1)!.timestamp).toBe(new Date(clock.time - 5).toISOString());
    });

    it('in events of every category and type are listed as soon as the event is stored, with their object', async () => {
      await appendRecord('did', 'r1', { object: { type: 'did' } as never });
      await appendRecord('unheardOf', 'r2', { object: { type: 'offer', id: 'o1' }, outcome: 'FAIL' });
      await appendTo(service.engines.events, `did-${T1}+other`, [
        { type: 'DidCreated', data: {}, about: { requestId: 'r3' } },
      ]);
      const { data } = await list();
      expect(data.map(({ type, requestId, object }) => [type, requestId, object])).toEqual([
        ['DID_CREATE_FAIL', 'r2', { type: 'offer', id: 'o1' }],
        ['DID_CREATE_SUCCESS', 'r1', { type: 'did', id: 'r1' }],
        ['DID_CREATE_START', 'r2', { type: 'offer', id: 'o1' }],
        ['DID_CREATE_START', 'r1', { type: 'did', id: 'r1' }],
      ]);
    });

    it('are filtered by object and outcome', async () => {
      await appendRecord('did', 'r1', { object: { type: 'did', id: 'd1' } });
      await appendRecord('offer', 'r2', { object: { type: 'offer', id: 'o1' }, outcome: 'FAIL' });
      await send('gateway', record('r3', { object: { type: 'did', id: 'd1' }, outcome: 'FAIL' }));
      await send('gateway', record('r4'));
      const requests = async (query: object) => (await list(query)).data.map(({ requestId }) => requestId).sort();
      expect(await requests({ objectType: 'did' })).toEqual(['r1', 'r1', 'r3', 'r3']);
      expect(await requests({ objectId: 'o1' })).toEqual(['r2', 'r2']);
      expect(await requests({ objectId: 'o1', objectType: 'did' })).toEqual([]);
      expect(await requests({ outcome: 'FAIL' })).toEqual(['r2', 'r3']);
      expect(await requests({ outcome: 'SUCCESS' })).toEqual(['r1', 'r4']);
      expect(await requests({ outcome: 'FAIL', objectId: 'd1' })).toEqual(['r3']);
      expect(await types({ outcome: 'SUCCESS', objectType: 'did' })).toEqual(['DID_CREATE_SUCCESS']);
      expect(await types({ outcome: 'FAIL', categories: ['did'], requestIds: ['r3'] })).toEqual(['DID_CREATE_FAIL']);
      await expect(list({ outcome: 'START' })).rejects.toMatchObject({ kind: 'invalid' });
    });

    it('in an event replace those in a message, also when the message came first; one row stays', async () => {
      await send('gateway', record('r1', { outcome: 'FAIL' }));
      expect(await types()).toEqual(['DID_CREATE_FAIL', 'DID_CREATE_START']);
      await appendRecord('did', 'r1');
      expect(await types()).toEqual(['DID_CREATE_SUCCESS', 'DID_CREATE_START']);
      await send('gateway', record('r1', { outcome: 'FAIL' }));
      expect(await types()).toEqual(['DID_CREATE_SUCCESS', 'DID_CREATE_START']);
    });

    it('of management calls are listed for the platform and for the tenant, whatever the outcome', async () => {
      await send('gateway', record('r1', { isManagement: true, tenantId: 'platform', about: T1, outcome: 'FAIL' }));
      await send('gateway', record('r2', { isManagement: true, tenantId: 'platform' }));
      await appendRecord('tenant', 'r3', { isManagement: true });
      const requests = async (tenantId: string) => new Set((await list({}, tenantId)).data.map((it) => it.requestId));
      expect(await requests(T1)).toEqual(new Set(['r1', 'r3']));
      expect(await requests('platform')).toEqual(new Set(['r1', 'r2', 'r3']));
      expect(await requests(T2)).toEqual(new Set());
    });

    it('are stored in an unbroken chain, and not twice when the feed delivers them again', async () => {
      const message = { id: randomUUID(), subject: recordSubject('record', 'gateway'), data: record('r1') };
      await service.engines.bus.publish([message]);
      await send('gateway', record('r2'));
      expect(await types()).toHaveLength(4);
      const events = await service.engines.operationEvents.readStream(
        operationStream(T1, new Date(clock.time).toISOString()),
      );
      expect(events.map(({ type }) => type)).toEqual(['OperationRecorded', 'OperationRecorded']);
      expect(verifyChain(events)).toMatchObject({ intact: true });
      await service.restart();
      expect(await types()).toHaveLength(4);
    });

    it('that are malformed are skipped and logged, and hold up no other', async () => {
      const errors: object[] = [];
      service.engines.logger.error = ((fields: object) => void errors.push(fields)) as never;
      const { endedAt: _, ...withoutEnd } = record('r1');
      await send('gateway', withoutEnd as OperationRecordMessage);
      await send('gateway', null as never);
      await send('gateway', record('r2', { metadata: { long: 'x'.repeat(300_000) } }));
      await send('dids', record('r3'));
      expect((await list({ outcome: 'SUCCESS' })).data.map(({ requestId }) => requestId)).toEqual(['r3']);
      expect(errors).toMatchObject([
        { subject: 'operation.gateway.record', faults: ['endedAt is required'] },
        { faults: ['body must be an object'] },
        { faults: ['must have at most 262144 bytes'] },
      ]);
    });

    it('with much data are stored in several appends', async () => {
      const large = Array.from({ length: 20 }, (_, n) => record(`r${n}`, { data: `t.${'x'.repeat(60_000)}` }));
      const subject = recordSubject('record', 'gateway');
      await service.engines.bus.publish(large.map((data) => ({ id: randomUUID(), subject, data })));
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const found = await list({ outcome: 'SUCCESS', ...(cursor !== undefined && { cursor }) });
        seen.push(...found.data.map(({ requestId }) => requestId));
        cursor = found.nextCursor;
      } while (cursor !== undefined);
      expect(new Set(seen).size).toBe(20);
      expect(seen).toHaveLength(20);
    });

    it('with data that cannot be opened are listed without it, and logged once', async () => {
      const errors: object[] = [];
      service.engines.logger.error = ((fields: object) => void errors.push(fields)) as never;
      await send('gateway', record('r1', { data: 't.broken' }));
      await send('gateway', record('r2'));
      for (const _ of ['first', 'second'])
        expect((await list({ outcome: 'SUCCESS' })).data).toMatchObject([
          { requestId: 'r2', data: null },
          { requestId: 'r1', data: null },
        ]);
      expect(errors).toEqual([expect.objectContaining({ tenantId: T1, requestId: 'r1' })]);
    });

    it('older than OPERATION_EVENTS_DAYS are hidden in every list', async () => {
      await appendRecord('did', 'r1');
      await send('gateway', record('r2'));
      expect(await types()).toHaveLength(4);
      clock.time += service.engines.config.operationEventsDays * 86_400_000 - 6;
      expect(await types()).toHaveLength(4);
      clock.time += 3;
      expect(await types()).toEqual(['DID_CREATE_SUCCESS', 'DID_CREATE_SUCCESS']);
      clock.time += 4;
      expect(await types()).toEqual([]);
      expect(await types({ requestIds: ['r1'] })).toEqual([]);
    });
  });

  describe('a START of its own', () => {
    const started = (requestId: string) => {
      const { outcome: _outcome, endedAt: _endedAt, ...start } = record(requestId);
      return { ...start, deadline: clock.time + 1000 };
    };
    const begin = (requestId: string) =>
      service.engines.bus.publish([
        { id: randomUUID(), subject: recordSubject('started', 'gateway'), data: started(requestId) },
      ]);

    it('is listed at once, and its outcome when a record arrives, in an event or a message', async () => {
      await begin('r1');
      await begin('r2');
      expect(await types()).toEqual(['DID_CREATE_START', 'DID_CREATE_START']);
      await send('gateway', record('r1'));
      await appendRecord('did', 'r2');
      clock.time += 10_000;
      await new Promise((resolve) => setTimeout(resolve, 2500));
      expect(await types({ outcome: 'SUCCESS' })).toHaveLength(2);
      expect(await types()).toHaveLength(4);
    });

    it('is closed as FAIL after its deadline, also after a restart, and a record in an event replaces that', async () => {
      await begin('r1');
      expect(await types()).toEqual(['DID_CREATE_START']);
      await service.restart();
      clock.time += 10_000;
      await until(async () => (await types()).length === 2);
      expect((await list()).data[0]).toMatchObject({
        type: 'DID_CREATE_FAIL',
        metadata: { closedBy: 'analytics', error: { status: 503 } },
      });
      await appendRecord('did', 'r1');
      expect(await types()).toEqual(['DID_CREATE_SUCCESS', 'DID_CREATE_START']);
    });
  });

  describe('unclean ends', () => {
    const report = (
      instance: string,
      state: RecorderMessage['state'],
      at = clock.time,
      participant: BusParticipant = 'gateway',
    ) => {
      const data: RecorderMessage = { instance, participant, state, at: new Date(at).toISOString() };
      return service.engines.bus.publish([{ id: randomUUID(), subject: recordSubject('recorder', participant), data }]);
    };
    const openRecorders = async () => {
      await list();
      const rows = await service.get(EventsReadModel).recorders();
      return rows.map(({ participant, instance, seen_at }) => [participant, instance, Date.parse(seen_at)]);
    };

    it('are not reported because a sign is delivered again: an old one moves nothing back, and a closed recorder stays closed', async () => {
      await report('first', 'started');
      await report('first', 'alive', clock.time + 120_000);
      await service.restart();
      await report('first', 'alive', clock.time + 60_000);
      expect(await openRecorders()).toEqual([['gateway', 'first', clock.time + 120_000]]);
      await report('first', 'closed', clock.time + 180_000);
      await report('first', 'alive', clock.time + 120_000);
      await report('first', 'started');
      expect(await openRecorders()).toEqual([]);
    });

    it('of a recorder are those of its participant, and it is known by any of its signs', async () => {
      await report('first', 'started', clock.time, 'issuance');
      await report('first', 'alive');
      await report('first', 'closed', clock.time + 1, 'issuance');
      expect(await openRecorders()).toEqual([['gateway', 'first', clock.time]]);
    });

    const uncleanEnds = async () =>
      /^attestry_unclean_ends_total\{.*participant="gateway".*\} (\d+)$/m.exec(
        await service.engines.metrics.text(),
      )?.[1];

    it('of a recorder that was not closed before the next start is counted once, with the bounds of the gap', async () => {
      expect(await uncleanEnds()).toBe('0');
      const warnings: object[] = [];
      service.engines.logger.warn = ((fields: object) => void warnings.push(fields)) as never;
      const first = new Date(clock.time).toISOString();
      await report('first', 'started');
      clock.time += 5000;
      await report('first', 'alive');
      clock.time += 5000;
      expect(await types()).toEqual([]);
      await service.restart();
      service.engines.logger.warn = ((fields: object) => void warnings.push(fields)) as never;
      await report('second', 'started');
      await until(async () => (await uncleanEnds()) === '1');
      expect(warnings).toContainEqual({
        participant: 'gateway',
        instance: 'first',
        after: first,
        before: new Date(clock.time).toISOString(),
      });
      await report('third', 'started');
      await report('second', 'closed');
      await new Promise((resolve) => setTimeout(resolve, 2500));
      expect(await uncleanEnds()).toBe('1');
    });
  });

  it('keeps an unbroken chain in the stream', async () => {
    for (let i = 0; i < 5; i++) await publish(message('START', `r${i}`), message('SUCCESS', `r${i}`));
    expect(await types()).toHaveLength(10);
    const events = await service.engines.operationEvents.readStream(
      operationStream(T1, new Date(clock.time).toISOString()),
    );
    expect(events).toHaveLength(10);
    expect(verifyChain(events)).toMatchObject({ intact: true });
  });
});

const until = async (condition: () => Promise<boolean>): Promise<void> => {
  const end = Date.now() + 10_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error('waited 10 s in vain');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
