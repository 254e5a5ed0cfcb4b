import { DatabaseError, type Pool, type PoolClient } from 'pg';
import type { DataKeyRow, Found, KeyStorage, Rewrap, SigningKeyRow, WrappedKey } from '../key-storage.js';
import { KeyVaultUnavailable } from '../key-vault.js';
import { newsChannel, tenantLock } from './schema.js';

/** Data keys that go to the server together. */
const MOST_KEYS = 128;
const MOST_REWRAPS = 1000;

interface SigningKeyColumns {
  key_id: string;
  tenant: string;
  purpose: string;
  algorithm: string;
  public_jwk: string;
  created_at: string;
  sealed: Uint8Array;
}

const signingKey = (row: SigningKeyColumns): SigningKeyRow => ({
  keyId: row.key_id,
  tenant: row.tenant,
  purpose: row.purpose,
  algorithm: row.algorithm,
  publicJwk: row.public_jwk,
  createdAt: row.created_at,
  sealed: row.sealed,
});

interface PendingPut {
  key: DataKeyRow;
  resolve: (found: Found<DataKeyRow>) => void;
  reject: (error: unknown) => void;
}

type Run = Pick<PoolClient, 'query'>;

/** Keys in one schema, for several processes; see schema.ts for what makes them take turns. */
export class PostgresKeyStorage implements KeyStorage {
  private readonly pending: PendingPut[] = [];
  private putting: Promise<void> | undefined;
  private closing: Promise<void> | undefined;

  constructor(
    private readonly pool: Pool,
    private readonly schema: string,
  ) {}

  async tenantKey(tenant: string): Promise<Found<WrappedKey>> {
    const [row] = await this.ask<{ live: boolean; wrapped: Uint8Array }>(
      `SELECT live, wrapped FROM ${this.schema}.tenant_keys WHERE tenant = $1`,
      [tenant],
    );
    if (!row) return { state: 'absent' };
    return row.live ? { state: 'live', row: { id: tenant, wrapped: row.wrapped } } : { state: 'destroyed' };
  }

  async putTenantKey({ id, wrapped }: WrappedKey): Promise<Found<WrappedKey>> {
    await this.ask(
      `INSERT INTO ${this.schema}.tenant_keys (tenant, live, wrapped) VALUES ($1, true, $2) ON CONFLICT DO NOTHING`,
      [id, wrapped],
    );
    return this.tenantKey(id);
  }

  async wrappedKeys(): Promise<{ tenantKeys: WrappedKey[]; peppers: WrappedKey[] }> {
    // Tenants first: whoever makes one has made a pepper before.
    const tenantKeys = await this.ask<WrappedKey>(
      `SELECT tenant AS id, wrapped FROM ${this.schema}.tenant_keys WHERE live ORDER BY tenant`,
    );
    return { tenantKeys, peppers: await this.peppers() };
  }

  async putPepper({ id, wrapped }: WrappedKey): Promise<WrappedKey[]> {
    await this.ask(
      `WITH made AS (
         INSERT INTO ${this.schema}.peppers (id, wrapped) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING id)
       SELECT pg_notify('${newsChannel(this.schema)}', json_build_object('pepper', id)::text) FROM made`,
      [id, wrapped],
    );
    return this.peppers();
  }

  async rewrap({ tenantKeys, peppers }: { tenantKeys: readonly Rewrap[]; peppers: readonly Rewrap[] }): Promise<void> {
    for (let at = 0; at < tenantKeys.length; at += MOST_REWRAPS)
      await this.rewrapIn('tenant_keys', 'tenant', tenantKeys.slice(at, at + MOST_REWRAPS));
    if (peppers.length) await this.rewrapIn('peppers', 'id', peppers);
  }

  putSigningKeys({ tenant, rows }: { tenant: string; rows: readonly SigningKeyRow[] }): Promise<'made' | 'destroyed'> {
    return this.inTurn(tenant, async (run) => {
      if (await this.hasEnded(run, tenant)) return 'destroyed';
      for (const row of rows) await this.insertSigningKey(run, row);
      return 'made';
    });
  }

