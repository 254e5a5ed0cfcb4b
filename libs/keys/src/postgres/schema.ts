import type { Migrations } from '@attestry/postgres';

/** Of one tenant's keys. Makers share it, for which no row is written; whoever destroys has it alone. */
export const tenantLock = (schema: string, tenant: string): string =>
  `hashtextextended('attestry keys ${schema} ' || ${tenant}, 0)`;

/** Channel on which processes tell each other what ended and what is new; its texts hold no key. */
export const newsChannel = (schema: string): string => `${schema}.keys`;

const zeros = (bytes: number): string => `decode(repeat('00', ${bytes}), 'hex')`;

// A destroyed row stays as the tombstone, its key overwritten with zeros. The version of the row before that goes when the
// table is vacuumed, which is therefore done at every opportunity (ADR 0018).
const VACUUM_SOON = 'WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 0)';

const keys = (schema: string): string => `
    CREATE TABLE ${schema}.tenant_keys (
      tenant text COLLATE "C" PRIMARY KEY,
      live boolean NOT NULL,
      wrapped bytea NOT NULL
    ) ${VACUUM_SOON};
    CREATE TABLE ${schema}.signing_keys (
      seq bigint GENERATED ALWAYS AS IDENTITY,
      key_id text COLLATE "C" NOT NULL,
      tenant text COLLATE "C" NOT NULL,
      purpose text COLLATE "C" NOT NULL,
      algorithm text COLLATE "C" NOT NULL,
      public_jwk text NOT NULL,
      created_at text NOT NULL,
      live boolean NOT NULL,
      sealed bytea NOT NULL,
      PRIMARY KEY (tenant, key_id)
    ) ${VACUUM_SOON};
    CREATE INDEX signing_keys_by_purpose ON ${schema}.signing_keys (tenant, purpose, seq);
    CREATE TABLE ${schema}.data_keys (
      tenant text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      purpose text COLLATE "C" NOT NULL,
      live boolean NOT NULL,
      sealed bytea NOT NULL,
      PRIMARY KEY (tenant, id, purpose)
    ) ${VACUUM_SOON};
    CREATE TABLE ${schema}.peppers (
      seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      id text COLLATE "C" NOT NULL UNIQUE,
      wrapped bytea NOT NULL
    ) ${VACUUM_SOON};
    CREATE TABLE ${schema}.checkpoints (
      name text COLLATE "C" PRIMARY KEY,
      position text NOT NULL
    );

    -- Several keys in one go, of several tenants. For each: whether the id, or the tenant, has ended; and what is kept.
    CREATE FUNCTION ${schema}.put_data_keys(tenants text[], purposes text[], ids text[], seals bytea[])
    RETURNS TABLE (place bigint, has_ended boolean, kept bytea) LANGUAGE plpgsql VOLATILE AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock_shared(${tenantLock(schema, 'named.tenant')})
        FROM (SELECT DISTINCT unnest(tenants) AS tenant) AS named;
      -- In one order, so that two groups with the same keys do not wait for each other.
      INSERT INTO ${schema}.data_keys (tenant, id, purpose, live, sealed)
        SELECT given.tenant, given.id, given.purpose, true, given.sealed
        FROM unnest(tenants, purposes, ids, seals) WITH ORDINALITY AS given(tenant, purpose, id, sealed, nth)
        WHERE NOT EXISTS (SELECT FROM ${schema}.tenant_keys t WHERE t.tenant = given.tenant AND NOT t.live)
          AND NOT EXISTS (
            SELECT FROM ${schema}.data_keys d WHERE d.tenant = given.tenant AND d.id = given.id AND NOT d.live)
        ORDER BY given.tenant, given.id, given.purpose, given.nth
        ON CONFLICT DO NOTHING;
      RETURN QUERY
        SELECT given.nth,
          EXISTS (SELECT FROM ${schema}.tenant_keys t WHERE t.tenant = given.tenant AND NOT t.live)
            OR EXISTS (
              SELECT FROM ${schema}.data_keys d WHERE d.tenant = given.tenant AND d.id = given.id AND NOT d.live),
          (SELECT d.sealed FROM ${schema}.data_keys d
            WHERE d.tenant = given.tenant AND d.id = given.id AND d.purpose = given.purpose)
        FROM unnest(tenants, purposes, ids) WITH ORDINALITY AS given(tenant, purpose, id, nth)
        ORDER BY given.nth;
    END $$;

    -- An absent key gets its tombstone too: its maker may still be on the way.
    CREATE FUNCTION ${schema}.destroy_keys(ended_tenant text, ended text[])
    RETURNS void LANGUAGE plpgsql VOLATILE AS $$
    DECLARE
      news text := json_build_object('tenant', ended_tenant, 'keyIds', ended);
    BEGIN
      PERFORM pg_advisory_xact_lock(${tenantLock(schema, 'ended_tenant')});
      UPDATE ${schema}.signing_keys SET live = false, sealed = ${zeros(60)}
        WHERE tenant = ended_tenant AND key_id = ANY (ended) AND live;
      UPDATE ${schema}.data_keys SET live = false, sealed = ${zeros(60)}
        WHERE tenant = ended_tenant AND id = ANY (ended) AND live;
      INSERT INTO ${schema}.data_keys (tenant, id, purpose, live, sealed)
        SELECT DISTINCT ended_tenant, name, '', false, ${zeros(60)} FROM unnest(ended) AS name
        WHERE NOT EXISTS (SELECT FROM ${schema}.signing_keys s WHERE s.tenant = ended_tenant AND s.key_id = name)
          AND NOT EXISTS (SELECT FROM ${schema}.data_keys d WHERE d.tenant = ended_tenant AND d.id = name);
      PERFORM pg_notify(
        '${newsChannel(schema)}',
        CASE WHEN octet_length(news) < 7900 THEN news ELSE json_build_object('tenant', ended_tenant)::text END);
    END $$;

    CREATE FUNCTION ${schema}.destroy_tenant(ended_tenant text)
    RETURNS void LANGUAGE plpgsql VOLATILE AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock(${tenantLock(schema, 'ended_tenant')});
      INSERT INTO ${schema}.tenant_keys AS t (tenant, live, wrapped) VALUES (ended_tenant, false, ${zeros(64)})
        ON CONFLICT (tenant) DO UPDATE SET live = false, wrapped = excluded.wrapped WHERE t.live;
      UPDATE ${schema}.signing_keys SET live = false, sealed = ${zeros(60)} WHERE tenant = ended_tenant AND live;
      UPDATE ${schema}.data_keys SET live = false, sealed = ${zeros(60)} WHERE tenant = ended_tenant AND live;
      PERFORM pg_notify('${newsChannel(schema)}', json_build_object('tenant', ended_tenant)::text);
    END $$;`;

/** Services change keys into tombstones and take no row away. */
export const KEY_TABLES: Migrations = {
  component: 'keys',
  steps: [keys],
  grants: () => [
    ...['tenant_keys', 'signing_keys', 'data_keys', 'checkpoints', 'peppers'].map((on) => ({
      on,
      privileges: 'SELECT, INSERT, UPDATE',
    })),
  ],
};
