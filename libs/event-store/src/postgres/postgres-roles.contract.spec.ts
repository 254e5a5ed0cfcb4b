import { describeOnPostgres, waitUntil } from '@attestry/testing';
import type pg from 'pg';
import { WrongExpectedRevision } from '../event-store.js';
import { anEvent, Collector, Fixture } from './fixture.js';
import type { Retention } from './partitioned-schema.js';

const DENIED = { code: '42501' };

describeOnPostgres('event store: roles of PostgreSQL', (server) => {
  let fixture: Fixture;
  let owner: pg.Client;
  beforeAll(async () => {
    const admin = await new Fixture((role) => server().url(role)).connect();
    await admin.query('CREATE ROLE service LOGIN; CREATE ROLE stranger LOGIN');
    await admin.end();
  });
  beforeEach(async () => {
    fixture = new Fixture((role) => server().url(role));
    owner = await fixture.connect();
  });
  afterEach(() => fixture.close());

  const stored = async () =>
    (await owner.query(`SELECT * FROM ${fixture.schema}.events ORDER BY position`)).rows as unknown[];

  const changes = (schema: string): string[] => [
    `INSERT INTO ${schema}.events VALUES (99, 'a-1', 'a', 99, 'x', 'Forged', 1, '{}', '{}')`,
    `UPDATE ${schema}.events SET data = '{"forged":true}'`,
    `DELETE FROM ${schema}.events`,
    `TRUNCATE ${schema}.events`,
    `COPY ${schema}.events FROM '/dev/null'`,
    `DO $$ BEGIN LOCK TABLE ${schema}.events IN ACCESS EXCLUSIVE MODE; END $$`,
    `DROP TABLE ${schema}.events`,
    `DROP SCHEMA ${schema} CASCADE`,
    `ALTER TABLE ${schema}.events ADD COLUMN extra text`,
    `ALTER TABLE ${schema}.events DISABLE TRIGGER ALL`,
    `ALTER TABLE ${schema}.events RENAME TO gone`,
    `CREATE TRIGGER forge BEFORE INSERT ON ${schema}.events FOR EACH ROW EXECUTE FUNCTION ${schema}.refuse_change()`,
    `CREATE RULE forge AS ON INSERT TO ${schema}.events DO INSTEAD NOTHING`,
    `CREATE INDEX ON ${schema}.events (type)`,
    `CREATE TABLE ${schema}.extra (n integer)`,
    `CREATE FUNCTION ${schema}.extra() RETURNS integer LANGUAGE sql AS 'SELECT 1'`,
    `ALTER FUNCTION ${schema}.append_group SECURITY INVOKER`,
    `DROP FUNCTION ${schema}.append_group`,
    `ALTER FUNCTION ${schema}.append_units SECURITY INVOKER`,
    `DROP FUNCTION ${schema}.append_units`,
    `SELECT setval('${schema}.positions', 1)`,
    `SELECT nextval('${schema}.positions')`,
    `GRANT ALL ON ${schema}.events TO service; DELETE FROM ${schema}.events`,
    `SET ROLE postgres`,
    `DELETE FROM ${schema}.leases`,
    // In the own session a function can be made, and it runs with the service's own rights.
    `CREATE FUNCTION pg_temp.change() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'UPDATE ${schema}.events SET id = id';
     SELECT pg_temp.change()`,
    `DO $$ BEGIN EXECUTE 'DELETE FROM ${schema}.events'; END $$`,
  ];
  const changesOfPartitions = (schema: string): string[] => [
    `INSERT INTO ${schema}.events_0 VALUES (99, 'a-1', 'a', 99, 'x', 'Forged', 1, '{}', '{}')`,
    `DELETE FROM ${schema}.events_0`,
    `TRUNCATE ${schema}.events_0`,
    `DROP TABLE ${schema}.events_0`,
    `ALTER TABLE ${schema}.events DETACH PARTITION ${schema}.events_0`,
    `UPDATE ${schema}.retention SET days = 1`,
    `UPDATE ${schema}.partitions SET opened_at = 0`,
    `DELETE FROM ${schema}.discarded`,
    `SELECT ${schema}.make_partition(90000000000)`,
    `CREATE OR REPLACE FUNCTION ${schema}.now_ms() RETURNS bigint LANGUAGE sql AS 'SELECT 9e15::bigint'`,
  ];
  const kinds: [string, Retention | undefined, (schema: string) => string[]][] = [
    ['kept for ever', undefined, changes],
    ['in partitions', { days: 10 }, (schema) => [...changes(schema), ...changesOfPartitions(schema)]],
  ];

  describe.each(kinds)('events %s', (_, retention, attempts) => {
    it('can be appended, read and subscribed to by a service, which can use leases and checkpoints', async () => {
      await fixture.migrate({ serviceRole: 'service', retention });
      const store = await fixture.open({ url: server().url('service') });
      const collector = new Collector(store);
      const { position } = await store.append('a-1', [anEvent('1'), anEvent('2')], -1);
      await expect(store.append('a-1', [anEvent('3')], 7)).rejects.toThrow(WrongExpectedRevision);
      expect((await store.readStream('a-1')).map(({ id }) => id)).toEqual(['1', '2']);
      await waitUntil(() => collector.ids.length === 2);
      const lease = (await store.leases.acquire('l', 'me', 60_000))!;
      await store.checkpoints.write('l', position, lease.epoch);
      await store.leases.release(lease);
      expect(await store.checkpoints.read('l')).toBe(position);
      expect(fixture.failures).toEqual([]);
    });

    it('cannot be changed by a service in any way', async () => {
      await fixture.migrate({ serviceRole: 'service', retention });
      await (await fixture.open()).append('a-1', [anEvent('1'), anEvent('2')], -1);
      const before = await stored();
      const service = await fixture.connect('service');
      const outcomes: [string, unknown][] = [];
      for (const sql of attempts(fixture.schema))
        outcomes.push([
          sql,
          await service.query(sql).then(
            () => 'done',
            (error: pg.DatabaseError) => error.code,
          ),
        ]);
      expect(outcomes.filter(([, outcome]) => outcome !== DENIED.code)).toEqual([]);
      expect(await stored()).toEqual(before);
    });

    it('cannot be changed by the owner by mistake', async () => {
      await fixture.migrate({ retention });
      await (await fixture.open()).append('a-1', [anEvent('1')], -1);
      const tables = ['events', ...(retention ? ['events_0', 'events_1'] : [])];
      for (const table of tables.map((name) => `${fixture.schema}.${name}`)) {
        await expect(owner.query(`UPDATE ${table} SET type = 'Other'`)).rejects.toMatchObject(DENIED);
        await expect(owner.query(`DELETE FROM ${table}`)).rejects.toMatchObject(DENIED);
        await expect(owner.query(`TRUNCATE ${table}`)).rejects.toMatchObject(DENIED);
      }
      expect(await stored()).toHaveLength(1);
    });

    it('are not accessible to a role without grants', async () => {
      await fixture.migrate({ serviceRole: 'service', retention });
      const outsider = await fixture.connect('stranger');
      await expect(outsider.query(`SELECT FROM ${fixture.schema}.events`)).rejects.toMatchObject(DENIED);
      await expect(fixture.appendOn(outsider, 'a-1', '1', -1)).rejects.toMatchObject(DENIED);
    });

    it('are appended by the functions of the owner, even if a service defines others', async () => {
      await fixture.migrate({ serviceRole: 'service', retention });
      const service = await fixture.connect('service');
      await service.query(
        `CREATE TEMP TABLE events (stream text, revision bigint);
         CREATE FUNCTION pg_temp.split_part(text, text, integer) RETURNS text LANGUAGE sql AS $$ SELECT 'forged' $$;
         SET search_path = pg_temp, pg_catalog`,
      );
      await fixture.appendOn(service, 'a-1', '1', -1);
      expect(await stored()).toMatchObject([{ stream: 'a-1', category: 'a', revision: '0', id: '1' }]);
    });
  });

  it('appends are refused in a transaction that could not see the newest events, and are durable in any other', async () => {
    await fixture.migrate({ serviceRole: 'service' });
    const service = await fixture.connect('service');
    await service.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await expect(fixture.appendOn(service, 'a-1', '1', -1)).rejects.toThrow('read committed');
    await service.query('ROLLBACK; SET synchronous_commit = off; BEGIN');
    await fixture.appendOn(service, 'a-1', '1', -1);
    expect((await service.query('SHOW synchronous_commit')).rows).toEqual([{ synchronous_commit: 'on' }]);
    await service.query('COMMIT');
  });

  it('migrations run twice, several at once, and a store without them is refused', async () => {
    await expect(fixture.open()).rejects.toThrow('npm run migrate');
    await Promise.all([1, 2, 3].map(() => fixture.migrate({ serviceRole: 'service' })));
    const store = await fixture.open();
    await store.append('a-1', [anEvent('1')], -1);
    await fixture.migrate({ serviceRole: 'service' });
    expect(await stored()).toHaveLength(1);
  });
});
