import pg from 'pg';
import type { PostgresServer } from './postgres-server.js';

export interface PostgresTraffic {
  commits: number;
  /** Flushes of the write-ahead log. */
  syncs: number;
  statements: number;
  /** Appends to the event store: statements, of which each is a transaction. */
  appends: number;
  /** Reads of a stream: statements, of which each is a transaction. */
  streamReads: number;
}

/** Connections report what they did with their next statement after a second, or once they have been idle for 10 s. */
const REPORTED_MS = 11_000;

/** Settings of a server whose traffic is counted: it does nothing of its own accord. */
export const COUNTED_SERVER = { shared_preload_libraries: 'pg_stat_statements', autovacuum: 'off' };

/** Counts the work of a server; a reading adds two statements. */
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
         (SELECT coalesce(sum(calls), 0) FROM pg_stat_statements) AS statements,
         (SELECT coalesce(sum(calls), 0) FROM pg_stat_statements WHERE query LIKE '%append_units(%') AS appends,
         (SELECT coalesce(sum(calls), 0) FROM pg_stat_statements
           WHERE query LIKE '%.events WHERE stream = %') AS "streamReads"`,
    );
    const { commits, syncs, statements, appends, streamReads } = rows[0]!;
    return {
      commits: Number(commits),
      syncs: Number(syncs),
      statements: Number(statements),
      appends: Number(appends),
      streamReads: Number(streamReads),
    };
  }

  /** {@link read}, once all connections have reported what they did before the call. */
  async readAll(): Promise<PostgresTraffic> {
    await new Promise((resolve) => setTimeout(resolve, REPORTED_MS));
    return this.read();
  }

  /** Work of the server in this time, per second. */
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
  statements: (after.statements - before.statements) / count,
  appends: (after.appends - before.appends) / count,
  streamReads: (after.streamReads - before.streamReads) / count,
});
