import { migrateSchema } from '@attestry/postgres';
import { describeOnPostgres } from '@attestry/testing';
import { Fixture } from './fixture.js';
import { PARTITIONED_EVENTS } from './partitioned-schema.js';
import { EVENT_TABLES } from './schema.js';

describeOnPostgres('event store: tenants of events stored before, on PostgreSQL', (server) => {
  let fixture: Fixture;
  beforeEach(() => {
    fixture = new Fixture((role) => server().url(role));
  });
  afterEach(() => fixture.close());

  it.each([
    ['kept forever', EVENT_TABLES, undefined],
    ['in partitions', { ...PARTITIONED_EVENTS, grants: () => [] }, { days: 12 }],
  ])('are found after the migration: %s', async (_name, { component, steps, grants }, retention) => {
    const { schema } = fixture;
    // `now_ms` of the leases dates partitions.
    await fixture.migrateLeases();
    await migrateSchema({ url: server().url(), schema }, { component, steps: steps.slice(0, 1), grants });
    const client = await fixture.connect();
    if (retention !== undefined) await client.query(`INSERT INTO ${schema}.retention (days) VALUES (12)`);
    const append = (stream: string, id: string, tenantId: string) =>
      fixture.appendOn(client, stream, id, -1, `{"tenantId":"${tenantId}","requestId":"r","chain":"c"}`);
    await append('did-t1+d', '1', 't1');
    await append('tenant-t1', '2', 't1');
    await append('subdomain-t2+name', '3', 't1');
    await append('did-t2+d', '4', 't2');
    await fixture.migrate({ retention });
    // A process of the previous release continues beside this one.
    await append('did-t1+later', '5', 't1');
    const store = await fixture.open();
    expect((await store.readTenant('t1', undefined, 10)).events.map(({ id }) => id)).toEqual(['1', '2', '3', '5']);
    expect(await store.tenantStreams('t1', undefined, 3)).toEqual(['did-t1+d', 'did-t1+later', 'subdomain-t2+name']);
    expect(await store.tenantStreams('t1', 'subdomain-t2+name', 3)).toEqual(['tenant-t1']);
    if (retention === undefined) return;
    // The next partition has the column, too.
    await client.query(`SELECT ${schema}.make_partition(20000000000)`);
    await client.query(`SELECT setval('${schema}.positions', 20000000000, false)`);
    await append('did-t1+last', '6', 't1');
    expect((await store.readTenant('t1', undefined, 10)).events.map(({ id }) => id)).toContain('6');
  });
});
