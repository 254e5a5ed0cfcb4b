import { recordSubject, type RecorderMessage } from '@attestry/contracts';
import type { FeedMessage } from '@attestry/messaging';
import { RecordOperations } from './record-operations.js';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');

describe('the last sign of a recorder', () => {
  /** Sign of a process whose clock is ten minutes behind. */
  const alive = (sequence: string): FeedMessage => {
    const at = new Date(NOW - 600_000).toISOString();
    const data: RecorderMessage = { instance: 'first', participant: 'gateway', state: 'alive', at };
    const subject = recordSubject('recorder', 'gateway');
    return { id: sequence, subject, data, headers: {}, sequence, attempt: 1 } as FeedMessage;
  };

  it('is when it was received, also after a failed append', async () => {
    let handle!: (messages: FeedMessage[]) => Promise<void>;
    let failures = 1;
    const stored: unknown[] = [];
    const writer = new RecordOperations(
      {
        readStream: async () => [],
        append: async (_stream: string, events: unknown[]) => {
          if (failures-- > 0) throw new Error('disk full');
          stored.push(...events);
          return { revision: 0 };
        },
      } as never,
      { consume: (_options: unknown, given: typeof handle) => ((handle = given), { isHeld: true }) } as never,
      { head: async () => '9' } as never,
      {} as never,
      { now: () => new Date(NOW) },
      { error: () => {} },
    );
    await writer.onApplicationBootstrap();
    await expect(handle([alive('1')])).rejects.toThrow('disk full');
    // Heads are read again before the first append of the redelivered batch.
    await writer.append([]);
    expect(writer.lastSignOf({ participant: 'gateway', instance: 'first' })).toBe(NOW);
    await handle([alive('1')]);
    expect(writer.lastSignOf({ participant: 'gateway', instance: 'first' })).toBe(NOW);
    expect(stored).toHaveLength(1);
  });
});
