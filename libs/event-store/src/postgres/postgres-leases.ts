import type { Pool } from 'pg';
import type { PostgresOptions } from '@attestry/postgres';
import { Leases, type Lease, type Position, type ReleaseWatch } from '../event-store.js';
import type { ListedCheckpoints } from '../subscriptions.js';
import { StaleEpoch } from '../worker/leased-worker.js';
import { LeaseReleases, releaseChannel } from './lease-releases.js';

/** How long a renewal or try waits for others, milliseconds: those of a process are due at the same moments. */
const TOGETHER_MS = 10;

/** A renewal, or without an epoch a question whether the lease is free. */
interface Asked {
  name: string;
  holder: string;
  epoch?: number;
  ttlMs: number;
  answer: PromiseWithResolvers<Answer>;
}
interface Answer {
  epoch: string | null;
  expires_at: string | null;
  free: boolean;
}

/**
 * Leases in a table, by the database's clock. Renewals and tries that come together are one statement (ADR 0118). Only renewals do not wait for the disk: after a
 * crash of the database a lease may end earlier than its holder believes, whose writes the next epoch refuses.
 */
export class PostgresLeases extends Leases {
  private readonly schema: string;
  private readonly releases: LeaseReleases;
  private asked: Asked[] = [];

  constructor(
    private readonly pool: Pool,
    options: PostgresOptions,
  ) {
    super();
    this.schema = options.schema;
    this.releases = new LeaseReleases(options);
  }

  async acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined> {
    if (!(await this.ask({ name, holder, ttlMs })).free) return undefined;
    const now = `${this.schema}.now_ms()`;
    const { rows } = await this.pool.query<{ epoch: string; expires_at: string }>({
      name: 'acquire',
      text: `INSERT INTO ${this.schema}.leases AS l (name, holder, epoch, expires_at) VALUES ($1, $2, 1, ${now} + $3)
       ON CONFLICT (name) DO UPDATE SET
         holder = excluded.holder,
         epoch = CASE WHEN l.expires_at > ${now} THEN l.epoch ELSE l.epoch + 1 END,
         expires_at = excluded.expires_at
       WHERE l.expires_at <= ${now} OR l.holder = excluded.holder
       RETURNING epoch, expires_at`,
      values: [name, holder, ttlMs],
    });
    const [row] = rows;
    return row && { name, holder, epoch: Number(row.epoch), expiresAt: Number(row.expires_at) };
  }

  async renew({ name, holder, epoch }: Lease, ttlMs: number): Promise<Lease | undefined> {
    const { expires_at } = await this.ask({ name, holder, epoch, ttlMs });
    return expires_at === null ? undefined : { name, holder, epoch, expiresAt: Number(expires_at) };
  }

  async release({ name, holder, epoch }: Lease): Promise<void> {
    await this.pool.query(
      `WITH released AS (
         UPDATE ${this.schema}.leases SET expires_at = 0 WHERE name = $1 AND holder = $2 AND epoch = $3 RETURNING name)
       SELECT pg_notify('${releaseChannel(this.schema)}', name) FROM released`,
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

  override watchReleases(name: string, onReleased: () => void): ReleaseWatch {
    return this.releases.watch(name, onReleased);
  }

  /** No release is reported any more. */
  close(): Promise<void> {
    return this.releases.close();
  }

  private ask(one: Omit<Asked, 'answer'>): Promise<Answer> {
    const answer = Promise.withResolvers<Answer>();
    if (this.asked.length === 0) setTimeout(() => void this.askTogether(), TOGETHER_MS);
    this.asked.push({ ...one, answer });
    return answer.promise;
  }

  private async askTogether(): Promise<void> {
    const all = this.asked;
    this.asked = [];
    const now = `${this.schema}.now_ms()`;
    try {
      const { rows } = await this.pool.query<Answer>({
        name: 'renew and try',
        text: `WITH relaxed AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)),
         asked AS (SELECT * FROM relaxed, unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[])
           WITH ORDINALITY AS a (name, holder, epoch, ttl, n)),
         renewed AS (UPDATE ${this.schema}.leases AS l SET expires_at = ${now} + a.ttl FROM asked AS a
           WHERE l.name = a.name AND l.holder = a.holder AND l.epoch = a.epoch AND l.expires_at > ${now}
           RETURNING l.name, l.holder, l.epoch, l.expires_at)
         SELECT r.epoch, r.expires_at, a.epoch IS NULL AND NOT EXISTS (SELECT FROM ${this.schema}.leases AS l
           WHERE l.name = a.name AND l.holder <> a.holder AND l.expires_at > ${now}) AS free
         FROM asked AS a LEFT JOIN renewed AS r USING (name, holder, epoch) ORDER BY a.n`,
        values: [
          all.map(({ name }) => name),
          all.map(({ holder }) => holder),
          all.map(({ epoch }) => epoch ?? null),
          all.map(({ ttlMs }) => ttlMs),
        ],
      });
      for (const [at, { answer }] of all.entries()) answer.resolve(rows[at]!);
    } catch (error) {
      for (const { answer } of all) answer.reject(error as Error);
    }
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
