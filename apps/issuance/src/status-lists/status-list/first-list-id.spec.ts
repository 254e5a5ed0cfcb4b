import { firstListId } from './first-list-id.js';

describe('the id of the first status list', () => {
  it('is the same UUID each time', () => {
    expect(firstListId('t1', 'dc+sd-jwt')).toBe(firstListId('t1', 'dc+sd-jwt'));
    expect(firstListId('t1', 'dc+sd-jwt')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('is another one for each tenant and series', () =>
    expect(
      new Set([firstListId('t1', 'a'), firstListId('t2', 'a'), firstListId('t1', 'b'), firstListId('t1', 'a: b')]).size,
    ).toBe(4));
});
