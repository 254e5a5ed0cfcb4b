import { together, type Migrations } from '@attestry/postgres';

/**
 * Rows are overwritten, never deleted: a zeroed row is the tombstone. Functions take the locks that make a destruction final during
 * concurrent creations: of a tenant (shared by creators) and of a key, in the order of their names.
 */
const keys = (schema: string): string => `
  CREATE TABLE ${schema}.tenant_keys (
    tenant text COLLATE "C" PRIMARY KEY, live boolean NOT NULL, wrapped bytea NOT NULL
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20, fillfactor = 80);
  CREATE TABLE ${schema}.signing_keys (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key_id text COLLATE "C" NOT NULL, tenant text COLLATE "C" NOT NULL,
    purpose text NOT NULL, algorithm text NOT NULL, public_jwk text NOT NULL, created_at text NOT NULL,
    live boolean NOT NULL, sealed bytea NOT NULL, UNIQUE (tenant, key_id)
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20, fillfactor = 80);
  CREATE INDEX signing_keys_by_purpose ON ${schema}.signing_keys (tenant, purpose, seq);
  CREATE TABLE ${schema}.data_keys (
    tenant text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, purpose text NOT NULL,
    live boolean NOT NULL, sealed bytea NOT NULL, PRIMARY KEY (tenant, id, purpose)
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50, fillfactor = 80);
  CREATE TABLE ${schema}.peppers (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL UNIQUE, wrapped bytea NOT NULL
  );
  CREATE TABLE ${schema}.key_checkpoints (name text PRIMARY KEY, position text NOT NULL);

  CREATE FUNCTION ${schema}.lock_tenant(tenant text, shared boolean) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
  DECLARE name bigint := hashtextextended('${schema} tenant ' || tenant, 0);
  BEGIN
    IF shared THEN PERFORM pg_advisory_xact_lock_shared(name); ELSE PERFORM pg_advisory_xact_lock(name); END IF;
  END $$;
  CREATE FUNCTION ${schema}.lock_key(tenant text, key text) RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT pg_advisory_xact_lock(hashtextextended('${schema} key ' || tenant || ' ' || key, 0)) $$;

  CREATE FUNCTION ${schema}.put_data_keys(tenants text[], purposes text[], ids text[], keys bytea[])
  RETURNS TABLE (at bigint, state text, stored bytea, created boolean) LANGUAGE plpgsql VOLATILE AS $$
  DECLARE one record;
  BEGIN
    FOR one IN
      SELECT * FROM unnest(tenants, purposes, ids, keys) WITH ORDINALITY AS given (tenant, purpose, id, sealed, at)
      ORDER BY given.tenant COLLATE "C", given.id COLLATE "C", given.at
    LOOP
      PERFORM ${schema}.lock_tenant(one.tenant, true);
      PERFORM ${schema}.lock_key(one.tenant, one.id);
      at := one.at;
      stored := NULL;
      created := false;
      IF EXISTS (SELECT FROM ${schema}.tenant_keys t WHERE t.tenant = one.tenant AND NOT t.live)
        OR EXISTS (SELECT FROM ${schema}.data_keys k WHERE k.tenant = one.tenant AND k.id = one.id AND NOT k.live)
      THEN
        state := 'destroyed';
      ELSE
        state := 'live';
        SELECT k.sealed INTO stored FROM ${schema}.data_keys k
          WHERE k.tenant = one.tenant AND k.id = one.id AND k.purpose = one.purpose;
        IF stored IS NULL THEN
          INSERT INTO ${schema}.data_keys (tenant, id, purpose, live, sealed)
            VALUES (one.tenant, one.id, one.purpose, true, one.sealed);
          stored := one.sealed;
          created := true;
        END IF;
      END IF;
      RETURN NEXT;
    END LOOP;
  END $$;

  CREATE FUNCTION ${schema}.put_signing_keys(
    of_tenant text, key_ids text[], purposes text[], algorithms text[], public_jwks text[], created_ats text[], keys bytea[]
  ) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
  BEGIN
    PERFORM ${schema}.lock_tenant(of_tenant, true);
    IF EXISTS (SELECT FROM ${schema}.tenant_keys t WHERE t.tenant = of_tenant AND NOT t.live) THEN RETURN false; END IF;
    INSERT INTO ${schema}.signing_keys (key_id, tenant, purpose, algorithm, public_jwk, created_at, live, sealed)
      SELECT given.key_id, of_tenant, given.purpose, given.algorithm, given.public_jwk, given.created_at, true, given.sealed
      FROM unnest(key_ids, purposes, algorithms, public_jwks, created_ats, keys) WITH ORDINALITY
        AS given (key_id, purpose, algorithm, public_jwk, created_at, sealed, at) ORDER BY given.at;
    RETURN true;
  END $$;

  CREATE FUNCTION ${schema}.ensure_signing_key(
    of_tenant text, new_key_id text, of_purpose text, of_algorithm text, new_public_jwk text, new_created_at text, key bytea
  ) RETURNS SETOF ${schema}.signing_keys LANGUAGE plpgsql VOLATILE AS $$
  BEGIN
    PERFORM ${schema}.lock_tenant(of_tenant, true);
    PERFORM ${schema}.lock_key(of_tenant, of_purpose || ' ' || of_algorithm);
    IF EXISTS (SELECT FROM ${schema}.tenant_keys t WHERE t.tenant = of_tenant AND NOT t.live) THEN RETURN; END IF;
    IF NOT EXISTS (SELECT FROM ${schema}.signing_keys k WHERE k.tenant = of_tenant AND k.purpose = of_purpose
      AND k.algorithm = of_algorithm AND k.live)
    THEN
      PERFORM ${schema}.put_signing_keys(
        of_tenant, ARRAY[new_key_id], ARRAY[of_purpose], ARRAY[of_algorithm], ARRAY[new_public_jwk], ARRAY[new_created_at], ARRAY[key]);
    END IF;
    RETURN QUERY SELECT * FROM ${schema}.signing_keys k WHERE k.tenant = of_tenant AND k.purpose = of_purpose
      AND k.algorithm = of_algorithm AND k.live ORDER BY k.seq DESC LIMIT 1;
  END $$;

  CREATE FUNCTION ${schema}.destroy_keys(of_tenant text, key_ids text[]) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
  DECLARE
    one text;
    found_signing bigint;
    found_data bigint;
  BEGIN
    PERFORM ${schema}.lock_tenant(of_tenant, true);
    FOR one IN SELECT DISTINCT given.id COLLATE "C" AS id FROM unnest(key_ids) AS given (id) ORDER BY 1 LOOP
      PERFORM ${schema}.lock_key(of_tenant, one);
      UPDATE ${schema}.signing_keys k SET live = false, sealed = decode(repeat('00', 60), 'hex')
        WHERE k.tenant = of_tenant AND k.key_id = one;
      GET DIAGNOSTICS found_signing = ROW_COUNT;
      UPDATE ${schema}.data_keys k SET live = false, sealed = decode(repeat('00', 60), 'hex')
        WHERE k.tenant = of_tenant AND k.id = one;
      GET DIAGNOSTICS found_data = ROW_COUNT;
      IF found_signing = 0 AND found_data = 0 THEN
        INSERT INTO ${schema}.data_keys (tenant, id, purpose, live, sealed)
          VALUES (of_tenant, one, '', false, decode(repeat('00', 60), 'hex'));
      END IF;
    END LOOP;
  END $$;`;

