import pg from 'pg';
import type { PostgresServer } from './postgres-server.js';

export interface PostgresTraffic {
  commits: number;
  /** Flushes of the write-ahead log. */
  syncs: number;
  /** Transactions of several statements: batches of projections, and little else. */
  batches: number;
  /** Appends to and reads of the event store. */
  ofEvents: number;
}

/** Settings of a server whose traffic is counted: it does nothing of its own accord. */
export const COUNTED_SERVER = { shared_preload_libraries: 'pg_stat_statements', autovacuum: 'off' };

/** What a server did; reading it adds two to what it did. */
export class PostgresTrafficCounter {
  private constructor(private readonly client: pg.Client) {}

  /** @param server with {@link COUNTED_SERVER} */
  static async connect(server: PostgresServer): Promise<PostgresTrafficCounter> {
    const client = new pg.Client({ connectionString: server.url() });
    await client.connect();
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
    return new PostgresTrafficCounter(client);
  }

  async read(): Promise<PostgresTraffic> {
    const { rows } = await this.client.query<Record<keyof PostgresTraffic, string>>(
      `SELECT (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()) AS commits,
         (SELECT wal_sync FROM pg_stat_wal) AS syncs,
         (SELECT coalesce(sum(calls), 0) FROM pg_stat_statements WHERE query ILIKE 'begin%') AS batches,
         (SELECT coalesce(sum(calls), 0) FROM pg_stat_statements
           WHERE query LIKE '%append_units(%' OR query LIKE '%.events %') AS "ofEvents"`,
    );
    const { commits, syncs, batches, ofEvents } = rows[0]!;
    return { commits: Number(commits), syncs: Number(syncs), batches: Number(batches), ofEvents: Number(ofEvents) };
  }

  /** What the server does in this time, per second. */
  async perSecond(seconds: number): Promise<PostgresTraffic> {
    const before = await this.read();
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    return trafficBetween(before, await this.read(), seconds);
  }

  async close(): Promise<void> {
    await this.client.end();
  }
}

export const trafficBetween = (before: PostgresTraffic, after: PostgresTraffic, count: number): PostgresTraffic => ({
  commits: (after.commits - before.commits) / count,
  syncs: (after.syncs - before.syncs) / count,
  batches: (after.batches - before.batches) / count,
  ofEvents: (after.ofEvents - before.ofEvents) / count,
});
