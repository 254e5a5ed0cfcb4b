import { chooseMediaType } from './choose-media-type.js';

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