/** Expiring state, sealed under the key of its tenant. */
const expiringState = (schema: string): string => `
  CREATE TABLE ${schema}.expiring_state (
    tenant text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, version text NOT NULL, expires_at bigint NOT NULL,
    sealed bytea NOT NULL, PRIMARY KEY (tenant, name)
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50);
  CREATE INDEX expiring_state_by_expiry ON ${schema}.expiring_state (expires_at);`;

/**
 * The rows of an ended tenant are overwritten in portions, by their service: with all of them in one statement, a large tenant exceeds any
 * statement timeout.
 */
const endedTenants = (schema: string): string => `
  CREATE FUNCTION ${schema}.end_tenant(of_tenant text) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
  BEGIN
    PERFORM ${schema}.lock_tenant(of_tenant, false);
    INSERT INTO ${schema}.tenant_keys (tenant, live, wrapped) VALUES (of_tenant, false, decode(repeat('00', 64), 'hex'))
      ON CONFLICT (tenant) DO UPDATE SET live = false, wrapped = excluded.wrapped;
  END $$;`;

/** For keys that must be new, in the transaction of the events that need them: the events are stored only if no key is refused. */
const newDataKeys = (schema: string): string => `
  -- Locks keys that are about to be added, and answers for each why it cannot be; null where it can.
  CREATE FUNCTION ${schema}.lock_new_data_keys(tenants text[], purposes text[], ids text[])
  RETURNS text[] LANGUAGE plpgsql VOLATILE AS $$
  DECLARE
    one record;
    refusals text[] := array_fill(NULL::text, ARRAY[cardinality(ids)]);
  BEGIN
    FOR one IN
      SELECT * FROM unnest(tenants, purposes, ids) WITH ORDINALITY AS given (tenant, purpose, id, at)
      ORDER BY given.tenant COLLATE "C", given.id COLLATE "C", given.at
    LOOP
      PERFORM ${schema}.lock_tenant(one.tenant, true);
      PERFORM ${schema}.lock_key(one.tenant, one.id);
      IF EXISTS (SELECT FROM ${schema}.tenant_keys t WHERE t.tenant = one.tenant AND NOT t.live)
        OR EXISTS (SELECT FROM ${schema}.data_keys k WHERE k.tenant = one.tenant AND k.id = one.id AND NOT k.live)
      THEN
        refusals[one.at] := 'KeyDestroyed';
      ELSIF EXISTS (SELECT FROM ${schema}.data_keys k
        WHERE k.tenant = one.tenant AND k.id = one.id AND k.purpose = one.purpose)
      THEN
        refusals[one.at] := 'KeyExists';
      END IF;
    END LOOP;
    RETURN refusals;
  END $$;

  -- Adds locked keys, those of the units named.
  CREATE FUNCTION ${schema}.put_new_data_keys(
    tenants text[], purposes text[], ids text[], keys bytea[], units integer[], stored_units integer[]
  ) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
  BEGIN
    INSERT INTO ${schema}.data_keys (tenant, purpose, id, live, sealed)
      SELECT given.tenant, given.purpose, given.id, true, given.sealed
      FROM unnest(tenants, purposes, ids, keys, units) AS given (tenant, purpose, id, sealed, unit)
      WHERE given.unit = ANY (stored_units);
  END $$;`;

