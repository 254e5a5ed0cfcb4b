import { together, type Grant, type Migrations } from '@attestry/postgres';

/** Key of the lock under which positions are assigned; one per schema. */
export const appendLock = (schema: string): string => `hashtextextended('attestry append ${schema}', 0)`;

/** Runs with the rights of the role that migrated; the search path contains no schema that other roles write to. */
export const DEFINER = 'SECURITY DEFINER SET search_path = pg_catalog, pg_temp';

export const COLUMNS = `
      position bigint PRIMARY KEY,
      stream text COLLATE "C" NOT NULL CHECK (strpos(stream, '-') > 1),
      category text COLLATE "C" NOT NULL,
      revision bigint NOT NULL,
      id text COLLATE "C" NOT NULL,
      type text NOT NULL,
      schema_version integer NOT NULL,
      data text NOT NULL,
      metadata text NOT NULL`;

/** Not even the owner of the table changes events by mistake. */
export const refusal = (schema: string): string => `
    CREATE FUNCTION ${schema}.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'events are only added, never changed or removed' USING ERRCODE = 'insufficient_privilege';
    END $$;`;
export const refuseOn = (table: string): string =>
  `CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ${table}
      FOR EACH STATEMENT EXECUTE FUNCTION`;

/** Parts of a function that appends to a schema's events. */
export interface AppendSql {
  declare?: string;
  prepare?: string;
  /** Sets `actual` for `a_stream`, to null where it has no event. */
  lastRevision: string;
}

/** An append is a stream, the revision expected and a number of events; the other arrays hold the events of all appends in turn. */
const APPENDS = `streams text[], revisions bigint[], counts integer[],
      event_ids text[], event_types text[], event_versions integer[], event_data text[], event_metadata text[]`;

const variables = (declare: string): string => `
      -- Assigned, an array is unpacked once; an argument would be for each of its members.
      ids text[] := event_ids;
      types text[] := event_types;
      versions integer[] := event_versions;
      bodies text[] := event_data;
      details text[] := event_metadata;
      at integer := 0;
      a_stream text;
      a_category text;
      expected bigint;
      stored text[];
      newest bigint;
      touched text[] := '{}';${declare}`;

const beginAppends = (schema: string, prepare: string): string => `
      -- What was committed before the lock was granted must be seen after it.
      IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'appends need the isolation level "read committed"';
      END IF;
      IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
      END IF;
      PERFORM pg_advisory_xact_lock(${appendLock(schema)});${prepare}`;

const notifyAppends = (schema: string): string => `
      IF newest IS NOT NULL THEN
        -- A payload has at most 8,000 bytes; without categories it stands for all of them.
        PERFORM pg_notify('${schema}.events', CASE
          WHEN octet_length(array_to_json(touched)::text) < 7000 THEN json_build_array(newest, touched)
          ELSE json_build_array(newest) END::text);
      END IF;`;

/**
 * Positions are assigned and committed under one lock of the transaction, so none becomes visible before an earlier one; a group of appends
 * of one process shares a transaction, and a lock (ADR 0017). Services may execute this function and have no other way to add an event.
 */
