import type { AppError } from '@attestry/contracts';
import { SourceSlots } from './source-slots.js';

const ada = { tenantId: 't1', userId: 'ada', sourceId: 's1' };
const LONG_MS = 60_000;

/** Calls that begin as slots become free, and end when the test says so. */
const callsIn = (slots: SourceSlots) => {
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const start = (name: string, key = ada, waitMs = LONG_MS) =>
    slots.run(
      key,
      () =>
        new Promise<string>((resolve, reject) => {
          begun.push(name);
          ends.set(name, (error) => (error ? reject(error) : resolve(name)));
        }),
      waitMs,
    );
  return { begun, start, end: (name: string, error?: Error) => ends.get(name)!(error) };
};
const refusalOf = (made: Promise<unknown>) =>
  made.then(
    () => 'no refusal',
    ({ kind, message, headers }: AppError) => [kind, message, headers],
  );

describe('the calls of a claims source for one user [T510]', () => {
  it('are two at a time; further ones begin in their order as others end, also by an error', async () => {
    const { begun, start, end } = callsIn(new SourceSlots());
    const made = ['a', 'b', 'c', 'd', 'e'].map((name) => start(name));
    expect(begun).toEqual(['a', 'b']);
    end('b', new Error('failed'));
    await expect(made[1]).rejects.toThrow('failed');
    expect(begun).toEqual(['a', 'b', 'c']);
    end('a');
    expect(await made[0]).toBe('a');
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    for (const name of ['c', 'd', 'e']) {
      end(name);
      await Promise.race(made.slice(2));
      await new Promise(setImmediate);
    }
    expect(await Promise.all(made.slice(2))).toEqual(['c', 'd', 'e']);
    // All slots are free again.
    const again = [start('f'), start('g'), start('h')];
    expect(begun.slice(5)).toEqual(['f', 'g']);
    end('f');
    await again[0];
    end('g');
    end('h');
    await Promise.all(again);
  });

  it('are refused when they waited for too long, and take no slot then', async () => {
    const { begun, start, end } = callsIn(new SourceSlots());
    const made = [start('a'), start('b')];
    expect(await refusalOf(start('c', ada, 1))).toEqual([
      'tooManyRequests',
      'Too many credential requests of this user wait for a claims source',
      { 'retry-after': '1' },
    ]);
    const later = start('d');
    end('a');
    await made[0];
    expect(begun).toEqual(['a', 'b', 'd']);
    end('b');
    end('d');
    await Promise.all([...made, later]);
  });

  it('leave the slots of other users, sources and tenants free', async () => {
    const { begun, start, end } = callsIn(new SourceSlots());
    const others = [ada, { ...ada, userId: 'bob' }, { ...ada, sourceId: 's2' }, { ...ada, tenantId: 't2' }];
    const made = others.flatMap((key, at) => [`a${at}`, `b${at}`, `c${at}`].map((name) => start(name, key)));
    expect(begun).toEqual(others.flatMap((_, at) => [`a${at}`, `b${at}`]));
    for (const name of [...begun]) end(name);
    await new Promise(setImmediate);
    for (const name of begun.slice(8)) end(name);
    expect(await Promise.all(made)).toHaveLength(12);
  });
});
