import { chooseMediaType, isUnchanged, notSigned } from './conditions.js';

const JWT = 'application/statuslist+jwt';

describe('Accept of a status list token', () => {
  it.each([
    [undefined, true],
    [JWT, true],
    ['Application/StatusList+JWT', true],
    ['*/*', true],
    ['application/*;q=0.1', true],
    [`text/html, ${JWT};q=0.5`, true],
    ['application/statuslist+cwt', false],
    ['application/json', false],
    [`${JWT};q=0, */*`, false],
    ['application/*;q=0, */*', false],
    ['', false],
  ])('%j: %s', (accept, accepted) => expect(chooseMediaType(accept, [JWT])).toBe(accepted ? JWT : undefined));

  it.each([
    [undefined, 'application/cwt'],
    ['*/*', 'application/cwt'],
    ['application/*;q=0.5', 'application/cwt'],
    ['application/statuslist+cwt', 'application/statuslist+cwt'],
    ['application/statuslist+cwt, */*', 'application/statuslist+cwt'],
    ['application/statuslist+cwt;q=0.9, application/cwt', 'application/cwt'],
    ['application/cwt, application/statuslist+cwt', 'application/cwt'],
    ['application/cwt;q=0, application/*', 'application/statuslist+cwt'],
    ['application/statuslist+jwt', undefined],
  ])('of a CWT, %j: %s', (accept, type) =>
    expect(chooseMediaType(accept, ['application/cwt', 'application/statuslist+cwt'])).toBe(type),
  );
});

describe('If-None-Match', () => {
  it.each([
    [undefined, false],
    ['"a"', true],
    ['W/"a"', true],
    ['"b", "a"', true],
    ['*', true],
    ['"b"', false],
    ['a', false],
    ['', false],
  ])('%j: %s', (header, unchanged) => expect(isUnchanged(header, '"a"')).toBe(unchanged));
});

describe('a list without a token', () => {
  it('is unavailable, and can be retried after a second', () =>
    expect(notSigned()).toMatchObject({
      kind: 'unavailable',
      message: 'The first token of the status list is not signed yet',
      headers: { 'retry-after': '1' },
    }));
});