  ensureSigningKey(key: SigningKeyRow): Promise<Found<SigningKeyRow>> {
    return this.inTurn(key.tenant, async (run) => {
      if (await this.hasEnded(run, key.tenant)) return { state: 'destroyed' };
      const newest = await this.newest(run, key);
      if (!newest) await this.insertSigningKey(run, key);
      return { state: 'live', row: newest ?? key };
    });
  }

  async signingKey({ tenant, keyId }: { tenant: string; keyId: string }): Promise<SigningKeyRow | undefined> {
    const [row] = await this.ask<SigningKeyColumns>(
      `SELECT * FROM ${this.schema}.signing_keys WHERE tenant = $1 AND key_id = $2 AND live`,
      [tenant, keyId],
    );
    return row && signingKey(row);
  }

  newestSigningKey(args: { tenant: string; purpose: string; algorithm: string }): Promise<SigningKeyRow | undefined> {
    return this.answered(() => this.newest(this.pool as unknown as Run, args));
  }

  async signingKeys({ tenant, purpose }: { tenant: string; purpose: string }): Promise<SigningKeyRow[]> {
    const rows = await this.ask<SigningKeyColumns>(
      `SELECT * FROM ${this.schema}.signing_keys WHERE tenant = $1 AND purpose = $2 AND live ORDER BY seq`,
      [tenant, purpose],
    );
    return rows.map(signingKey);
  }

  /** What comes while the server is at work on a group makes the next one. */
  putDataKey(key: DataKeyRow): Promise<Found<DataKeyRow>> {
    return new Promise((resolve, reject) => {
      this.pending.push({ key, resolve, reject });
      this.putting ??= this.putGroups().finally(() => (this.putting = undefined));
    });
  }

  async dataKey(key: { tenant: string; purpose: string; id: string }): Promise<Found<DataKeyRow>> {
    const { schema } = this;
    const [row] = await this.ask<{ ended: boolean; sealed: Uint8Array | null }>(
      `SELECT
         EXISTS (SELECT FROM ${schema}.tenant_keys WHERE tenant = $1 AND NOT live)
           OR EXISTS (SELECT FROM ${schema}.data_keys WHERE tenant = $1 AND id = $2 AND NOT live) AS ended,
         (SELECT sealed FROM ${schema}.data_keys WHERE tenant = $1 AND id = $2 AND purpose = $3) AS sealed`,
      [key.tenant, key.id, key.purpose],
    );
    return found(key, row!.ended, row!.sealed);
  }

  async destroy({ tenant, keyIds }: { tenant: string; keyIds: readonly string[] }): Promise<void> {
    await this.ask(`SELECT ${this.schema}.destroy_keys($1, $2)`, [tenant, keyIds]);
  }

  async destroyTenant(tenant: string): Promise<void> {
    await this.ask(`SELECT ${this.schema}.destroy_tenant($1)`, [tenant]);
  }

  /** A role that owns no table cannot have it vacuumed: autovacuum does (schema.ts). */
  async scrub(): Promise<void> {}

  async checkpoint(name: string): Promise<string | undefined> {
    const [row] = await this.ask<{ position: string }>(
      `SELECT position FROM ${this.schema}.checkpoints WHERE name = $1`,
      [name],
    );
    return row?.position;
  }

  async setCheckpoint({ name, position }: { name: string; position: string }): Promise<void> {
    await this.ask(
      `INSERT INTO ${this.schema}.checkpoints VALUES ($1, $2)
       ON CONFLICT (name) DO UPDATE SET position = excluded.position`,
      [name, position],
    );
  }

  close(): Promise<void> {
    this.closing ??= this.pool.end();
    return this.closing;
  }

  private peppers(): Promise<WrappedKey[]> {
    return this.ask<WrappedKey>(`SELECT id, wrapped FROM ${this.schema}.peppers ORDER BY seq`);
  }

  private rewrapIn(table: string, column: string, keys: readonly Rewrap[]): Promise<void> {
    return this.inTurn('rewrap', async (run) => {
      await run.query(
        `UPDATE ${this.schema}.${table} AS k SET wrapped = given.wrapped
         FROM unnest($1::text[], $2::bytea[], $3::bytea[]) AS given(id, wrapped, before)
         WHERE k.${column} = given.id AND k.wrapped = given.before`,
        [keys.map(({ id }) => id), keys.map(({ wrapped }) => wrapped), keys.map(({ before }) => before)],
      );
    });
  }