/** Values that are stored with a data key, in the same write, and end with it, whichever statement destroys the key. */
const sealedValues = (schema: string): string => `
  CREATE TABLE ${schema}.sealed_values (
    tenant text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, purpose text NOT NULL, value bytea NOT NULL,
    PRIMARY KEY (tenant, id, purpose)
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50);
  -- Sealed values cannot be compressed.
  ALTER TABLE ${schema}.sealed_values ALTER COLUMN value SET STORAGE EXTERNAL;

  CREATE FUNCTION ${schema}.end_sealed_values() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM ${schema}.sealed_values v WHERE v.tenant = NEW.tenant AND v.id = NEW.id;
    RETURN NULL;
  END $$;
  CREATE TRIGGER values_end_with_their_key AFTER UPDATE OF live ON ${schema}.data_keys
    FOR EACH ROW WHEN (NOT NEW.live) EXECUTE FUNCTION ${schema}.end_sealed_values();

  CREATE FUNCTION ${schema}.put_data_keys(tenants text[], purposes text[], ids text[], keys bytea[], key_values bytea[])
  RETURNS TABLE (at bigint, state text, stored bytea, created boolean) LANGUAGE plpgsql VOLATILE AS $$
  BEGIN
    FOR at, state, stored, created IN SELECT * FROM ${schema}.put_data_keys(tenants, purposes, ids, keys) LOOP
      IF created AND key_values[at] IS NOT NULL THEN
        INSERT INTO ${schema}.sealed_values (tenant, id, purpose, value)
          VALUES (tenants[at], ids[at], purposes[at], key_values[at]);
      END IF;
      RETURN NEXT;
    END LOOP;
  END $$;

  CREATE FUNCTION ${schema}.put_new_data_keys(
    tenants text[], purposes text[], ids text[], keys bytea[], key_values bytea[], units integer[], stored_units integer[]
  ) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
  BEGIN
    PERFORM ${schema}.put_new_data_keys(tenants, purposes, ids, keys, units, stored_units);
    INSERT INTO ${schema}.sealed_values (tenant, purpose, id, value)
      SELECT given.tenant, given.purpose, given.id, given.value
      FROM unnest(tenants, purposes, ids, key_values, units) AS given (tenant, purpose, id, value, unit)
      WHERE given.unit = ANY (stored_units) AND given.value IS NOT NULL;
  END $$;`;

/**
 * A service may add keys and overwrite them with zeros; it removes no key's row, as rows are the tombstones. The values that ended with
 * their key are removed.
 */
export const KEY_TABLES: Migrations = {
  component: 'keys',
  steps: [together(keys, expiringState, endedTenants, newDataKeys, sealedValues)],
  grants: () => [
    ...['tenant_keys', 'signing_keys', 'data_keys', 'peppers', 'key_checkpoints'].map((on) => ({
      on,
      privileges: 'SELECT, INSERT, UPDATE',
    })),
    { on: 'expiring_state', privileges: 'SELECT, INSERT, UPDATE, DELETE' },
    { on: 'sealed_values', privileges: 'SELECT, INSERT, DELETE' },
  ],
};
