import { PLATFORM_TENANT, type OperationRecord } from '@attestry/contracts';
import type { RecordedEvent } from '@attestry/event-store';
import { idsOfRequest } from '../operation-stream/operation-event-id.js';
import type { OperationStreamEvent } from '../operation-stream/operation-stream.events.js';
import { mergeParts, partsOf, type OperationPart, type OperationRow } from './operation-rows.js';

const TENANT = '11111111-1111-4111-8111-111111111111';
const at = (second: number) => `2026-11-21T10:00:0${second}.000Z`;

const stored = (stream: string, type: string, data: unknown, more: object = {}, revision = 5): RecordedEvent => ({
  id: 'some-id',
  stream,
  revision,
  position: '17',
  type,
  schemaVersion: 1,
  data,
  metadata: {
    tenantId: TENANT,
    requestId: 'r1',
    actor: 'client:c1',
    operation: 'dids.create-did',
    correlationId: 'r1',
    causationId: 'r1',
    occurredAt: at(2),
    partitionKey: TENANT,
    ...more,
  },
  chain: '',
  text: { data: '', metadata: '' },
});

const common = { prefix: 'DID_CREATE', category: 'did' };
const record = (more: Partial<OperationRecord> = {}): OperationRecord => ({
  ...common,
  startedAt: at(1),
  outcome: 'SUCCESS',
  ...more,
});
/** A domain event with a record. */
const inEvent = (more: Partial<OperationRecord> = {}, metadata: object = {}) =>
  stored(`did-${TENANT}+d1`, 'DidCreated', {}, { record: record(more), ...metadata });
const inStream = (event: OperationStreamEvent, metadata: object = {}, revision?: number) =>
  stored(`operation-${TENANT}+2026-11`, event.type, event.data, metadata, revision);
const fact = { ...common, operation: 'dids.create-did', metadata: {}, clientId: 'c1' };
const inMessage = (more: Partial<OperationRecord> = {}, revision = 5) =>
  inStream(
    {
      type: 'OperationRecorded',
      data: { ...record(more), operation: 'dids.create-did', clientId: 'c1', endedAt: at(2) },
    },
    {},
    revision,
  );
const begun = () =>
  inStream(
    {
      type: 'OperationBegun',
      data: { ...common, operation: 'dids.create-did', clientId: 'c1', startedAt: at(1), deadline: 99 },
    },
    { occurredAt: at(1) },
  );
const closed = (revision?: number) =>
  inStream(
    { type: 'OperationClosed', data: { ...fact, metadata: { closedBy: 'analytics' } } },
    { occurredAt: at(9) },
    revision,
  );

const fold = (...events: RecordedEvent[]): OperationRow =>
  events
    .flatMap(partsOf)
    .reduce<OperationPart | undefined>((row, part) => (row ? mergeParts(row, part) : part), undefined)!;

/** The row of all events, in every order of the two stores. */
const inBothOrders = (domain: RecordedEvent, ...stream: RecordedEvent[]): OperationRow => {
  const row = fold(domain, ...stream);
  expect(fold(...stream, domain)).toEqual(row);
  return row;
};

describe('parts of an operation', () => {
  it('a domain event without record has none', () => {
    expect(partsOf(stored(`did-${TENANT}+d1`, 'DidCreated', {}))).toEqual([]);
  });

  it('a record in an event has START and outcome, with the ids of its request, times, caller and object', () => {
    const [start_id, end_id] = idsOfRequest(TENANT, 'r1');
    expect(partsOf(inEvent({ start: { limit: 3 }, object: { type: 'did', id: 'd9' } }))).toMatchObject([
      {
        ...{ tenant_id: TENANT, start_id, end_id, request_id: 'r1', actor: 'cc1', operation: 'dids.create-did' },
        ...{ started_at: at(1), ended_at: at(2), outcome: 'SUCCESS', start_metadata: '{"limit":3}', last_at: at(2) },
        ...{ object_type: 'did', object_id: 'd9', end_metadata: null },
      },
    ]);
  });

  it('an object without id has that of the stream', () => {
    const object = { type: 'did' } as OperationRecord['object'];
    expect(fold(inEvent({ object: object! })).object_id).toBe('d1');
    const ofPlatform = stored('managementClient-m1', 'ClientCreated', {}, { record: record({ object: object! }) });
    expect(fold(ofPlatform).object_id).toBe('m1');
  });

  it.each([
    ['client:c1', 'cc1'],
    ['user:u1', 'uu1'],
    ['holder:s1', ''],
    ['service:dids', ''],
  ])('the caller %s of an event is %s', (actor, expected) => {
    expect(fold(inEvent({}, { actor })).actor).toBe(expected);
  });

  it('a management record is in the trails of the platform and of the tenant', () => {
    const tenants = (event: RecordedEvent) => partsOf(event).map(({ tenant_id }) => tenant_id);
    expect(tenants(inEvent({ isManagement: true }))).toEqual([TENANT, PLATFORM_TENANT]);
    expect(tenants(inMessage({ isManagement: true }))).toEqual([TENANT, PLATFORM_TENANT]);
    expect(tenants(inEvent({ isManagement: true }, { tenantId: PLATFORM_TENANT }))).toEqual([PLATFORM_TENANT]);
    expect(tenants(inEvent())).toEqual([TENANT]);
  });

  it('START is before the outcome of the same millisecond, and both are between neighbours of the stream', () => {
    const { start_key, end_key } = fold(inMessage({ startedAt: at(2) }));
    const [before, after] = [4, 6].map((revision) => fold(inMessage({}, revision)));
    expect(start_key! < end_key!).toBe(true);
    expect(before!.end_key! < start_key!).toBe(true);
    expect(after!.start_key! > end_key!).toBe(true);
    expect(fold(closed(6)).end_key! > end_key!).toBe(true);
  });

  it('keys of events are in the order of their positions, of every engine', () => {
    const key = (position: string) => fold({ ...inEvent(), position }).start_key!;
    expect(key('9') < key('10')).toBe(true);
    expect(key('5|9') < key('3|10')).toBe(true);
    expect(key('99/98') < key('100/2')).toBe(true);
  });
});

