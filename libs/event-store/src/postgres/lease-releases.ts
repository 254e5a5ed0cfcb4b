import type { PostgresOptions } from '@attestry/postgres';
import type { ReleaseWatch } from '../event-store.js';
import { Notifications } from './notifications.js';

export const releaseChannel = (schema: string): string => `${schema}.leases`;

/** Releases of leases, as the database reports them to standbys; it is connected from the first one on. */
export class LeaseReleases {
  private readonly standbys = new Map<string, Set<() => void>>();
  private notifications: Notifications | undefined;
  private isListening = false;

  constructor(private readonly options: PostgresOptions) {}

  watch(name: string, onReleased: () => void): ReleaseWatch {
    this.notifications ??= this.listen();
    const ofName = this.standbys.get(name) ?? new Set();
    this.standbys.set(name, ofName.add(onReleased));
    const isListening = () => this.isListening;
    return {
      get isLive() {
        return isListening();
      },
      close: () => {
        ofName.delete(onReleased);
        if (ofName.size === 0) this.standbys.delete(name);
      },
    };
  }

  async close(): Promise<void> {
    await this.notifications?.close();
  }

  private listen(): Notifications {
    return new Notifications(this.options, releaseChannel(this.options.schema), {
      onConnected: () => {
        this.isListening = true;
        for (const name of [...this.standbys.keys()]) this.report(name);
      },
      onNotified: (name) => this.report(name),
      onConnectionLost: () => {
        this.isListening = false;
      },
    });
  }

  private report(name: string): void {
    for (const onReleased of [...(this.standbys.get(name) ?? [])]) onReleased();
  }
}
