import { anEvent, UnknownEventType, type Aggregate, type RecordedEvent } from '@attestry/event-store';
import { projected } from '@attestry/testing';
import { defineProjection, nothing } from './define-projection.js';
import { declareTables } from './tables.js';

interface Tables {
  thing: { tenant_id: string; id: string; kind: 'a' | 'b'; label: string | null };
}
const tables = declareTables<Tables>({
  thing: {
    text: ['tenant_id', 'id', 'kind'],
    nullableText: ['label'],
    primaryKey: ['tenant_id', 'id'],
    indexes: { thing_by_kind: ['kind'] },
  },
});
const { thing } = tables;

type ThingEvent =
  | { type: 'ThingMade'; data: { kind: 'a' | 'b' } }
  | { type: 'ThingLabelled'; data: { label: string } }
  | { type: 'ThingSeen'; data: object };
const things: Aggregate<object, ThingEvent> = {
  category: 'thing',
  initial: {},
  types: { ThingMade: 2, ThingLabelled: 1, ThingSeen: 1 },
  upcasters: [{ type: 'ThingMade', from: 1, upcast: ({ isB }: { isB: boolean }) => ({ kind: isB ? 'b' : 'a' }) }],
  evolve: (state) => state,
};
const people: Aggregate<object, { type: 'PersonLeft'; data: { personId: string } }> = {
  category: 'person',
  initial: {},
  types: { PersonLeft: 1 },
  evolve: (state) => state,
};
const declaration = {
  name: 'test-service.things',
  version: 3,
  aggregates: [things, people],
  tables,
} as const;
const projection = defineProjection({
  ...declaration,
  on: {
    ThingMade: ({ data }, { tenantId, id }) => thing.insert({ tenant_id: tenantId, id, kind: data.kind, label: null }),
    ThingLabelled: ({ data }, { tenantId, id }) => thing.set({ tenant_id: tenantId, id }, { label: data.label }),
    ThingSeen: nothing,
    PersonLeft: ({ data }, { tenantId }) => thing.remove({ tenant_id: tenantId, id: data.personId }),
  },
});

const stored = (type: string, data: object, members: Partial<RecordedEvent> = {}): RecordedEvent => ({
  ...anEvent({ type, data, id: 'event', occurredAt: '2026-03-01T00:00:00.000Z' }),
  stream: 'thing-t1+s1',
  revision: 4,
  position: '9',
  ...members,
});

