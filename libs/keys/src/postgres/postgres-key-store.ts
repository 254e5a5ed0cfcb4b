import type { Pool } from 'pg';
import { engineOf, openDatabase, type PostgresOptions } from '@attestry/postgres';
import type {
  DataKeyRow,
  Found,
  StoredKey,
  KeyJobs,
  KeyStore,
  KeyTable,
  SigningKeyRow,
  TenantTable,
  WrappedKey,
} from '../stored/key-store.js';
import { KeyVaultUnavailable } from '../vault/key-vault.js';
import type { StoredKeyVaultOptions } from '../stored/stored-key-vault.js';
import { KEY_TABLES } from './schema.js';

/** Lifetime of cached keys. */
export type PostgresKeyVaultOptions = PostgresOptions & StoredKeyVaultOptions;

type Jobs = { [Job in keyof KeyJobs]: (args: KeyJobs[Job][0]) => Promise<KeyJobs[Job][1]> };

interface Row {
  [column: string]: unknown;
}

/** Most data keys stored in one transaction; each holds two locks of the server's. */
const MOST_KEYS = 64;
/** Most bytes of their values. */
const MOST_BYTES = 8 * 1024 * 1024;

interface WaitingKey {
  row: DataKeyRow;
  resolve: (found: Found<DataKeyRow>) => void;
  reject: (error: Error) => void;
}

const signingKey = (row: Row): SigningKeyRow => ({
  keyId: row['key_id'] as string,
  tenant: row['tenant'] as string,
  purpose: row['purpose'] as string,
  algorithm: row['algorithm'] as string,
  publicJwk: row['public_jwk'] as string,
  createdAt: row['created_at'] as string,
  sealed: row['sealed'] as Uint8Array,
});

/** Columns of a {@link StoredKey} in each table, and the order of its rows. */
const KEPT: Record<KeyTable, { columns: string; id: string; order: string; cast: string }> = {
  tenant_keys: {
    columns: `tenant, '' AS id, '' AS purpose, live, wrapped AS sealed`,
    id: `''`,
    order: 'tenant',
    cast: '$1::text',
  },
  signing_keys: {
    columns: 'seq, tenant, key_id AS id, purpose, live, sealed, algorithm, public_jwk, created_at',
    id: 'key_id',
    order: 'seq',
    cast: '$1::bigint',
  },
  data_keys: {
    columns: 'tenant, id, purpose, live, sealed',
    id: 'id',
    order: '(tenant, id, purpose)',
    cast: `($1::json->>0, $1::json->>1, $1::json->>2)`,
  },
  sealed_values: {
    columns: 'tenant, id, purpose, true AS live, value AS sealed',
    id: 'id',
    order: '(tenant, id, purpose)',
    cast: `($1::json->>0, $1::json->>1, $1::json->>2)`,
  },
};
const storedKey = (row: Row): StoredKey => ({
  tenantId: row['tenant'] as string,
  id: row['id'] as string,
  purpose: row['purpose'] as string,
  live: row['live'] as boolean,
  sealed: row['sealed'] as Uint8Array,
  ...(row['algorithm'] !== undefined && {
    algorithm: row['algorithm'] as string,
    publicJwk: row['public_jwk'] as string,
    createdAt: row['created_at'] as string,
  }),
});
const ZEROS = `decode(repeat('00', 60), 'hex')`;
/** How the rows of an ended tenant are destroyed, by their names; destroyed ones are not written again. */
const destroyRows = (table: string): Record<TenantTable, { name: string; statement: string }> => ({
  sealed_values: { name: 'id', statement: `DELETE FROM ${table} WHERE` },
  signing_keys: { name: 'key_id', statement: `UPDATE ${table} SET live = false, sealed = ${ZEROS} WHERE live AND` },
  data_keys: { name: 'id', statement: `UPDATE ${table} SET live = false, sealed = ${ZEROS} WHERE live AND` },
  expiring_state: { name: 'name', statement: `DELETE FROM ${table} WHERE` },
});
/** Beginning of the page after a row. */
const cursorOf = (table: KeyTable, row: Row): string => {
  if (table === 'signing_keys') return String(row['seq']);
  return table === 'tenant_keys'
    ? (row['tenant'] as string)
    : JSON.stringify([row['tenant'], row['id'], row['purpose']]);
};

