import type { Position, Revision, StreamName } from '../event-store.js';

/** An append, its values as the table stores them. */
export interface Append {
  stream: StreamName;
  expected: Revision;
  events: readonly EventValues[];
  bytes: number;
}
export type EventValues = [id: string, type: string, schemaVersion: number, data: string, metadata: string];
/** The revision the stream was at; the last position, or null when the append was refused; whether it was stored just now. */
export type AppendAnswer = [actual: Revision, position: Position | null, fresh: boolean];

const MOST_APPENDS = 256;
const MOST_BYTES = 8 * 1024 * 1024;

interface Pending {
  append: Append;
  resolve: (answer: AppendAnswer) => void;
  reject: (error: Error) => void;
}

/** One group of appends at a time, so that later ones share the next transaction. No timers. */
export class AppendGroups {
  private readonly pending: Pending[] = [];
  private running: Promise<void> | undefined;

  /** @param store stores a group in one transaction and returns the results in its order */
  constructor(private readonly store: (group: readonly Append[]) => Promise<AppendAnswer[]>) {}

  append(append: Append): Promise<AppendAnswer> {
    return new Promise((resolve, reject) => {
      this.pending.push({ append, resolve, reject });
      this.running ??= this.writeGroups();
    });
  }

  /** When all given appends have results. */
  async idle(): Promise<void> {
    await this.running;
  }

  private async writeGroups(): Promise<void> {
    while (this.pending.length > 0) await this.send(this.pending.splice(0, this.nextLength()));
    // In the same turn as the check of what is pending: an append that comes now begins a new run.
    this.running = undefined;
  }

  private nextLength(): number {
    let bytes = 0;
    const end = this.pending.findIndex(({ append }, at) => (bytes += append.bytes) > MOST_BYTES && at > 0);
    return Math.min(end < 0 ? this.pending.length : end, MOST_APPENDS);
  }

  private async send(group: readonly Pending[]): Promise<void> {
    try {
      const answers = await this.store(group.map(({ append }) => append));
      group.forEach(({ resolve }, at) => resolve(answers[at]!));
    } catch (error) {
      // When the server refuses values of one append, the others are not affected.
      if (group.length > 1 && isOfValues(error)) for (const one of group) await this.send([one]);
      else for (const { reject } of group) reject(error as Error);
    }
  }
}

/** Data exception, integrity constraint violation, program limit exceeded. */
const isOfValues = (error: unknown): boolean => {
  const { cause } = error as { cause?: { code?: string } };
  return /^(22|23|54)/.test(cause?.code ?? '');
};
