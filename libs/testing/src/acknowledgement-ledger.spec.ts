import { AcknowledgementLedger, isBrokenConnection, killSchedule } from './acknowledgement-ledger.js';
import { SeededRandom } from './seeded-random.js';
import { waitUntil } from './wait-until.js';

describe('the ledger of acknowledgements', () => {
  const broken = () => Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } }));

  it('distinguishes acknowledged, refused and open', async () => {
    const ledger = new AcknowledgementLedger<string>();
    await ledger.attempt(
      'user',
      'a',
      async () => 201,
      (status) => status === 201,
    );
    await ledger.attempt(
      'user',
      'b',
      async () => 503,
      (status) => status === 201,
    );
    await ledger.attempt('user', 'c', broken, () => true);
    expect(ledger.entries.map(({ what, outcome }) => [what, outcome])).toEqual([
      ['a', 'acknowledged'],
      ['b', 'refused'],
      ['c', 'open'],
    ]);
    expect(ledger.entriesOf('user', 'acknowledged')).toHaveLength(1);
  });

  it('does not treat a fault of the test as a broken connection', async () => {
    const ledger = new AcknowledgementLedger<string>();
    const fault = new TypeError('x is not a function');
    await expect(
      ledger.attempt(
        'user',
        'a',
        () => Promise.reject(fault),
        () => true,
      ),
    ).rejects.toBe(fault);
    expect(isBrokenConnection(new TypeError('terminated'))).toBe(true);
  });

  it('repeats the same kills for the same seed', () => {
    expect(killSchedule(7, 50)).toEqual(killSchedule(7, 50));
    expect(killSchedule(7, 50)).not.toEqual(killSchedule(8, 50));
    expect(killSchedule(7, 50, { minMs: 5, maxMs: 9 }).every((ms) => ms >= 5 && ms <= 9)).toBe(true);
  });
});

describe('seeded random', () => {
  it('repeats itself and covers its range', () => {
    const draw = (seed: number) => {
      const random = new SeededRandom(seed);
      return Array.from({ length: 200 }, () => random.integer(1, 6));
    };
    expect(draw(1)).toEqual(draw(1));
    expect(new Set(draw(1))).toEqual(new Set([1, 2, 3, 4, 5, 6]));
    expect(() => new SeededRandom(1).pick([])).toThrow(RangeError);
  });
});

describe('waitUntil', () => {
  it('returns the value of the condition, and names what did not occur', async () => {
    let looks = 0;
    await expect(waitUntil(() => (++looks === 3 ? 'there' : undefined), { intervalMs: 1 })).resolves.toBe('there');
    const late = waitUntil(
      () => {
        throw new Error('not yet');
      },
      { timeoutMs: 5, intervalMs: 1, what: 'the end' },
    );
    await expect(late).rejects.toMatchObject({
      message: 'waited 5 ms in vain for the end',
      cause: { message: 'not yet' },
    });
  });
});
