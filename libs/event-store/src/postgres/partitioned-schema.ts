import { together, type Migrations } from '@attestry/postgres';
import {
  appendGroup,
  appendLock,
  appendUnits,
  COLUMNS,
  DEFINER,
  EVENT_GRANTS,
  refusal,
  refuseOn,
  tenants,
  type AppendSql,
} from './schema.js';

/** Positions of one partition; the store continues after the last one used, so a partition is never full. */
const SPAN = 10_000_000_000;
const DAY_MS = 86_400_000;
/** Number of partitions in the retention, which determines the days of events per partition. */
const PARTITIONS_KEPT = 12;

const makePartition = (
  schema: string,
  including: string,
): string => `CREATE OR REPLACE FUNCTION ${schema}.make_partition(first_position bigint) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
      name text := 'events_' || first_position / ${SPAN};
    BEGIN
      -- Made apart and then attached: that waits for no reader and keeps none waiting.
      EXECUTE format('CREATE TABLE ${schema}.%I (LIKE ${schema}.events INCLUDING DEFAULTS INCLUDING CONSTRAINTS ${including})', name);
      EXECUTE format('CREATE UNIQUE INDEX ON ${schema}.%I (stream, revision)', name);
      EXECUTE format('${refuseOn(`${schema}.%I`)} ${schema}.refuse_change()', name);
      EXECUTE format('ALTER TABLE ${schema}.events ATTACH PARTITION ${schema}.%I FOR VALUES FROM (%s) TO (%s)',
        name, first_position, first_position + ${SPAN});
      INSERT INTO ${schema}.partitions (first_position, name) VALUES (first_position, name);
    END $$;`;

/** Most streams that grow did so recently: the other partitions are queried only when the one in use has no event of the stream. */
const appendSql = (schema: string): AppendSql => ({
  declare: `
      in_use bigint;`,
  prepare: `
      in_use := (SELECT max(first_position) FROM ${schema}.partitions WHERE opened_at IS NOT NULL);`,
  lastRevision: `SELECT e.revision INTO actual FROM ${schema}.events AS e
          WHERE e.stream = a_stream AND e.position >= in_use ORDER BY e.revision DESC LIMIT 1;
        IF actual IS NULL THEN
          SELECT e.revision INTO actual FROM ${schema}.events AS e
            WHERE e.stream = a_stream ORDER BY e.revision DESC LIMIT 1;
        END IF;
        IF actual IS NULL THEN
          SELECT d.revision INTO actual FROM ${schema}.discarded AS d WHERE d.stream = a_stream;
        END IF;`,
});

/**
 * The same events, in partitions by ranges of positions, so that retention drops a table instead of deleting rows. There is always one
 * partition ahead of the one in use. When that has been in use for its time, the next position is the first of the one ahead: a partition
 * ends by the clock, its bounds are known beforehand, and an append never has to create one.
 */
