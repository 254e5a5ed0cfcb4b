import pg from 'pg';
import { poolSettings, type PostgresOptions } from '@attestry/postgres';
import { LeasedWorker } from '../worker/leased-worker.js';

const BACK_OFF = { firstMs: 100, maxMs: 2000 };

/** Messages of one channel. */
export interface Listener {
  /** From here on every notification arrives; earlier ones may have been missed. */
  onConnected(): void;
  onNotified(payload: string): void;
  /** From here on no notification arrives until `onConnected` again. */
  onConnectionLost(): void;
}

/** A separate connection that listens to one channel; it is reconnected until it is closed. */
export class Notifications {
  private readonly worker: LeasedWorker;

  constructor(
    private readonly options: PostgresOptions,
    private readonly channel: string,
    private readonly listener: Listener,
  ) {
    this.worker = new LeasedWorker({
      name: channel,
      backOff: BACK_OFF,
      batch: async (_, { signal }) => {
        await this.session(signal);
        return BACK_OFF.firstMs;
      },
      onError: (error) => {
        if (!this.worker.isStopped) options.onFailure(error);
      },
    }).start();
  }

  close(): Promise<void> {
    return this.worker.stop();
  }

  private async session(signal: AbortSignal): Promise<void> {
    // A connection that only waits has no statement that could take too long.
    const client = new pg.Client({ ...poolSettings(this.options), statement_timeout: 0, query_timeout: 0 });
    const ended = new Promise<void>((resolve) => {
      client.once('end', resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    client.on('error', this.options.onFailure);
    client.on('notification', ({ payload }) => this.listener.onNotified(payload!));
    try {
      await client.connect();
      await client.query(`LISTEN "${this.channel}"`);
      this.worker.recordSuccess();
      this.listener.onConnected();
      await ended;
    } finally {
      this.listener.onConnectionLost();
      await client.end();
    }
  }
}