  private async hasEnded(run: Run, tenant: string): Promise<boolean> {
    const { rowCount } = await run.query(`SELECT FROM ${this.schema}.tenant_keys WHERE tenant = $1 AND NOT live`, [
      tenant,
    ]);
    return rowCount === 1;
  }

  private async newest(
    run: Run,
    { tenant, purpose, algorithm }: { tenant: string; purpose: string; algorithm: string },
  ): Promise<SigningKeyRow | undefined> {
    const { rows } = await run.query<SigningKeyColumns>(
      `SELECT * FROM ${this.schema}.signing_keys
       WHERE tenant = $1 AND purpose = $2 AND algorithm = $3 AND live ORDER BY seq DESC LIMIT 1`,
      [tenant, purpose, algorithm],
    );
    return rows[0] && signingKey(rows[0]);
  }

  private async insertSigningKey(run: Run, key: SigningKeyRow): Promise<void> {
    const { schema } = this;
    await run.query(
      `WITH made AS (
         INSERT INTO ${schema}.signing_keys (key_id, tenant, purpose, algorithm, public_jwk, created_at, live, sealed)
         VALUES ($1, $2, $3, $4, $5, $6, true, $7) RETURNING tenant)
       SELECT pg_notify('${newsChannel(schema)}', json_build_object('signingKeyOf', tenant)::text) FROM made`,
      [key.keyId, key.tenant, key.purpose, key.algorithm, key.publicJwk, key.createdAt, key.sealed],
    );
  }

  private async putGroups(): Promise<void> {
    // Those who come in the same turn go together.
    await Promise.resolve();
    while (this.pending.length) {
      const group = this.pending.splice(0, MOST_KEYS);
      const column = (name: keyof DataKeyRow) => group.map(({ key }) => key[name]);
      try {
        const rows = await this.ask<{ has_ended: boolean; kept: Uint8Array | null }>(
          `SELECT has_ended, kept FROM ${this.schema}.put_data_keys($1, $2, $3, $4)`,
          [column('tenant'), column('purpose'), column('id'), column('sealed')],
        );
        group.forEach(({ key, resolve }, at) => resolve(found(key, rows[at]!.has_ended, rows[at]!.kept, key.sealed)));
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
  }

  /** One transaction; nobody else makes, ensures or destroys keys of the tenant meanwhile. */
  private inTurn<T>(tenant: string, work: (run: Run) => Promise<T>): Promise<T> {
    return this.answered(async () => {
      const client = await this.pool.connect();
      let usable = true;
      try {
        await client.query('BEGIN');
        await client.query(`SELECT pg_advisory_xact_lock(${tenantLock(this.schema, '$1::text')})`, [tenant]);
        const result = await work(client);
        await client.query('COMMIT');
        return result;
      } catch (error) {
        usable = error instanceof DatabaseError && (await rolledBack(client));
        throw error;
      } finally {
        client.release(!usable);
      }
    });
  }

  private async ask<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    return this.answered(async () => (await this.pool.query<Row & Record<string, unknown>>(text, values)).rows);
  }

  private async answered<T>(query: () => Promise<T>): Promise<T> {
    try {
      return await query();
    } catch (error) {
      throw new KeyVaultUnavailable(`key vault: ${(error as Error).message}`, { cause: error });
    }
  }
}

const rolledBack = async (client: PoolClient): Promise<boolean> => {
  try {
    await client.query('ROLLBACK');
    return true;
  } catch {
    return false;
  }
};

/** `given`: the key that was to be kept. */
const found = (
  key: { tenant: string; purpose: string; id: string },
  ended: boolean,
  sealed: Uint8Array | null,
  given?: Uint8Array,
): Found<DataKeyRow> => {
  if (ended) return { state: 'destroyed' };
  if (!sealed) return { state: 'absent' };
  const row = { ...key, sealed };
  return given ? { state: 'live', row, created: Buffer.compare(given, sealed) === 0 } : { state: 'live', row };
};
