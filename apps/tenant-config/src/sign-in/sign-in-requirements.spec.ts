import { readStepUp, requiredClaimsFault } from '@attestry/contracts';
import { requirementsOf } from './sign-in-requirements.js';

const BEGUN = 1_000_000;
const REQUIRED = {};
const unmet = (
  claims: Record<string, unknown>,
  staticRequestParameters: Record<string, unknown>,
  requiredClaims: Record<string, unknown[]> = REQUIRED,
) =>
  requirementsOf({ staticRequestParameters, requiredClaims }, BEGUN * 1000)
    .filter(({ claim, isMet }) => !isMet(claims[claim]))
    .map(({ name }) => name);
const essential = (more: object = {}) => ({ id_token: { acr: { essential: true, ...more } } });
const ACR_VALUES = 'staticRequestParameters.acr_values';
const ESSENTIAL = 'staticRequestParameters.claims.id_token.acr';
const MAX_AGE = 'staticRequestParameters.max_age';

describe('acr_values of the static parameters', () => {
  it.each(['2', '3 2', ' 3  2 ', 2])('%j: one of them is acr [T749]', (acr_values) => {
    expect(unmet({ acr: '2' }, { acr_values })).toEqual([]);
    for (const acr of ['1', 2, '', null, undefined, '3 2 ', { 2: true }])
      expect(unmet({ acr }, { acr_values })).toEqual([ACR_VALUES]);
  });

  it('require nothing where requiredClaims names acr, whose values count [T749]', () => {
    expect(unmet({}, { acr_values: '2' }, { acr: [] })).toEqual([]);
    expect(unmet({ acr: '3' }, { acr_values: '2' }, { acr: ['3'] })).toEqual([]);
    expect(unmet({ acr: '2' }, { acr_values: '2' }, { acr: ['3'] })).toEqual(['requiredClaims.acr']);
  });
});

describe('an essential acr of the static parameters', () => {
  it.each([
    [essential({ values: ['2', '3'] }), '3'],
    [essential({ value: '2' }), '2'],
    [essential({ value: '2', values: ['3'] }), '3'],
    [JSON.stringify(essential({ values: ['2'] })), '2'],
  ])('%j: one of its values is acr [T749]', (claims, acr) => {
    expect(unmet({ acr }, { claims })).toEqual([]);
    for (const other of ['1', '', null, undefined, 2]) expect(unmet({ acr: other }, { claims })).toEqual([ESSENTIAL]);
    // Only acr_values may be made to steer.
    expect(unmet({ acr: '1' }, { claims }, { acr: [] })).toEqual([ESSENTIAL]);
  });

  it('has to be present without values [T749]', () => {
    expect(unmet({ acr: 'any' }, { claims: essential() })).toEqual([]);
    for (const acr of [null, undefined]) expect(unmet({ acr }, { claims: essential() })).toEqual([ESSENTIAL]);
  });

  it.each([
    { id_token: { acr: null } },
    { id_token: { acr: { values: ['2'] } } },
    { id_token: { acr: { essential: false, values: ['2'] } } },
    { userinfo: { acr: { values: ['2'] } } },
    { id_token: null, userinfo: null },
    {},
  ])('is not %j, a voluntary claim', (claims) => expect(unmet({}, { claims })).toEqual([]));
});

describe('max_age of the static parameters', () => {
  it.each([300, '300', '0300'])(
    '%j counts from the begin of the sign-in, with a tolerance of 2 s [T750]',
    (max_age) => {
      expect(unmet({ auth_time: BEGUN - 302 }, { max_age })).toEqual([]);
      expect(unmet({ auth_time: BEGUN + 60 }, { max_age })).toEqual([]);
      for (const auth_time of [BEGUN - 303, undefined, null, String(BEGUN), NaN])
        expect(unmet({ auth_time }, { max_age })).toEqual([MAX_AGE]);
    },
  );

  it('of zero allows no authentication of before [T750]', () => {
    expect(unmet({ auth_time: BEGUN - 2 }, { max_age: 0 })).toEqual([]);
    expect(unmet({ auth_time: BEGUN - 3 }, { max_age: '0' })).toEqual([MAX_AGE]);
  });
});

