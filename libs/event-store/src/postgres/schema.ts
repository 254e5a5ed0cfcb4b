import type { Migrations } from '@attestry/postgres';

/** Key of the lock under which positions are given out; one per schema. */
const appendLock = (schema: string): string => `hashtextextended('attestry append ${schema}', 0)`;

/**
 * Migrations only add. Positions are given out and committed under one lock of the transaction, so none becomes visible
 * before an earlier one; a group of appends of one process shares a transaction, and a lock.
 */
const events = (schema: string): string => `
    CREATE TABLE ${schema}.events (
      position bigint PRIMARY KEY,
      stream text COLLATE "C" NOT NULL,
      category text COLLATE "C" NOT NULL,
      revision bigint NOT NULL,
      id text COLLATE "C" NOT NULL,
      type text NOT NULL,
      schema_version integer NOT NULL,
      data text NOT NULL,
      metadata text NOT NULL,
      UNIQUE (stream, revision)
    );
    CREATE INDEX events_category ON ${schema}.events (category, position);
    CREATE SEQUENCE ${schema}.positions AS bigint CACHE 1;
    -- Appends a group, each all or none: [{"stream", "category", "expected", "events": [[id, type, version, data, metadata]]}].
    -- Answers for each: the revision the stream was at, and the last position, absent when it was refused.
    CREATE FUNCTION ${schema}.append_group(appends json)
    RETURNS TABLE (actual bigint, last_position bigint, fresh boolean) LANGUAGE plpgsql VOLATILE AS $$
    DECLARE
      one json;
      expected bigint;
      count integer;
      stored text[];
      newest bigint;
    BEGIN
      PERFORM pg_advisory_xact_lock(${appendLock(schema)});
      FOR one IN SELECT value FROM json_array_elements(appends) LOOP
        expected := (one->>'expected')::bigint;
        count := json_array_length(one->'events');
        last_position := NULL;
        fresh := false;
        SELECT e.revision INTO actual FROM ${schema}.events e
          WHERE e.stream = one->>'stream' ORDER BY e.revision DESC LIMIT 1;
        actual := coalesce(actual, -1);
        IF actual = expected THEN
          WITH given AS (
            SELECT value AS event, ordinality AS at FROM json_array_elements(one->'events') WITH ORDINALITY
          ), inserted AS (
            INSERT INTO ${schema}.events (position, stream, category, revision, id, type, schema_version, data, metadata)
            SELECT nextval('${schema}.positions'), one->>'stream', one->>'category', expected + at,
              event->>0, event->>1, (event->>2)::integer, event->>3, event->>4
            FROM given ORDER BY at
            RETURNING position
          )
          SELECT max(position) INTO last_position FROM inserted;
          newest := last_position;
          fresh := true;
        ELSIF actual >= expected + count THEN
          SELECT array_agg(e.id ORDER BY e.revision), max(e.position) INTO stored, last_position
          FROM ${schema}.events e
          WHERE e.stream = one->>'stream' AND e.revision BETWEEN expected + 1 AND expected + count;
          IF stored IS DISTINCT FROM ARRAY(SELECT value->>0 FROM json_array_elements(one->'events')) THEN
            last_position := NULL;
          END IF;
        END IF;
        RETURN NEXT;
      END LOOP;
      IF newest IS NOT NULL THEN
        PERFORM pg_notify('${schema}.events', newest::text);
      END IF;
    END $$;`;

/** A service may add events, and neither change nor remove one. */
export const EVENT_TABLES: Migrations = {
  component: 'events',
  steps: [events],
  grants: () => [
    { on: 'events', privileges: 'SELECT, INSERT' },
    { on: 'SEQUENCE positions', privileges: 'USAGE' },
  ],
};

const leases = (schema: string): string => `
    CREATE TABLE ${schema}.leases (
      name text COLLATE "C" PRIMARY KEY,
      holder text NOT NULL,
      epoch bigint NOT NULL,
      expires_at bigint NOT NULL
    );
    CREATE TABLE ${schema}.checkpoints (
      name text COLLATE "C" PRIMARY KEY,
      position text NOT NULL,
      epoch bigint NOT NULL
    );

    -- Milliseconds since the epoch, by this server's clock, also within a transaction.
    CREATE FUNCTION ${schema}.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
      $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;`;

/** Leases and the checkpoints they fence; also for events that are kept elsewhere. */
export const LEASE_TABLES: Migrations = {
  component: 'leases',
  steps: [leases],
  grants: () => [
    { on: 'leases', privileges: 'SELECT, INSERT, UPDATE' },
    { on: 'checkpoints', privileges: 'SELECT, INSERT, UPDATE' },
  ],
};
