import type { Pool } from 'pg';
import type { StreamName } from '../event-store.js';
import type { Snapshot, Snapshots } from '../snapshots.js';

/** Snapshots in a table beside leases and checkpoints. */
export class PostgresSnapshots implements Snapshots {
  constructor(
    private readonly pool: Pool,
    private readonly schema: string,
  ) {}

  async read(stream: StreamName): Promise<Snapshot | undefined> {
    const { rows } = await this.pool.query<{ revision: string; chain: string; state_version: string; state: Buffer }>({
      name: 'read snapshot',
      text: `SELECT revision, chain, state_version, state FROM ${this.schema}.snapshots WHERE stream = $1`,
      values: [stream],
    });
    const [row] = rows;
    return (
      row && { revision: Number(row.revision), chain: row.chain, stateVersion: row.state_version, state: row.state }
    );
  }

  async write(stream: StreamName, { revision, chain, stateVersion, state }: Snapshot): Promise<void> {
    await this.pool.query({
      name: 'write snapshot',
      text: `INSERT INTO ${this.schema}.snapshots AS s (stream, revision, chain, state_version, state)
       VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (stream) DO UPDATE SET revision = excluded.revision, chain = excluded.chain,
         state_version = excluded.state_version, state = excluded.state
       WHERE excluded.state_version <> s.state_version OR excluded.revision > s.revision`,
      values: [stream, revision, chain, stateVersion, Buffer.from(state.buffer, state.byteOffset, state.byteLength)],
    });
  }
}
