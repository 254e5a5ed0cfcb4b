import { SeededRandom } from './seeded-random.js';

export interface LedgerEntry<T> {
  /** Order of the attempt. */
  sequence: number;
  kind: string;
  what: T;
  /** `open`: sent without a response; it may or may not have taken effect. */
  outcome: 'open' | 'acknowledged' | 'refused';
  /** Answer of an acknowledged attempt. */
  answer?: unknown;
}

/**
 * Requests that a client sent to a process that may be killed at any moment, and their answers. After a restart the acknowledged must be
 * there, the refused must not, and the open may be either, but only once.
 */
export class AcknowledgementLedger<T> {
  readonly entries: LedgerEntry<T>[] = [];

  /** Sends something; a broken connection leaves the entry open, an answer decides it. */
  async attempt<Answered>(
    kind: string,
    what: T,
    send: () => Promise<Answered>,
    isAcknowledged: (answer: Answered) => boolean,
  ): Promise<Answered | undefined> {
    const entry: LedgerEntry<T> = { sequence: this.entries.length, kind, what, outcome: 'open' };
    this.entries.push(entry);
    let answer: Answered;
    try {
      answer = await send();
    } catch (error) {
      if (isBrokenConnection(error)) return undefined;
      throw error;
    }
    entry.outcome = isAcknowledged(answer) ? 'acknowledged' : 'refused';
    entry.answer = answer;
    return answer;
  }

  entriesOf(kind: string, outcome: LedgerEntry<T>['outcome']): LedgerEntry<T>[] {
    return this.entries.filter((entry) => entry.kind === kind && entry.outcome === outcome);
  }
}

const BROKEN = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_DESTROYED',
  'UND_ERR_CLOSED',
]);

/** Errors that a fetch throws when the process behind it dies. */
export const isBrokenConnection = (error: unknown): boolean => {
  for (let one = error as { code?: string; cause?: unknown; message?: string } | undefined; one;) {
    if (one.code !== undefined && BROKEN.has(one.code)) return true;
    if (one.message === 'terminated') return true;
    one = one.cause as typeof one;
  }
  return false;
};

/** Milliseconds of work before each kill, the same for the same seed. */
export const killSchedule = (
  seed: number,
  kills: number,
  { minMs = 20, maxMs = 400 }: { minMs?: number; maxMs?: number } = {},
): number[] => {
  const random = new SeededRandom(seed);
  return Array.from({ length: kills }, () => random.integer(minMs, maxMs));
};