export class PostgresKeyStore implements KeyStore {
  private readonly waiting: WaitingKey[] = [];
  private storing: Promise<void> | undefined;

  /** The schema, which has `lock_new_data_keys` and `put_new_data_keys`. */
  readonly newKeyJob: string;
  /** The rows of an ended tenant are overwritten in portions; its own key is gone already. */
  private readonly ofLiveTenant: string;

  private constructor(
    private readonly pool: Pool,
    private readonly schema: string,
    readonly engine: object,
  ) {
    this.newKeyJob = schema;
    this.ofLiveTenant = `tenant = $1 AND live AND NOT EXISTS (
      SELECT FROM ${schema}.tenant_keys ended WHERE ended.tenant = $1 AND NOT ended.live)`;
  }

  /** @throws NotMigrated, KeyVaultUnavailable */
  static async connect(options: PostgresOptions): Promise<PostgresKeyStore> {
    return new PostgresKeyStore(await openDatabase(options, KEY_TABLES), options.schema, engineOf(options.url));
  }

  call<Job extends keyof KeyJobs>(job: Job, args?: KeyJobs[Job][0]): Promise<KeyJobs[Job][1]> {
    return (this.jobs[job] as (given: unknown) => Promise<KeyJobs[Job][1]>)(args);
  }

  async close(): Promise<void> {
    await this.storing;
    await this.pool.end();
  }

