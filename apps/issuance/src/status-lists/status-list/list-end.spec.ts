import { endOfClaim, endOfCredential, hasEnded, latestEnded, NO_END } from './list-end.js';

describe('the end of a list', () => {
  it.each([
    ['2026-03-01T00:00:00.001Z', '2026-03-02T00:00:00.000Z'],
    ['2026-03-01T23:59:59.999Z', '2026-03-02T00:00:00.000Z'],
    ['2026-03-02T00:00:00.000Z', '2026-03-02T00:00:00.000Z'],
    ['9998-12-31T23:00:00.000Z', '9999-01-01T00:00:00.000Z'],
    ['9999-01-01T00:00:00.000Z', NO_END],
    ['+010000-01-01T00:00:00.000Z', NO_END],
    [undefined, NO_END],
  ])('of a credential until %s is %s', (validUntil, end) => expect(endOfCredential(validUntil)).toBe(end));

  it('is after each other date where a credential has no end', () => {
    expect(NO_END > endOfCredential('2999-12-31T12:00:00.000Z')).toBe(true);
  });

  it('is a day after a claim of indexes, at least', () => {
    expect(endOfClaim('2026-03-01T00:00:00.000Z')).toBe('2026-03-02T00:00:00.000Z');
    expect(endOfClaim('2026-03-01T12:00:00.000Z')).toBe('2026-03-03T00:00:00.000Z');
  });

  it.each<[string, boolean, string, boolean]>([
    ['2026-03-02T00:00:00.000Z', true, '2026-03-01T23:59:59.999Z', false],
    ['2026-03-02T00:00:00.000Z', true, '2026-03-02T00:00:00.000Z', true],
    ['2026-03-02T00:00:00.000Z', false, '2026-03-31T23:59:59.999Z', false],
    ['2026-03-02T00:00:00.000Z', false, '2026-04-01T00:00:00.000Z', true],
    [NO_END, true, '9999-12-31T00:00:00.000Z', false],
    [NO_END, true, '+200000-01-01T00:00:00.000Z', false],
  ])('at %s (full: %s) is reached at %s: %s', (endsAt, isFull, now, ended) =>
    expect(hasEnded({ endsAt, isFull }, new Date(now))).toBe(ended),
  );

  it.each([
    ['2026-03-31T23:59:59.999Z', false],
    ['2026-04-01T00:00:00.000Z', true],
  ])('of a list that is not full is found at %s by its time: %s', (now, ended) =>
    expect('2026-03-02T00:00:00.000Z' <= latestEnded(new Date(now))).toBe(ended),
  );
});
