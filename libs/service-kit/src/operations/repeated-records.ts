import type { OperationRecordMessage } from '@attestry/contracts';

/** Calls of a minute, with one result for one client, that have a START and an outcome each. */
const KEPT = 20;
const MINUTE_MS = 60_000;
/** Clients and checks that are counted at a time, and characters of their records as JSON: beyond that the minute ends early. */
const MAX_COUNTED = 10_000;
const MAX_CHARACTERS = 4 * 1024 * 1024;

/** Calls that are counted together. */
export interface RepeatedCall {
  /** Subject of the record: a wallet, a session, or a class of clients. */
  client: string;
  /** Name of the check that refused, or code of the error; `SUCCESS`. */
  check: string;
}

interface Counted {
  calls: number;
  /** The first record that is not kept, with the end of the last one. */
  repeated?: OperationRecordMessage;
}

/**
 * Counts calls that anyone can make, so that a flood of them writes few records (ADR 0098): of the others of a minute, one
 * record has the number in `metadata.repeated`. It has the id of the first of them, which has no other record, so that each START has one outcome.
 */
export class RepeatedRecords {
  private readonly counted = new Map<string, Counted>();
  private characters = 0;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  /** @param write the record of the calls that were repeated */
  constructor(private readonly write: (record: OperationRecordMessage) => void) {}

  /** Whether the record is written; otherwise it is counted. */
  isKept(record: OperationRecordMessage, { client, check }: RepeatedCall): boolean {
    if (this.isClosed) return true;
    const key = JSON.stringify([record.tenantId, record.operation, client, check]);
    const counted = this.counted.get(key) ?? { calls: 0 };
    if (counted.calls === 0) {
      if (this.counted.size >= MAX_COUNTED) this.end();
      this.counted.set(key, counted);
      this.timer ??= setTimeout(() => this.end(), MINUTE_MS).unref();
    }
    if (++counted.calls <= KEPT) return true;
    if (counted.repeated) {
      counted.repeated.endedAt = record.endedAt;
      return false;
    }
    counted.repeated = { ...record };
    this.characters += JSON.stringify(record).length;
    if (this.characters > MAX_CHARACTERS) this.end();
    return false;
  }

  /** Writes what was counted, and begins another minute. */
  end(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const ended = [...this.counted.values()];
    this.counted.clear();
    this.characters = 0;
    for (const { calls, repeated } of ended)
      if (repeated) this.write({ ...repeated, metadata: { ...repeated.metadata, repeated: calls - KEPT } });
  }

  /** From now on each record is kept. */
  close(): void {
    this.isClosed = true;
    this.end();
  }
}