  private readonly jobs: Jobs = {
    wrappedKeys: async () => {
      // One statement has one snapshot: a pepper exists before the first tenant key.
      const rows = await this.query(
        `SELECT 'tenant' AS kind, 0::bigint AS seq, tenant AS id, wrapped FROM ${this.schema}.tenant_keys WHERE live
         UNION ALL SELECT 'pepper', seq, id, wrapped FROM ${this.schema}.peppers ORDER BY seq`,
      );
      const rowsOf = (kind: string) => rows.filter((row) => row['kind'] === kind).map(wrapped);
      return { tenantKeys: rowsOf('tenant'), peppers: rowsOf('pepper') };
    },
    putPepper: async (pepper) => {
      await this.query(`INSERT INTO ${this.schema}.peppers (id, wrapped) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING`, [
        pepper.id,
        pepper.wrapped,
      ]);
      return (await this.query(`SELECT id, wrapped FROM ${this.schema}.peppers ORDER BY seq`)).map(wrapped);
    },
    rewrap: async ({ tenantKeys, peppers }) => {
      const columns = (keys: readonly { id: string; wrapped: Uint8Array; before: Uint8Array }[]) => [
        keys.map(({ id }) => id),
        keys.map((key) => key.wrapped),
        keys.map(({ before }) => before),
      ];
      await this.query(
        `WITH tenants AS (
           UPDATE ${this.schema}.tenant_keys t SET wrapped = given.wrapped
           FROM unnest($1::text[], $2::bytea[], $3::bytea[]) AS given (id, wrapped, before)
           WHERE t.tenant = given.id AND t.wrapped = given.before)
         UPDATE ${this.schema}.peppers p SET wrapped = given.wrapped
         FROM unnest($4::text[], $5::bytea[], $6::bytea[]) AS given (id, wrapped, before)
         WHERE p.id = given.id AND p.wrapped = given.before`,
        [...columns(tenantKeys), ...columns(peppers)],
      );
    },
    tenantKey: (tenant) => this.tenantKey(tenant),
    putTenantKey: async ({ id, wrapped: key }) => {
      await this.query(
        `INSERT INTO ${this.schema}.tenant_keys (tenant, live, wrapped) VALUES ($1, true, $2) ON CONFLICT (tenant) DO NOTHING`,
        [id, key],
      );
      return this.tenantKey(id);
    },
    putSigningKeys: async ({ tenant, rows }) => {
      const [answer] = await this.query(
        `SELECT ${this.schema}.put_signing_keys($1, $2, $3, $4, $5, $6, $7::bytea[]) AS made`,
        [
          tenant,
          ...(['keyId', 'purpose', 'algorithm', 'publicJwk', 'createdAt', 'sealed'] as const).map((column) =>
            rows.map((row) => row[column]),
          ),
        ],
      );
      return answer!['made'] ? 'made' : 'destroyed';
    },
    ensureSigningKey: async (row) => {
      const [found] = await this.query(`SELECT * FROM ${this.schema}.ensure_signing_key($1, $2, $3, $4, $5, $6, $7)`, [
        row.tenant,
        row.keyId,
        row.purpose,
        row.algorithm,
        row.publicJwk,
        row.createdAt,
        row.sealed,
      ]);
      return found ? { state: 'live', row: signingKey(found) } : { state: 'destroyed' };
    },
    signingKey: async ({ tenant, keyId }) => {
      const [row] = await this.query(
        `SELECT * FROM ${this.schema}.signing_keys WHERE ${this.ofLiveTenant} AND key_id = $2`,
        [tenant, keyId],
      );
      return row && signingKey(row);
    },
    newestSigningKey: async ({ tenant, purpose, algorithm }) => {
      const [row] = await this.query(
        `SELECT * FROM ${this.schema}.signing_keys WHERE ${this.ofLiveTenant} AND purpose = $2 AND algorithm = $3
         ORDER BY seq DESC LIMIT 1`,
        [tenant, purpose, algorithm],
      );
      return row && signingKey(row);
    },
    signingKeys: async ({ tenant, purpose }) =>
      (
        await this.query(
          `SELECT * FROM ${this.schema}.signing_keys WHERE ${this.ofLiveTenant} AND purpose = $2 ORDER BY seq`,
          [tenant, purpose],
        )
      ).map(signingKey),
    putDataKey: (row) =>
      new Promise((resolve, reject) => {
        this.waiting.push({ row, resolve, reject });
        this.storing ??= this.storeDataKeys().finally(() => (this.storing = undefined));
      }),
    dataKey: async (key) => {
      const rows = await this.query(
        `SELECT k.purpose, k.live, k.sealed FROM ${this.schema}.data_keys k WHERE k.tenant = $1 AND k.id = $2
         UNION ALL SELECT '', false, NULL FROM ${this.schema}.tenant_keys t WHERE t.tenant = $1 AND NOT t.live`,
        [key.tenant, key.id],
      );
      if (rows.some((row) => row['live'] === false)) return { state: 'destroyed' };
      const row = rows.find(({ purpose }) => purpose === key.purpose);
      return row ? { state: 'live', row: { ...key, sealed: row['sealed'] as Uint8Array } } : { state: 'absent' };
    },
    storedValue: async ({ tenant, purpose, id }) => {
      const [row] = await this.query(
        `SELECT value, EXISTS (SELECT FROM ${this.schema}.tenant_keys t WHERE t.tenant = $1 AND NOT t.live)
           OR EXISTS (SELECT FROM ${this.schema}.data_keys k WHERE k.tenant = $1 AND k.id = $2 AND NOT k.live) AS ended
         FROM (SELECT) AS one LEFT JOIN ${this.schema}.sealed_values v ON v.tenant = $1 AND v.id = $2 AND v.purpose = $3`,
        [tenant, id, purpose],
      );
      if (row!['ended']) return { state: 'destroyed' };
      const value = row!['value'] as Uint8Array | null;
      return value ? { state: 'live', row: { value } } : { state: 'absent' };
    },
    destroy: async ({ tenant, keyIds }) => {
      await this.query(`SELECT ${this.schema}.destroy_keys($1, $2)`, [tenant, keyIds]);
    },
    endTenant: async (tenant) => {
      await this.query(`SELECT ${this.schema}.end_tenant($1)`, [tenant]);
    },
    destroyRows: async ({ tenant, table, after = '', limit }) => {
      const { name, statement } = destroyRows(`${this.schema}.${table}`)[table];
      const rows = `tenant = $1 AND ${name} > $2`;
      const [last] = await this.query(
        `SELECT ${name} AS name FROM ${this.schema}.${table} WHERE ${rows} ORDER BY ${name} LIMIT 1 OFFSET $3`,
        [tenant, after, limit - 1],
      );
      const portion = last ? `${rows} AND ${name} <= $3` : rows;
      await this.query(`${statement} ${portion}`, [tenant, after, ...(last ? [last['name']] : [])]);
      return last?.['name'] as string | undefined;
    },
    // Rows are overwritten; the server's own vacuum removes the old versions (ADR 0018: the engine's part of erasure).
    scrub: async () => true,
    pageOfKeys: async ({ table, after, limit, tenantId }) => {
      const { columns, order, cast } = KEPT[table];
      const rows = await this.query(
        `SELECT ${columns} FROM ${this.schema}.${table}
         WHERE ${after === undefined ? '$1::text IS NULL' : `${order} > ${cast}`} AND ($2::text IS NULL OR tenant = $2)
         ORDER BY ${order} LIMIT $3`,
        [after ?? null, tenantId ?? null, limit],
      );
      const next = rows.length === limit ? cursorOf(table, rows.at(-1)!) : undefined;
      return { rows: rows.map(storedKey), ...(next !== undefined && { next }) };
    },
    findKeys: async ({ table, keys }) => {
      const { columns, id } = KEPT[table];
      const rows = await this.query(
        `SELECT DISTINCT ${columns} FROM ${this.schema}.${table}
         JOIN unnest($1::text[], $2::text[]) AS wanted (of_tenant, of_id) ON tenant = of_tenant AND ${id} = of_id`,
        [keys.map(({ tenantId }) => tenantId), keys.map((key) => key.id)],
      );
      return rows.map(storedKey);
    },
    keepKeys: async ({ table, add, destroy }) => {
      for (const { tenantId, id } of destroy) {
        if (table === 'tenant_keys') await this.query(`SELECT ${this.schema}.end_tenant($1)`, [tenantId]);
        else await this.query(`SELECT ${this.schema}.destroy_keys($1, $2)`, [tenantId, [id]]);
      }
      const column = (member: keyof StoredKey) => add.map((row) => row[member]);
      const common = [column('tenantId'), column('live'), column('sealed')];
      const into = `INSERT INTO ${this.schema}.${table}`;
      if (!add.length) return;
      if (table === 'tenant_keys')
        await this.query(
          `${into} (tenant, live, wrapped) SELECT * FROM unnest($1::text[], $2::boolean[], $3::bytea[]) ON CONFLICT DO NOTHING`,
          common,
        );
      else if (table === 'data_keys')
        await this.query(
          `${into} (tenant, live, sealed, id, purpose)
           SELECT * FROM unnest($1::text[], $2::boolean[], $3::bytea[], $4::text[], $5::text[]) ON CONFLICT DO NOTHING`,
          [...common, column('id'), column('purpose')],
        );
      else if (table === 'sealed_values')
        await this.query(
          `${into} (tenant, id, purpose, value)
           SELECT given.tenant, given.id, given.purpose, given.value
           FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[]) AS given (tenant, id, purpose, value)
           WHERE EXISTS (SELECT FROM ${this.schema}.data_keys k
             WHERE k.tenant = given.tenant AND k.id = given.id AND k.purpose = given.purpose AND k.live)
           ON CONFLICT DO NOTHING`,
          [column('tenantId'), column('id'), column('purpose'), column('sealed')],
        );
      else
        await this.query(
          `${into} (tenant, live, sealed, key_id, purpose, algorithm, public_jwk, created_at)
           SELECT tenant, live, sealed, id, purpose, algorithm, public_jwk, created_at
           FROM unnest($1::text[], $2::boolean[], $3::bytea[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
             WITH ORDINALITY AS given (tenant, live, sealed, id, purpose, algorithm, public_jwk, created_at, at)
           ORDER BY at ON CONFLICT DO NOTHING`,
          [...common, column('id'), column('purpose'), column('algorithm'), column('publicJwk'), column('createdAt')],
        );
    },
    readExpiring: async ({ tenant, name }) => {
      const [row] = await this.query(
        `SELECT version, expires_at, sealed FROM ${this.schema}.expiring_state WHERE tenant = $1 AND name = $2`,
        [tenant, name],
      );
      return (
        row && {
          tenant,
          name,
          version: row['version'] as string,
          expiresAt: Number(row['expires_at']),
          sealed: row['sealed'] as Uint8Array,
        }
      );
    },
    writeExpiring: async ({ tenant, name, version, expiresAt, sealed, after }) => {
      const rows = await this.query(
        after === undefined
          ? `INSERT INTO ${this.schema}.expiring_state (tenant, name, version, expires_at, sealed)
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING name`
          : `UPDATE ${this.schema}.expiring_state SET version = $3, expires_at = $4, sealed = $5
             WHERE tenant = $1 AND name = $2 AND version = $6 RETURNING name`,
        [tenant, name, version, expiresAt, sealed, ...(after === undefined ? [] : [after])],
      );
      return rows.length === 1;
    },
    deleteExpiring: async ({ tenant, name, version }) => {
      await this.query(`DELETE FROM ${this.schema}.expiring_state WHERE tenant = $1 AND name = $2 AND version = $3`, [
        tenant,
        name,
        version,
      ]);
    },
    deleteExpired: async ({ now, limit }) => {
      const table = `${this.schema}.expiring_state`;
      const gone = await this.query(
        `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE expires_at <= $1 LIMIT $2)) RETURNING 1`,
        [now, limit],
      );
      return gone.length === limit;
    },
    checkpoint: async (name) => {
      const [row] = await this.query(`SELECT position FROM ${this.schema}.key_checkpoints WHERE name = $1`, [name]);
      return row?.['position'] as string | undefined;
    },
    setCheckpoint: async ({ name, position, previous }) => {
      const table = `${this.schema}.key_checkpoints`;
      const rows = await (previous === undefined
        ? this.query(
            `INSERT INTO ${table} (name, position) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING position`,
            [name, position],
          )
        : this.query(`UPDATE ${table} SET position = $2 WHERE name = $1 AND position = $3 RETURNING position`, [
            name,
            position,
            previous,
          ]));
      return rows.length === 1;
    },
  };

