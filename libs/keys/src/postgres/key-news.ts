import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { poolSettings, type PostgresOptions } from '@attestry/postgres';
import { newsChannel } from './schema.js';

/** `tenant`: its keys, or some of them, ended. `signingKeyOf`: a tenant that has a new one. `pepper`: a new one's id. */
export type KeyNewsItem =
  { tenant: string; keyIds?: readonly string[] } | { signingKeyOf: string } | { pepper: string };

export interface KeyNewsHandler {
  onNews(item: KeyNewsItem): void;
  /** From now on everything is heard: true; or something may be missed: false. */
  onHearing(hearing: boolean): Promise<void>;
}

/** A connection may be dead without telling; this is how long it may go unnoticed, with the time-out of a statement. */
const PROBE_MS = 2000;

/** Hears what processes tell each other about keys, over a connection of its own that is made anew when it is lost. */
export class KeyNews {
  private readonly stopping = new AbortController();
  private listening: Promise<void> | undefined;

  constructor(
    private readonly options: PostgresOptions,
    private readonly handler: KeyNewsHandler,
  ) {}

  /** Resolves when it hears for the first time. */
  start(): Promise<void> {
    return new Promise((resolve) => {
      this.listening = this.listen(resolve);
    });
  }

  async close(): Promise<void> {
    this.stopping.abort();
    await this.listening;
  }

  private async listen(heard: () => void): Promise<void> {
    const { signal } = this.stopping;
    for (let failures = 0; !signal.aborted;) {
      try {
        await this.hear(() => {
          failures = 0;
          heard();
        });
      } catch (error) {
        if (!signal.aborted) this.options.onFailure(error as Error);
        failures += 1;
      }
      await this.handler.onHearing(false);
      await this.sleep(Math.min(50 * 2 ** failures, 2000));
    }
  }

  /** Until the connection is lost or this is closed. */
  private async hear(heard: () => void): Promise<void> {
    const { signal } = this.stopping;
    const client = new pg.Client(poolSettings(this.options));
    const lost = new Promise<never>((_resolve, reject) => {
      client.on('error', reject);
      client.on('end', () => reject(new Error('the connection ended')));
    });
    // It is raced below; a loss in between is told there.
    lost.catch(() => client);
    client.on('notification', ({ payload }) => this.handler.onNews(JSON.parse(payload!) as KeyNewsItem));
    try {
      await client.connect();
      await client.query(`LISTEN "${newsChannel(this.options.schema)}"`);
      await this.handler.onHearing(true);
      heard();
      while (!signal.aborted) {
        await Promise.race([lost, this.sleep(PROBE_MS)]);
        if (!signal.aborted) await client.query('SELECT 1');
      }
    } finally {
      // Not awaited: a dead connection would not answer.
      client.end().catch(this.options.onFailure);
    }
  }

  private async sleep(ms: number): Promise<void> {
    const { signal } = this.stopping;
    // Also when it is aborted: the loops' conditions end them.
    await pause(ms, undefined, { signal }).catch(() => signal);
  }
}
