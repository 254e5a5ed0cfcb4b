import { UnchangedRows } from './unchanged-rows.js';

describe('unchanged rows', () => {
  let position: string | undefined;
  let nextDue: number | undefined;
  let queries: number;
  let rows: UnchangedRows;
  const running = { progress: async () => position };
  const at = (seconds: number) => new Date(1_700_000_000_000 + seconds * 1000);
  const query = (seconds: number, meanwhile = () => undefined as void) =>
    rows.queryOnceChanged(at(seconds), async () => {
      queries += 1;
      meanwhile();
      return nextDue;
    });
  beforeEach(() => {
    [position, nextDue, queries] = ['7', at(10).getTime(), 0];
    rows = new UnchangedRows([{ running }]);
  });

  it('are read once, until the next row is due', async () => {
    for (const [seconds, count] of [
      [0, 1],
      [9.9, 1],
      [10, 2],
    ] as const) {
      await query(seconds);
      expect(queries).toBe(count);
    }
  });
  it('are read after 15 seconds where no row will be due', async () => {
    nextDue = Infinity;
    for (const [seconds, count] of [
      [0, 1],
      [14.9, 1],
      [15, 2],
    ] as const) {
      await query(seconds);
      expect(queries).toBe(count);
    }
  });
  it('are read again while a query finds some, and after one that failed', async () => {
    nextDue = undefined;
    await query(0);
    await expect(
      query(0, () => {
        throw new Error('away');
      }),
    ).rejects.toThrow('away');
    nextDue = Infinity;
    await query(0);
    await query(0);
    expect(queries).toBe(3);
  });
  it('are read when more is projected, also between the begin of a query and its end', async () => {
    await query(0);
    position = '8';
    await query(1, () => void (position = '9'));
    await query(1);
    expect(queries).toBe(3);
    await query(1);
    expect(queries).toBe(3);
  });
});
