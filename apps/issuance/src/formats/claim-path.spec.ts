import fc from 'fast-check';
import { CLAIM_PATH_PATTERN } from '@attestry/contracts';
import { parseClaimPath } from './claim-path.js';

describe('the path of a claim', () => {
  it.each([
    'claims.given_name',
    "claims['https://a.example/x'].b",
    'claims["it\'s"]',
    "claims['it\\'s']",
    'authenticationProvider.url',
    "authenticationProvider['subjectId']",
  ])('is one by the pattern of the interface definition: %s [T803]', (path) => {
    expect([CLAIM_PATH_PATTERN.test(path), parseClaimPath(path)]).toEqual([true, expect.any(Array)]);
  });

  it.each(['', 'claims', 'claims.', 'claims[0]', 'claims.a b', 'email', 'authenticationProvider.name', "claims['a"])(
    'is none: %p',
    (path) => {
      expect([CLAIM_PATH_PATTERN.test(path), parseClaimPath(path)]).toEqual([false, undefined]);
    },
  );

  it('is the same for the pattern and for the parser', () => {
    const part = fc.constantFrom(
      'claims',
      'authenticationProvider',
      'url',
      '.',
      '[',
      ']',
      "'",
      '"',
      '\\',
      ' ',
      'a',
      '0',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 9 }), (parts) => {
        for (const path of [parts.join(''), `claims${parts.join('')}`])
          expect([path, CLAIM_PATH_PATTERN.test(path)]).toEqual([path, parseClaimPath(path) !== undefined]);
      }),
    );
  });
});