describe('required claims', () => {
  it('are compared as JSON, and an array has one of the values as an element [T751]', () => {
    const required = { email_verified: [true], amr: ['mfa', 'hwk'], org: [{ id: 1, in: ['EU'] }], list: [['a', 'b']] };
    const claims = { email_verified: true, amr: ['pwd', 'hwk'], org: { in: ['EU'], id: 1 }, list: ['a', 'b'] };
    expect(unmet(claims, {}, required)).toEqual([]);
    for (const [name, values] of Object.entries({
      email_verified: ['true', 1, null, undefined, false, []],
      amr: [['pwd'], 'pwd', [], [['mfa']], undefined, { 0: 'mfa' }],
      org: [{ id: 1 }, { id: 1, in: ['EU'], more: 1 }, { id: '1', in: ['EU'] }, { id: 1, in: { 0: 'EU' } }, 1],
      list: [['b', 'a'], ['a'], 'a'],
    }))
      for (const value of values)
        expect([value, unmet({ ...claims, [name]: value }, {}, required)]).toEqual([value, [`requiredClaims.${name}`]]);
  });

  it.each<[unknown, string | undefined]>([
    [{ acr: ['2'], email_verified: [true] }, undefined],
    [{ acr: [] }, undefined],
    [{ amr: [] }, 'must have at least one allowed value for amr'],
    [{ acr: '2' }, 'must have a list of allowed values for each claim, unlike acr'],
    [{ acr: null }, 'must have a list of allowed values for each claim, unlike acr'],
    [{ email: [null] }, 'must not have null as a value of email: a claim that is null has no value'],
    [{ '': ['x'] }, 'must have names of 1 to 255 characters'],
    [{ email: Array(101).fill('x') }, 'must have at most 100 allowed values for a claim, unlike email'],
  ])('%j: %s [T752]', (value, fault) => expect(requiredClaimsFault(value)).toBe(fault));
});

describe('static parameters that ask for an authentication', () => {
  it.each(['', ' ', 'x', '1.5', '-1', '+1', '1e3', 1.5, -1, 2 ** 53, '9007199254740993', true, null, [1], {}])(
    'are refused with the max_age %j [T752]',
    (max_age) => expect(readStepUp({ max_age }).fault).toMatch(/^must have as max_age a whole number of seconds/),
  );

  it.each(['', '  ', true, null, ['2'], {}])('are refused with the acr_values %j [T752]', (acr_values) =>
    expect(readStepUp({ acr_values }).fault).toMatch(/^must have as acr_values/),
  );

  it.each<[unknown, RegExp]>([
    ['{', /JSON object/],
    ['[]', /JSON object/],
    [null, /JSON object/],
    [1, /JSON object/],
    [{ id_token: [] }, /as id_token in claims an object or null/],
    [{ userinfo: 'acr' }, /as userinfo in claims an object or null/],
    [{ id_token: { acr: true } }, /as acr in claims an object or null/],
    [{ id_token: { acr: { essential: 'true' } } }, /essential of acr in claims true or false/],
    [essential({ values: [] }), /values of acr in claims a list of texts/],
    [essential({ values: '2' }), /values of acr in claims a list of texts/],
    [essential({ values: [2] }), /values of acr in claims a list of texts/],
    [essential({ value: 2 }), /value of acr in claims a text/],
    [{ userinfo: { acr: { essential: true, values: ['2'] } } }, /essential acr in id_token of claims, not in userinfo/],
  ])('are refused with the claims %j [T752]', (claims, fault) => expect(readStepUp({ claims }).fault).toMatch(fault));

  it('are accepted where they ask for nothing', () => {
    expect(readStepUp({ ui_locales: 'fr' })).toEqual({ stepUp: {} });
    expect(readStepUp({ max_age: 0, claims: '{"id_token":{"acr":null}}' })).toEqual({ stepUp: { maxAge: 0 } });
  });
});
