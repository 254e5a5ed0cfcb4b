import type { Pool } from 'pg';
import { Leases, type Lease, type Position } from '../event-store.js';
import type { ListedCheckpoints } from '../subscriptions.js';
import { StaleEpoch } from '../worker/leased-worker.js';

/** Leases in a table, by the database's clock. */
export class PostgresLeases extends Leases {
  constructor(
    private readonly pool: Pool,
    private readonly schema: string,
  ) {
    super();
  }

  async acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined> {
    const now = `${this.schema}.now_ms()`;
    return this.queryLease(
      'acquire',
      name,
      holder,
      `INSERT INTO ${this.schema}.leases AS l (name, holder, epoch, expires_at) VALUES ($1, $2, 1, ${now} + $3)
       ON CONFLICT (name) DO UPDATE SET
         holder = excluded.holder,
         epoch = CASE WHEN l.expires_at > ${now} THEN l.epoch ELSE l.epoch + 1 END,
         expires_at = excluded.expires_at
       WHERE l.expires_at <= ${now} OR l.holder = excluded.holder
       RETURNING epoch, expires_at`,
      [name, holder, ttlMs],
    );
  }

  async renew({ name, holder, epoch }: Lease, ttlMs: number): Promise<Lease | undefined> {
    const now = `${this.schema}.now_ms()`;
    return this.queryLease(
      'renew',
      name,
      holder,
      `UPDATE ${this.schema}.leases SET expires_at = ${now} + $4
       WHERE name = $1 AND holder = $2 AND epoch = $3 AND expires_at > ${now} RETURNING epoch, expires_at`,
      [name, holder, epoch, ttlMs],
    );
  }

  async release({ name, holder, epoch }: Lease): Promise<void> {
    await this.pool.query(
      `UPDATE ${this.schema}.leases SET expires_at = 0 WHERE name = $1 AND holder = $2 AND epoch = $3`,
      [name, holder, epoch],
    );
  }

  async isHeld({ name, holder, epoch }: Lease): Promise<boolean> {
    const { rowCount } = await this.pool.query({
      name: 'is held',
      text: `SELECT FROM ${this.schema}.leases
       WHERE name = $1 AND holder = $2 AND epoch = $3 AND expires_at > ${this.schema}.now_ms()`,
      values: [name, holder, epoch],
    });
    return rowCount === 1;
  }

  /** @param statement name it is prepared under */
  private async queryLease(
    statement: string,
    name: string,
    holder: string,
    text: string,
    values: unknown[],
  ): Promise<Lease | undefined> {
    const { rows } = await this.pool.query<{ epoch: string; expires_at: string }>({ name: statement, text, values });
    const [row] = rows;
    return row && { name, holder, epoch: Number(row.epoch), expiresAt: Number(row.expires_at) };
  }
}

/** Checkpoints in a table beside the leases, which fence them. */
export class PostgresCheckpoints implements ListedCheckpoints {
  constructor(
    private readonly pool: Pool,
    private readonly schema: string,
  ) {}

  async read(name: string): Promise<Position | undefined> {
    const { rows } = await this.pool.query<{ position: string }>(
      `SELECT position FROM ${this.schema}.checkpoints WHERE name = $1`,
      [name],
    );
    return rows[0]?.position;
  }

  async list(): Promise<{ name: string; position: Position }[]> {
    const { rows } = await this.pool.query<{ name: string; position: string }>(
      `SELECT name, position FROM ${this.schema}.checkpoints ORDER BY name`,
    );
    return rows;
  }

  async write(name: string, position: Position, epoch = 0): Promise<void> {
    // The lease's row is locked until this is committed: no other process takes over between check and write.
    const { rowCount } = await this.pool.query({
      name: 'write checkpoint',
      text: `WITH lease AS MATERIALIZED (SELECT epoch FROM ${this.schema}.leases WHERE name = $1 FOR SHARE)
       INSERT INTO ${this.schema}.checkpoints AS c (name, position, epoch)
       SELECT $1, $2, $3::bigint WHERE NOT EXISTS (SELECT FROM lease WHERE epoch > $3::bigint)
       ON CONFLICT (name) DO UPDATE SET position = excluded.position, epoch = excluded.epoch
       WHERE c.epoch <= excluded.epoch`,
      values: [name, position, epoch],
    });
    if (rowCount === 0) throw new StaleEpoch(`checkpoint ${name} has an epoch newer than ${epoch}`);
  }
}