const events = (schema: string): string => `
    CREATE TABLE ${schema}.events (${COLUMNS}
    ) PARTITION BY RANGE (position);
    CREATE INDEX events_category ON ${schema}.events (category, position);
    CREATE SEQUENCE ${schema}.positions AS bigint CACHE 1;
    ${refusal(schema)}
    ${refuseOn(`${schema}.events`)} ${schema}.refuse_change();

    -- How long events are kept, and the newest position that was discarded.
    CREATE TABLE ${schema}.retention (days integer NOT NULL CHECK (days > 0), discarded_to bigint NOT NULL DEFAULT 0);
    CREATE TABLE ${schema}.partitions (
      first_position bigint PRIMARY KEY,
      name text NOT NULL,
      -- By the clock of the leases, milliseconds; absent while no position was given out.
      opened_at bigint,
      remembered boolean NOT NULL DEFAULT false
    );
    -- Last revision of streams with discarded events, so that revisions are not used twice.
    CREATE TABLE ${schema}.discarded (stream text COLLATE "C" PRIMARY KEY, revision bigint NOT NULL);

    ${makePartition(schema, 'INCLUDING INDEXES')}
    REVOKE ALL ON FUNCTION ${schema}.make_partition FROM PUBLIC;

    -- Does one thing that is due and says what, or nothing when nothing is. It takes no argument: a service may have it done,
    -- and cannot have it done early.
    CREATE FUNCTION ${schema}.keep_partitions() RETURNS text
    LANGUAGE plpgsql VOLATILE ${DEFINER} SET lock_timeout = '1s' AS $$
    DECLARE
      now bigint := ${schema}.now_ms();
      days integer := (SELECT r.days FROM ${schema}.retention AS r);
      used bigint := (SELECT last_value FROM ${schema}.positions);
      one ${schema}.partitions;
      ahead ${schema}.partitions;
      newest bigint;
    BEGIN
      IF NOT pg_try_advisory_xact_lock(hashtextextended('attestry partitions ${schema}', 0)) THEN
        RETURN NULL;
      END IF;

      SELECT * INTO one FROM ${schema}.partitions WHERE first_position <= used ORDER BY first_position DESC LIMIT 1;
      IF one.opened_at IS NULL THEN
        UPDATE ${schema}.partitions SET opened_at = now WHERE first_position = one.first_position;
        RETURN 'opened ' || one.name;
      END IF;
      SELECT * INTO ahead FROM ${schema}.partitions WHERE first_position > used ORDER BY first_position LIMIT 1;
      IF ahead.name IS NULL THEN
        PERFORM ${schema}.make_partition(one.first_position + ${SPAN});
        RETURN 'made the partition after ' || one.name;
      END IF;
      IF now - one.opened_at >= ceil(days / ${PARTITIONS_KEPT}.0) * ${DAY_MS} THEN
        PERFORM pg_advisory_xact_lock(${appendLock(schema)});
        UPDATE ${schema}.partitions SET opened_at = now WHERE first_position = ahead.first_position;
        IF (SELECT last_value FROM ${schema}.positions) < ahead.first_position THEN
          PERFORM setval('${schema}.positions', ahead.first_position, false);
        END IF;
        RETURN 'opened ' || ahead.name;
      END IF;

      -- Whatever it holds is older than the moment its successor was opened.
      SELECT p.* INTO one FROM (
        SELECT first_position, lead(opened_at) OVER (ORDER BY first_position) AS closed_at FROM ${schema}.partitions
      ) AS closed JOIN ${schema}.partitions AS p USING (first_position)
      WHERE now - closed.closed_at >= days * ${DAY_MS}::bigint ORDER BY first_position LIMIT 1;
      IF one.name IS NULL THEN
        RETURN NULL;
      END IF;
      IF NOT one.remembered THEN
        -- From stream to stream through the index, however many events each has.
        EXECUTE format('INSERT INTO ${schema}.discarded AS d (stream, revision)
          WITH RECURSIVE last AS (
            (SELECT stream, revision FROM ${schema}.%1$I ORDER BY stream DESC, revision DESC LIMIT 1)
            UNION ALL
            SELECT e.* FROM last CROSS JOIN LATERAL (
              SELECT stream, revision FROM ${schema}.%1$I WHERE stream < last.stream
              ORDER BY stream DESC, revision DESC LIMIT 1) AS e
          )
          SELECT stream, revision FROM last
          ON CONFLICT (stream) DO UPDATE SET revision = greatest(d.revision, excluded.revision)', one.name);
        UPDATE ${schema}.partitions SET remembered = true WHERE first_position = one.first_position;
        RETURN 'remembered ' || one.name;
      END IF;
      EXECUTE format('SELECT max(position) FROM ${schema}.%I', one.name) INTO newest;
      UPDATE ${schema}.retention SET discarded_to = greatest(discarded_to, newest);
      DELETE FROM ${schema}.partitions WHERE first_position = one.first_position;
      EXECUTE format('DROP TABLE ${schema}.%I', one.name);
      RETURN 'dropped ' || one.name;
    END $$;
    REVOKE ALL ON FUNCTION ${schema}.keep_partitions FROM PUBLIC;

    ${appendGroup(schema, appendSql(schema))}
    SELECT ${schema}.make_partition(0);
    UPDATE ${schema}.partitions SET opened_at = ${schema}.now_ms();
    SELECT ${schema}.make_partition(${SPAN});`;

const tenantsInPartitions = (schema: string): string => `
    ${tenants(schema)}
    ${makePartition(schema, 'INCLUDING GENERATED INCLUDING INDEXES')}`;

/** Functions that a store needs, whatever the retention is. */
export const PARTITIONED_EVENTS: Pick<Migrations, 'component' | 'steps'> = {
  component: 'partitioned events',
  steps: [together(events, tenantsInPartitions, (schema) => appendUnits(schema, appendSql(schema)))],
};

export interface Retention {
  /** Events are kept this long, and at most a twelfth of it longer. `undefined`: {@link DEFAULT_RETENTION_DAYS}, or what is stored. */
  days: number | undefined;
  /** A stored retention that is shorter becomes `days`. Default: it stays. */
  mayLengthen?: boolean;
}

export const DEFAULT_RETENTION_DAYS = 400;

/** The retention is stored beside the events, so that it is the same for all processes. */
export const partitionedEventTables = ({ days, mayLengthen = false }: Retention): Migrations => {
  const retentionDays = days ?? DEFAULT_RETENTION_DAYS;
  if (!Number.isInteger(retentionDays) || retentionDays < 1)
    throw new RangeError(`retention of ${retentionDays} days, expected a whole number from 1 on`);
  return {
    ...PARTITIONED_EVENTS,
    settings: (schema) => `
    INSERT INTO ${schema}.retention (days) SELECT ${retentionDays} WHERE NOT EXISTS (SELECT FROM ${schema}.retention);
    ${days === undefined ? '' : `UPDATE ${schema}.retention SET days = ${days}${mayLengthen ? '' : ` WHERE days > ${days}`};`}`,
    grants: () => [
      ...EVENT_GRANTS,
      { on: 'retention', privileges: 'SELECT' },
      { on: 'partitions', privileges: 'SELECT' },
      { on: 'FUNCTION keep_partitions()', privileges: 'EXECUTE' },
    ],
  };
};
