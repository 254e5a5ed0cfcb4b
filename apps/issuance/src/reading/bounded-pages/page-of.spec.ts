import { AppError } from '@attestry/contracts';
import { pageOf } from './page-of.js';

describe('a page of a list that is part of a state', () => {
  const entries = ['a', 'b', 'c'].map((id) => ({ id }));
  it('continues behind its cursor', () => {
    expect(pageOf(entries, {})).toEqual({ data: entries });
    expect(pageOf(entries, { limit: 2 })).toEqual({ data: entries.slice(0, 2), nextCursor: 'b' });
    expect(pageOf(entries, { limit: 2, cursor: 'b' })).toEqual({ data: entries.slice(2) });
    expect(pageOf([], {})).toEqual({ data: [] });
    expect(pageOf(entries, { cursor: 'c' })).toEqual({ data: [] });
  });

  it('refuses a cursor that is none of its entries', () => {
    const refusal = ((): unknown => {
      try {
        return pageOf(entries, { cursor: 'x' });
      } catch (error) {
        return error;
      }
    })();
    if (!(refusal instanceof AppError)) throw new Error('it was not refused');
    expect(refusal.details?.map(({ param, msg }) => [param, msg])).toEqual([
      ['cursor', 'must be a nextCursor of this list'],
    ]);
  });

  it('ends before it has more than 512 KB, counted in bytes, and continues there [T550]', () => {
    // Three bytes each.
    const large = ['a', 'b', 'c'].map((id) => ({ id, text: '\u20ac'.repeat(80_000) }));
    const first = pageOf(large, { limit: 1000 });
    expect([first.data.map(({ id }) => id), first.nextCursor]).toEqual([['a', 'b'], 'b']);
    expect(pageOf(large, { limit: 1000, cursor: 'b' })).toEqual({ data: [large[2]] });
  });

  it('has an entry of more than 512 KB alone [T550]', () => {
    const large = ['a', 'b'].map((id) => ({ id, text: 'x'.repeat(600_000) }));
    expect(pageOf(large, {})).toEqual({ data: [large[0]], nextCursor: 'a' });
    expect(pageOf(large, { cursor: 'a' })).toEqual({ data: [large[1]] });
  });

  it('serializes no entry behind the page [T550]', () => {
    let serialized = 0;
    const entry = (id: string) => ({ id, toJSON: () => (serialized++, 'x'.repeat(400_000)) });
    pageOf(['a', 'b', 'c', 'd'].map(entry), {});
    expect(serialized).toBe(2);
  });
});
