import { notSigned } from './conditions.js';

describe('a list without a token', () => {
  it('is unavailable, and can be retried after a second', () =>
    expect(notSigned()).toMatchObject({
      kind: 'unavailable',
      message: 'The first token of the status list is not signed yet',
      headers: { 'retry-after': '1' },
    }));
});
