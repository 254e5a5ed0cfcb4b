import type { Position, Revision, StreamName } from '../event-store.js';

/** An append, its values as the table stores them. */
export interface Append {
  stream: StreamName;
  expected: Revision;
  events: readonly EventValues[];
  bytes: number;
}
export type EventValues = [id: string, type: string, schemaVersion: number, data: string, metadata: string];

/** A data key that must be new, as the table of the key store has it. */
export interface NewKey {
  tenant: string;
  purpose: string;
  id: string;
  sealed: Uint8Array;
  /** Stored with the key. */
  value?: Uint8Array;
}

/** Appends and keys that are stored together or not at all. */
export interface Unit {
  appends: readonly Append[];
  keys: readonly NewKey[];
  /** Schema of the keys. */
  keySchema?: string;
}

/**
 * `conflict`: index of the append whose stream was not as expected, and `actual` the revision of that stream. `position`: of the last event,
 * null when the unit was refused. `fresh`: whether it was stored just now. `refusals`: for each key why it is not new, or null.
 */
export type UnitAnswer = [
  conflict: number | null,
  actual: Revision,
  position: Position | null,
  fresh: boolean,
  refusals: readonly (string | null)[],
];

const MOST_APPENDS = 256;
const MOST_BYTES = 8 * 1024 * 1024;
/** Each holds two locks of the server. */
const MOST_KEYS = 64;

interface Pending {
  unit: Unit;
  resolve: (answer: UnitAnswer) => void;
  reject: (error: Error) => void;
}

/** One group of units at a time, so that later ones share the next transaction. No timers. */
export class AppendGroups {
  private readonly pending: Pending[] = [];
  private running: Promise<void> | undefined;
  /** The group that is being stored; it never rejects. */
  private current: Promise<void> | undefined;

  /** @param store stores a group in one transaction and returns the results in its order */
  constructor(private readonly store: (group: readonly Unit[]) => Promise<UnitAnswer[]>) {}

  add(unit: Unit): Promise<UnitAnswer> {
    return new Promise((resolve, reject) => {
      this.pending.push({ unit, resolve, reject });
      this.running ??= this.writeGroups();
    });
  }

  /** When all given units have results. */
  async idle(): Promise<void> {
    await this.running;
  }

  /** When the group that is being stored has results, and its callers have seen them. */
  async settled(): Promise<void> {
    await this.current;
  }

  private async writeGroups(): Promise<void> {
    while (this.pending.length > 0) {
      this.current = this.send(this.pending.splice(0, this.nextLength()));
      await this.current;
    }
    // In the same turn as the check of what is pending: a unit that comes now begins a new run.
    this.running = undefined;
  }

  private nextLength(): number {
    let bytes = 0;
    let appends = 0;
    let schema: string | undefined;
    const keys = new Set<string>();
    const fits = ({ unit }: Pending): boolean => {
      for (const append of unit.appends) bytes += append.bytes;
      for (const { value } of unit.keys) bytes += value?.length ?? 0;
      appends += unit.appends.length;
      if (unit.keys.length === 0) return bytes <= MOST_BYTES && appends <= MOST_APPENDS;
      // The server compares keys with those that are stored, not with those of the same group.
      const before = keys.size;
      for (const { tenant, purpose, id } of unit.keys) keys.add(`${tenant} ${purpose} ${id}`);
      schema ??= unit.keySchema;
      const areNew = keys.size === before + unit.keys.length && unit.keySchema === schema;
      return areNew && keys.size <= MOST_KEYS && bytes <= MOST_BYTES && appends <= MOST_APPENDS;
    };
    const end = this.pending.findIndex((one, at) => !fits(one) && at > 0);
    return end < 0 ? this.pending.length : end;
  }

  private async send(group: readonly Pending[]): Promise<void> {
    try {
      const answers = await this.store(group.map(({ unit }) => unit));
      group.forEach(({ resolve }, at) => resolve(answers[at]!));
    } catch (error) {
      // When the server refuses values of one unit, the others are not affected.
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