  private async tenantKey(tenant: string): Promise<Found<WrappedKey>> {
    const [row] = await this.query(`SELECT live, wrapped FROM ${this.schema}.tenant_keys WHERE tenant = $1`, [tenant]);
    if (!row) return { state: 'absent' };
    return row['live'] ? { state: 'live', row: wrapped({ ...row, id: tenant }) } : { state: 'destroyed' };
  }

  /** One transaction at a time: later ones share the next. */
  private async storeDataKeys(): Promise<void> {
    while (this.waiting.length) {
      let bytes = 0;
      const end = this.waiting.findIndex(
        ({ row }, at) => at === MOST_KEYS || ((bytes += row.value?.length ?? 0) > MOST_BYTES && at > 0),
      );
      const group = this.waiting.splice(0, end < 0 ? this.waiting.length : end);
      try {
        const rows = await this.query(
          `SELECT at, state, stored, created FROM ${this.schema}.put_data_keys($1, $2, $3, $4::bytea[], $5::bytea[])`,
          (['tenant', 'purpose', 'id', 'sealed', 'value'] as const).map((column) =>
            group.map(({ row }) => row[column] ?? null),
          ),
        );
        for (const { at, state, stored, created } of rows) {
          const { row, resolve } = group[Number(at) - 1]!;
          resolve(
            state === 'live'
              ? { state, row: { ...row, sealed: stored as Uint8Array }, created: created as boolean }
              : { state: 'destroyed' },
          );
        }
      } catch (error) {
        for (const { reject } of group) reject(error as Error);
      }
    }
  }

  private async query(text: string, values: unknown[] = []): Promise<Row[]> {
    try {
      return (await this.pool.query<Row>(text, values)).rows;
    } catch (error) {
      throw new KeyVaultUnavailable(`key store: ${(error as Error).message}`, { cause: error });
    }
  }
}

const wrapped = (row: Row): WrappedKey => ({ id: row['id'] as string, wrapped: row['wrapped'] as Uint8Array });
