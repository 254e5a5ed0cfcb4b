import { PageTurns } from './page-turns.js';

const flush = () => new Promise((resolve) => setImmediate(resolve));

describe('turns of calls that list', () => {
  it('are four at once for each tenant, in the order of arrival [T681]', async () => {
    const turns = new PageTurns();
    const entered: number[] = [];
    const ends: (() => void)[] = [];
    for (let n = 0; n < 7; n++)
      void turns.enter('t').then((end) => {
        entered.push(n);
        ends[n] = end;
      });
    await flush();
    expect(entered).toEqual([0, 1, 2, 3]);
    ends[2]!();
    await flush();
    expect(entered).toEqual([0, 1, 2, 3, 4]);
    const other = await turns.enter('other');
    other();
    ends[0]!();
    ends[1]!();
    await flush();
    expect(entered).toEqual([0, 1, 2, 3, 4, 5, 6]);
    for (const n of [3, 4, 5, 6]) ends[n]!();
    const again = await Promise.all(Array.from({ length: 4 }, () => turns.enter('t')));
    for (const end of again) end();
    expect(Reflect.get(turns, 'turns')).toEqual(new Map());
  });
});