describe('defineProjection', () => {
  it('follows its aggregates, and the purge of tenants by its service', () => {
    expect(projection).toMatchObject({
      name: 'test-service.things',
      version: 3,
      categories: ['thing', 'person', 'testServicePurgedTenant'],
      types: ['ThingMade', 'ThingLabelled', 'ThingSeen', 'PersonLeft', 'TenantDataPurged'],
      tables: ['thing'],
    });
  });

  it('makes rows of events, in the order of the events', () => {
    const given = projected(projection);
    const row = { tenant_id: 't1', id: 's1', kind: 'a', label: null } as const;
    given({ type: 'ThingMade', data: { kind: 'a' } }).expectRows({ thing: [row] });
    given(
      { type: 'ThingLabelled', data: { label: 'too early' } },
      { type: 'ThingMade', data: { kind: 'a' } },
      { type: 'ThingMade', data: { kind: 'b' }, of: { id: 's2' } },
      { type: 'ThingLabelled', data: { label: 'x' }, of: { id: 's2' } },
      { type: 'ThingSeen', data: {} },
      { type: 'ThingMade', data: { kind: 'b' } },
    ).expectRows({ thing: [row, { ...row, id: 's2', kind: 'b', label: 'x' }] });
    given(
      { type: 'ThingMade', data: { kind: 'a' }, of: { id: 'p1' } },
      { type: 'PersonLeft', data: { personId: 'p1' }, of: { id: 'p1' } },
    ).expectRows({});
  });

  it('removes the rows of a purged tenant, and of no other', () => {
    const given = projected(projection);
    given(
      { type: 'ThingMade', data: { kind: 'a' } },
      { type: 'ThingMade', data: { kind: 'a' }, of: { tenantId: 't2' } },
      { type: 'TenantDataPurged', data: { tenantId: 't1' } },
    ).expectRows({ thing: [{ tenant_id: 't2', id: 's1', kind: 'a', label: null }] });
  });

  it('may outlive the purge of a tenant', () => {
    const kept = defineProjection({
      ...declaration,
      aggregates: [people],
      outlivesTenant: true,
      on: {
        PersonLeft: ({ data }, { tenantId }) =>
          thing.put({ tenant_id: tenantId, id: data.personId, kind: 'a', label: null }),
      },
    });
    expect(kept.categories).toEqual(['person']);
    expect(kept.types).toEqual(['PersonLeft']);
  });

  it('reads older versions of events through their upcasters, and refuses newer ones and unknown events', () => {
    const before = stored('ThingMade', { isB: true });
    expect(projection.changesOf(before)).toEqual([
      { kind: 'insert', table: thing, row: { tenant_id: 't1', id: 's1', kind: 'b', label: null } },
    ]);
    for (const event of [
      stored('ThingMade', {}, { schemaVersion: 3 }),
      stored('ThingSeen', {}, { schemaVersion: 2 }),
      stored('ThingLost', {}),
      stored('ThingMade', {}, { stream: 'person-t1+p' }),
      stored('ThingMade', {}, { stream: 'other-t1+p' }),
      stored('constructor', {}),
    ])
      expect(() => projection.changesOf(event)).toThrow(UnknownEventType);
  });

  it('passes the source of an event, and does not parse those that change nothing', () => {
    const sources: unknown[] = [];
    const listening = defineProjection({
      ...declaration,
      aggregates: [people, things],
      on: {
        PersonLeft: (_event, source) => {
          sources.push(source);
          return [];
        },
        ThingMade: nothing,
        ThingLabelled: nothing,
        ThingSeen: nothing,
      },
    });
    const source = { tenantId: 't1', revision: 4, eventId: 'event', requestId: 'r1' };
    const occurredAt = '2026-03-01T00:00:00.000Z';
    for (const stream of ['person-t1+p+1', 'person-p2', 'person-t10+p']) {
      listening.changesOf(stored('PersonLeft', { personId: 'p' }, { stream }));
      expect(sources.pop()).toEqual({ ...source, occurredAt, id: stream.replace(/^person-(t1\+)?/, '') });
    }
    const unread = Object.defineProperty(stored('ThingSeen', {}), 'data', {
      get: () => {
        throw new Error('parsed');
      },
    });
    expect(listening.changesOf(unread)).toEqual([]);
  });

  it('refuses a row without its key, a change of the key, and tables without the tenant', () => {
    expect(() => thing.set({ kind: 'a' }, { id: 'x' })).toThrow('thing: the key of a row does not change');
    expect(() => thing.with({ tenant_id: 't1' }, nothing)).toThrow('all columns of its key, also id');
    const { other } = declareTables<{ other: { id: string } }>({ other: { text: ['id'], primaryKey: ['id'] } });
    expect(() =>
      defineProjection({ ...declaration, aggregates: [people], tables: { other }, on: { PersonLeft: nothing } }),
    ).toThrow('other has no column tenant_id');
  });

  it('does not compile without one of the events, with an unknown one, or with rows of other columns', () => {
    const on = { ThingMade: nothing, ThingLabelled: nothing, ThingSeen: nothing, PersonLeft: nothing };
    const { PersonLeft: _, ...forgotten } = on;
    // @ts-expect-error -- PersonLeft is forgotten
    expect(defineProjection({ ...declaration, on: forgotten })).toBeDefined();
    // @ts-expect-error -- no aggregate has ThingLost
    expect(defineProjection({ ...declaration, on: { ...on, ThingLost: nothing } })).toBeDefined();
    // @ts-expect-error -- the data of an event have their own type
    expect(defineProjection({ ...declaration, on: { ...on, ThingMade: ({ data }) => data.label } })).toBeDefined();
    // @ts-expect-error -- a row has all columns
    expect(thing.put({ tenant_id: 't1', id: 's1', kind: 'a' })).toBeDefined();
    // @ts-expect-error -- a column has its type
    expect(thing.set({ tenant_id: 't1' }, { kind: 'c' })).toBeDefined();
    // @ts-expect-error -- no such column
    expect(thing.remove({ tenant_id: 't1', owner: 'x' })).toBeDefined();
  });
});
