import type { Client } from 'pg';

/** Of the tables and functions below. A release that needs more makes it a larger number and adds to `STEPS`. */
export const SCHEMA_VERSION = 1;

/** Key of the lock under which positions are given out; one per schema. */
export const appendLock = (schema: string): string => `hashtextextended('attestry append ${schema}', 0)`;

/**
 * Migrations only add. Positions are given out and committed under one lock of the transaction, so none becomes visible
 * before an earlier one; a group of appends of one process shares a transaction, and a lock.
 */
const STEPS = [
  (schema: string): string => `
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
      $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

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
    END $$;`,
];

/** Makes tables and functions, or what is missing of them. May run twice and in several processes at once. */
export const migrate = async (client: Client, schema: string, serviceRole: string | undefined): Promise<void> => {
  await client.query('BEGIN');
  try {
    await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('attestry migrate', 0))`);
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await client.query(`CREATE TABLE IF NOT EXISTS ${schema}.event_store_version (version integer NOT NULL)`);
    const found = await versionOf(client, schema);
    for (const step of STEPS.slice(found)) await client.query(step(schema));
    if (found < SCHEMA_VERSION) {
      await client.query(`DELETE FROM ${schema}.event_store_version`);
      await client.query(`INSERT INTO ${schema}.event_store_version VALUES (${SCHEMA_VERSION})`);
    }
    if (serviceRole !== undefined) await grant(client, schema, client.escapeIdentifier(serviceRole));
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
};

/** A service may add events, and neither change nor remove one. */
const grant = async (client: Client, schema: string, role: string): Promise<void> => {
  await client.query(`
    GRANT USAGE ON SCHEMA ${schema} TO ${role};
    GRANT SELECT ON ${schema}.event_store_version TO ${role};
    GRANT SELECT, INSERT ON ${schema}.events TO ${role};
    GRANT USAGE ON SEQUENCE ${schema}.positions TO ${role};
    GRANT SELECT, INSERT, UPDATE ON ${schema}.leases, ${schema}.checkpoints TO ${role};`);
};

/** 0 where nothing was migrated. */
export const versionOf = async (client: Pick<Client, 'query'>, schema: string): Promise<number> => {
  const { rows } = await client.query<{ version: number }>(
    `SELECT coalesce(max(version), 0)::integer AS version FROM ${schema}.event_store_version`,
  );
  return rows[0]!.version;
};
