import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { poolSettings, type PostgresOptions } from '@attestry/postgres';
import { backOffMs } from '../worker/back-off.js';

const BACK_OFF = { firstMs: 100, maxMs: 2000 };

/** What is told of one channel. */
export interface Listener {
  /** From here on every notification is heard; what was sent before may have been missed. */
  connected(): void;
  heard(payload: string): void;
  /** From here on nothing is heard until `connected` again. */
  lost(): void;
}

/** A connection of its own that listens to one channel; it is made anew until it is closed. */
export class Notifications {
  private readonly stopping = new AbortController();
  private readonly running: Promise<void>;

  constructor(
    private readonly options: PostgresOptions,
    private readonly channel: string,
    private readonly listener: Listener,
  ) {
    this.running = this.run();
  }

  async close(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    let failures = 0;
    while (!signal.aborted) {
      try {
        await this.session(() => (failures = 0));
      } catch (error) {
        if (!signal.aborted) this.options.onFailure(error as Error);
      }
      // Also when it is aborted: the loop's condition ends it.
      await pause(backOffMs(++failures, BACK_OFF), undefined, { signal }).catch(() => failures);
    }
  }

  private async session(begun: () => void): Promise<void> {
    const { signal } = this.stopping;
    // A connection that only waits has no statement that could take too long.
    const client = new pg.Client({ ...poolSettings(this.options), statement_timeout: 0, query_timeout: 0 });
    const ended = new Promise<void>((resolve) => {
      client.once('end', resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    client.on('error', this.options.onFailure);
    client.on('notification', ({ payload }) => this.listener.heard(payload!));
    try {
      await client.connect();
      await client.query(`LISTEN "${this.channel}"`);
      begun();
      this.listener.connected();
      await ended;
    } finally {
      this.listener.lost();
      await client.end();
    }
  }
}