describe('merged parts of an operation', () => {
  it('a record in an event replaces one in a message', () => {
    const error = { error: { status: 500 } };
    const row = inBothOrders(inEvent(), inMessage({ outcome: 'FAIL', metadata: error, startedAt: at(0) }));
    expect(row).toMatchObject({ outcome: 'SUCCESS', started_at: at(1), end_metadata: null });
  });

  it('a message completes a record in an event that has the same outcome, and changes nothing else', () => {
    const completion = inMessage({ data: 't.sealed', metadata: { note: 1 }, category: 'other', startedAt: at(0) });
    const row = inBothOrders(inEvent(), completion);
    expect(row).toEqual({ ...fold(inEvent()), end_data: 't.sealed', end_metadata: '{"note":1}' });
    const complete = inEvent({ data: 't.own', metadata: { own: 1 } });
    expect(inBothOrders(complete, completion)).toEqual(fold(complete));
  });

  it('of two messages the first stays, completed by the second', () => {
    const row = fold(inMessage({ metadata: { n: 1 } }, 1), inMessage({ metadata: { n: 2 }, data: 't.sealed' }, 2));
    expect(row).toMatchObject({ end_key: '00000000011', end_metadata: '{"n":1}', end_data: 't.sealed' });
  });

  it('START of its own stays the START, whatever brings the outcome', () => {
    for (const outcome of [inEvent({ requestData: 't.request' }), inMessage({ requestData: 't.request' })]) {
      const row = inBothOrders(outcome, begun());
      expect(row).toMatchObject({ start_key: '0000000005', outcome: 'SUCCESS', deadline: 99, start_data: 't.request' });
    }
    expect(fold(begun())).toMatchObject({ outcome: null, ended_at: null, deadline: 99, last_at: at(1) });
  });

  it('a record in an event replaces the closing by analytics, one in a message does not', () => {
    expect(fold(begun(), closed())).toMatchObject({ outcome: 'FAIL', ended_at: at(9) });
    expect(inBothOrders(inEvent(), begun(), closed())).toMatchObject({ outcome: 'SUCCESS', ended_at: at(2) });
    expect(fold(begun(), closed(), inMessage())).toMatchObject({ outcome: 'FAIL', ended_at: at(9) });
  });

  it('the object is that of the record that stays, or of the other', () => {
    const message = inMessage({ object: { type: 'did', id: 'm1' } });
    expect(inBothOrders(inEvent(), message)).toMatchObject({ object_type: 'did', object_id: 'm1' });
    expect(inBothOrders(inEvent({ object: { type: 'did', id: 'e1' } }), message)).toMatchObject({ object_id: 'e1' });
  });

  it('are of one operation: another one with the same request id adds nothing, and the record in an event stays', () => {
    const other = { ...common, prefix: 'DID_DELETE', operation: 'dids.delete-did', clientId: 'c2' };
    const object = { type: 'did', id: 'other' };
    const record = { startedAt: at(0), requestData: 't.x', metadata: { n: 1 }, data: 't.y', object };
    const outcome = { outcome: 'SUCCESS', endedAt: at(3) } as const;
    const message = inStream({ type: 'OperationRecorded', data: { ...other, ...record, ...outcome } }, {}, 6);
    const start = inStream({ type: 'OperationBegun', data: { ...other, startedAt: at(0), deadline: 7 } }, {}, 6);
    for (const another of [message, start]) {
      expect(inBothOrders(inEvent(), another)).toEqual(fold(inEvent()));
      expect(fold(inMessage(), another)).toEqual(fold(inMessage()));
    }
    expect(fold(message, inMessage())).toEqual(fold(message));
  });

  it('an event that is delivered twice changes nothing', () => {
    for (const event of [inEvent({ data: 't.x' }), inMessage({ data: 't.x' }), begun(), closed()])
      expect(fold(event, event)).toEqual(fold(event));
  });
});