export const appendGroup = (schema: string, { declare = '', prepare = '', lastRevision }: AppendSql): string => `
    -- Appends a group, each append all or none. Answers for each: the revision the stream was at, and the last
    -- position, absent when it was refused.
    CREATE FUNCTION ${schema}.append_group(
      ${APPENDS}
    ) RETURNS TABLE (actual bigint, last_position bigint, fresh boolean)
    LANGUAGE plpgsql VOLATILE ${DEFINER} AS $$
    #variable_conflict use_column
    DECLARE${variables(declare)}
    BEGIN${beginAppends(schema, prepare)}
      FOR i IN 1..cardinality(streams) LOOP
        a_stream := streams[i];
        a_category := split_part(a_stream, '-', 1);
        expected := revisions[i];
        last_position := NULL;
        fresh := false;
        ${lastRevision}
        actual := coalesce(actual, -1);
        IF actual = expected THEN
          FOR k IN 1..counts[i] LOOP
            INSERT INTO ${schema}.events (position, stream, category, revision, id, type, schema_version, data, metadata)
            VALUES (nextval('${schema}.positions'), a_stream, a_category, expected + k,
              ids[at + k], types[at + k], versions[at + k], bodies[at + k], details[at + k])
            RETURNING position INTO last_position;
          END LOOP;
          fresh := true;
          newest := last_position;
          IF NOT a_category = ANY (touched) THEN
            touched := touched || a_category;
          END IF;
        ELSIF actual >= expected + counts[i] THEN
          SELECT array_agg(e.id ORDER BY e.revision), max(e.position) INTO stored, last_position
          FROM ${schema}.events AS e
          WHERE e.stream = a_stream AND e.revision BETWEEN expected + 1 AND expected + counts[i];
          IF stored IS DISTINCT FROM ids[at + 1 : at + counts[i]] THEN
            last_position := NULL;
          END IF;
        END IF;
        at := at + counts[i];
        RETURN NEXT;
      END LOOP;${notifyAppends(schema)}
    END $$;
    REVOKE ALL ON FUNCTION ${schema}.append_group FROM PUBLIC;`;

/**
 * The same for units of several appends. A unit is checked before any of it is written, so a refused one leaves nothing and the others of
 * the group need no subtransaction.
 */
export const appendUnits = (schema: string, { declare = '', prepare = '', lastRevision }: AppendSql): string => `
    -- Appends units, each all or none: \`sizes\` has the number of appends of each, \`refused\` the numbers of units that are only answered
    -- when all of their events are stored already. Answers for each unit: the first of its appends, from 0, whose stream was
    -- not as expected and the revision it was at, or the last position of its last append; neither for a refused unit.
    CREATE FUNCTION ${schema}.append_units(
      ${APPENDS},
      sizes integer[], refused integer[]
    ) RETURNS TABLE (conflict integer, actual bigint, last_position bigint, fresh boolean)
    LANGUAGE plpgsql VOLATILE ${DEFINER} AS $$
    #variable_conflict use_column
    DECLARE${variables(declare)}
      first integer := 1;
      begun integer;
      missing boolean[];
    BEGIN${beginAppends(schema, prepare)}
      FOR unit IN 1..cardinality(sizes) LOOP
        conflict := NULL;
        fresh := false;
        missing := '{}';
        begun := at;
        FOR i IN first .. first + sizes[unit] - 1 LOOP
          a_stream := streams[i];
          expected := revisions[i];
          ${lastRevision}
          actual := coalesce(actual, -1);
          last_position := NULL;
          IF actual = expected THEN
            missing[i] := true;
            fresh := true;
          ELSE
            IF actual >= expected + counts[i] THEN
              SELECT array_agg(e.id ORDER BY e.revision), max(e.position) INTO stored, last_position
              FROM ${schema}.events AS e
              WHERE e.stream = a_stream AND e.revision BETWEEN expected + 1 AND expected + counts[i];
            END IF;
            IF last_position IS NULL OR stored IS DISTINCT FROM ids[at + 1 : at + counts[i]] THEN
              conflict := i - first;
              EXIT;
            END IF;
          END IF;
          at := at + counts[i];
        END LOOP;
        at := begun;
        IF conflict IS NOT NULL OR fresh AND unit = ANY (refused) THEN
          last_position := NULL;
          fresh := false;
        END IF;
        FOR i IN first .. first + sizes[unit] - 1 LOOP
          IF fresh AND missing[i] THEN
            a_stream := streams[i];
            a_category := split_part(a_stream, '-', 1);
            FOR k IN 1..counts[i] LOOP
              INSERT INTO ${schema}.events (position, stream, category, revision, id, type, schema_version, data, metadata)
              VALUES (nextval('${schema}.positions'), a_stream, a_category, revisions[i] + k,
                ids[at + k], types[at + k], versions[at + k], bodies[at + k], details[at + k])
              RETURNING position INTO newest;
            END LOOP;
            IF i = first + sizes[unit] - 1 THEN
              last_position := newest;
            END IF;
            IF NOT a_category = ANY (touched) THEN
              touched := touched || a_category;
            END IF;
          END IF;
          at := at + counts[i];
        END LOOP;
        first := first + sizes[unit];
        RETURN NEXT;
      END LOOP;${notifyAppends(schema)}
    END $$;
    REVOKE ALL ON FUNCTION ${schema}.append_units FROM PUBLIC;`;

