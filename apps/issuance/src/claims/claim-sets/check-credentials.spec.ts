import { MAX_CLAIM_SETS } from '@attestry/contracts';
import { checkCredentials } from './check-credentials.js';

const A = '11111111-1111-4111-8111-111111111111';
const B = '22222222-2222-4222-8222-222222222222';
const claims = { degree: 'Canary-Master' };
const entry = (claimSets: unknown, id: unknown = A) => ({ credentialConfigurationId: id, claimSets });
const IDENTIFIER = 'must be a string of 1 to 128 characters without control characters';
const NEITHER = 'must be ids of credential configurations or objects with claim sets';

describe('credentials of an offer', () => {
  it('are ids and objects with claim sets, whose identifiers are optional [T270]', () =>
    expect(
      checkCredentials([B.toUpperCase(), entry([{ identifier: 'x'.repeat(128), claims }, { claims: {} }])]),
    ).toEqual({
      entries: [
        { configurationId: B, claimSets: [] },
        { configurationId: A, claimSets: [{ identifier: 'x'.repeat(128), claims }, { claims: {} }] },
      ],
      details: [],
    }));

  it.each<[string, unknown[], [param: string, msg: string, value?: unknown][]]>([
    ['neither', [7], [['credentials', NEITHER, 7]]],
    ['an array', [[A]], [['credentials', NEITHER]]],
    ['a long text', ['x'.repeat(201)], [['credentials', NEITHER]]],
    ['a text', ['x'.repeat(200)], [['credentials', NEITHER, 'x'.repeat(200)]]],
    [
      'an object without members',
      [{}],
      [
        ['credentials.0.claimSets', 'must be an array of at least one claim set'],
        ['credentials.0.credentialConfigurationId', 'must be the id of a credential configuration'],
      ],
    ],
    ['no claim sets', [entry([])], [['credentials.0.claimSets', 'must be an array of at least one claim set']]],
    [
      'an object of claim sets',
      [entry({ 0: { claims } })],
      [['credentials.0.claimSets', 'must be an array of at least one claim set']],
    ],
    [
      'a claim set that is no object',
      [B, entry([claims, 'x'])],
      [
        ['credentials.1.claimSets.0', 'must have no members except identifier, claims'],
        ['credentials.1.claimSets.0.claims', 'must be an object'],
        ['credentials.1.claimSets.1', 'must be an object with claims'],
      ],
    ],
    [
      'unknown members',
      [{ ...entry([{ claims }]), scope: 'x' }],
      [['credentials.0', 'must have no members except credentialConfigurationId, claimSets']],
    ],
    [
      'claims that are no object',
      [entry([{ claims: [claims] }])],
      [['credentials.0.claimSets.0.claims', 'must be an object']],
    ],
    [
      'an empty identifier',
      [entry([{ identifier: '', claims }])],
      [['credentials.0.claimSets.0.identifier', IDENTIFIER]],
    ],
    [
      'a long identifier',
      [entry([{ identifier: 'x'.repeat(129), claims }])],
      [['credentials.0.claimSets.0.identifier', IDENTIFIER]],
    ],
    [
      'a line as an identifier',
      [entry([{ identifier: 'a\n', claims }])],
      [['credentials.0.claimSets.0.identifier', IDENTIFIER]],
    ],
    [
      'half a character',
      [entry([{ identifier: '\ud800', claims }])],
      [['credentials.0.claimSets.0.identifier', IDENTIFIER]],
    ],
    [
      'null as an identifier',
      [entry([{ identifier: null, claims }])],
      [['credentials.0.claimSets.0.identifier', IDENTIFIER]],
    ],
    [
      'an identifier of another entry',
      [entry([{ identifier: 'one', claims }]), entry([{ identifier: 'one', claims }], B)],
      [['credentials.1.claimSets.0.identifier', 'must be unique in the offer', 'one']],
    ],
    ['a configuration twice', [A, entry([{ claims }], A)], [['credentials', 'must not repeat a configuration', A]]],
    [
      'too many claim sets',
      [entry(Array.from({ length: MAX_CLAIM_SETS }, () => ({ claims }))), entry([{ claims }], B)],
      [['credentials', 'must have at most 100 claim sets in total']],
    ],
  ])('must not be %s, and the error contains no claim [T270]', (_, credentials, expected) => {
    const { details } = checkCredentials(credentials);
    expect(details).toStrictEqual(
      expected.map(([param, msg, value]) => ({ ...(value !== undefined && { value }), msg, param, location: 'body' })),
    );
    expect(JSON.stringify(details)).not.toContain('Canary');
  });

  it('may have a hundred claim sets', () =>
    expect(checkCredentials([entry(Array.from({ length: MAX_CLAIM_SETS }, () => ({ claims })))]).details).toEqual([]));
});
