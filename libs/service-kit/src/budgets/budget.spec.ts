import { addUse, type Use } from './budget.js';

const HOUR = 3_600_000;
const now = 10 * HOUR;
const uses = (...minutesAgo: number[]): Use[] => minutesAgo.map((m, n) => ({ id: `u${n}`, at: now - m * 60_000 }));
const next = (before: readonly Use[], id = 'new') => addUse(before, { id, now, limit: 3, windowMs: HOUR });

describe('a budget', () => {
  it('admits as many uses as its limit within any window', () => {
    expect(next([])).toEqual({ uses: [{ id: 'new', at: now }] });
    expect(next(uses(59, 1))).toEqual({ uses: [...uses(59, 1), { id: 'new', at: now }] });
    expect(next(uses(59, 10, 1))).toEqual({ retryAfterSeconds: 60 });
  });

  it('drops uses that have left the window', () => {
    expect(next(uses(60, 30, 1))).toEqual({ uses: [...uses(60, 30, 1).slice(1), { id: 'new', at: now }] });
  });

  it('counts a repeated use once', () => {
    expect(next(uses(59, 10, 1), 'u1')).toEqual({ uses: uses(59, 10, 1) });
  });

  it('returns the time until the next use is admitted, also when the limit was higher before', () => {
    expect(next(uses(50, 40, 30, 20))).toEqual({ retryAfterSeconds: 20 * 60 });
    expect(next(uses(0, 0, 0))).toEqual({ retryAfterSeconds: 3600 });
  });
});