const appendSql = (schema: string): AppendSql => ({
  lastRevision: `SELECT e.revision INTO actual FROM ${schema}.events AS e
          WHERE e.stream = a_stream ORDER BY e.revision DESC LIMIT 1;`,
});

const events = (schema: string): string => `
    CREATE TABLE ${schema}.events (${COLUMNS},
      UNIQUE (stream, revision)
    );
    CREATE INDEX events_category ON ${schema}.events (category, position);
    CREATE SEQUENCE ${schema}.positions AS bigint CACHE 1;
    ${refusal(schema)}
    ${refuseOn(`${schema}.events`)} ${schema}.refuse_change();
    ${appendGroup(schema, appendSql(schema))}`;

/** Computed by the server; tenant-of.ts. */
export const tenants = (schema: string): string => `
    ALTER TABLE ${schema}.events ADD COLUMN tenant_id text COLLATE "C" GENERATED ALWAYS AS (
      CASE WHEN strpos(stream, '+') > strpos(stream, '-') AND category NOT LIKE '%subdomain'
        THEN substring(stream FROM strpos(stream, '-') + 1 FOR strpos(stream, '+') - strpos(stream, '-') - 1)
        ELSE substring(metadata FROM '"tenantId":"([^"]*)"') END
    ) STORED;
    CREATE INDEX events_tenant ON ${schema}.events (tenant_id, position);
    CREATE INDEX events_tenant_streams ON ${schema}.events (tenant_id, stream, revision);`;

/** A service may add events only in the way that keeps their order, and neither change nor remove one. */
const APPEND_GROUP = 'FUNCTION append_group(text[],bigint[],integer[],text[],text[],integer[],text[],text[])';

const APPEND_UNITS = APPEND_GROUP.replace('append_group', 'append_units').replace(/\)$/, ',integer[],integer[])');

/** Rights of services on events, whatever their retention is. */
export const EVENT_GRANTS: readonly Grant[] = [
  { on: 'events', privileges: 'SELECT' },
  { on: APPEND_GROUP, privileges: 'EXECUTE' },
  { on: APPEND_UNITS, privileges: 'EXECUTE' },
];

export const EVENT_TABLES: Migrations = {
  component: 'events',
  steps: [together(events, tenants, (schema) => appendUnits(schema, appendSql(schema)))],
  grants: () => EVENT_GRANTS,
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

const snapshots = (schema: string): string => `
    CREATE TABLE ${schema}.snapshots (
      stream text COLLATE "C" PRIMARY KEY,
      revision bigint NOT NULL,
      chain text NOT NULL,
      state_version text NOT NULL,
      state bytea NOT NULL
    );`;

/** Leases, the checkpoints they fence, and snapshots; also for events in another engine. */
export const LEASE_TABLES: Migrations = {
  component: 'leases',
  steps: [together(leases, snapshots)],
  grants: () => [
    { on: 'leases', privileges: 'SELECT, INSERT, UPDATE' },
    { on: 'checkpoints', privileges: 'SELECT, INSERT, UPDATE' },
    { on: 'snapshots', privileges: 'SELECT, INSERT, UPDATE' },
  ],
};
