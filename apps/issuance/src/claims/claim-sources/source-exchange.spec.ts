import { ClaimsNotReady } from '../credential-claims/claims-not-ready.js';
import { claimsOfAnswer, parametersOf, SourceFailed, sourceRequest } from './source-exchange.js';
import { tokenOf } from './source-tokens.js';

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
const answer = (body: unknown, { status = 200, headers = JSON_TYPE as Record<string, string> } = {}) => ({
  status,
  headers,
  body:
    typeof body === 'string' || Buffer.isBuffer(body) ? Buffer.from(body as string) : Buffer.from(JSON.stringify(body)),
});
const failure = (run: () => unknown): string => {
  try {
    run();
    return 'nothing';
  } catch (error) {
    if (!(error instanceof SourceFailed)) throw error;
    return error.message;
  }
};

describe('parameters of a request to a claims source [T413]', () => {
  const configuration = { id: 'c1', type: 'Pass', format: 'mso_mdoc', profile: 'mobile' };
  const from = {
    claims: { email: 'a@x.example', address: { city: 'Bern' }, nothing: null },
    authenticationProvider: { url: 'https://login.example', subjectId: 'ada' },
  };

  it('are values of the user and the configuration, and defaults', () =>
    expect(
      parametersOf(
        {
          email: { mapFrom: 'claims.email' },
          city: { mapFrom: 'claims.address.city' },
          subject: { mapFrom: 'authenticationProvider.subjectId' },
          id: { mapFrom: 'credentialConfiguration.id', defaultValue: 'x' },
          type: { mapFrom: 'credentialConfiguration.type' },
          format: { mapFrom: 'credentialConfiguration.format' },
          profile: { mapFrom: 'credentialConfiguration.profile' },
          missing: { mapFrom: 'claims.missing' },
          nothing: { mapFrom: 'claims.nothing' },
          fallback: { mapFrom: 'claims.missing', defaultValue: 1 },
          fixed: { defaultValue: ['a'] },
        },
        from,
        configuration,
      ),
    ).toEqual({
      ...{ email: 'a@x.example', city: 'Bern', subject: 'ada', fallback: 1, fixed: ['a'] },
      ...configuration,
    }));

  it('are the query of GET and the body of POST', () => {
    const url = 'https://source.example.com/claims';
    const parameters = { name: 'Ada & Co', list: ['a', 1], yes: true };
    expect(sourceRequest({ url, requestMethod: 'GET' }, parameters)).toEqual({
      url: `${url}?name=Ada+%26+Co&list=%5B%22a%22%2C1%5D&yes=true`,
      method: 'GET',
      headers: { accept: 'application/json' },
    });
    expect(sourceRequest({ url, requestMethod: 'POST' }, parameters)).toEqual({
      url,
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(parameters),
    });
    expect(failure(() => sourceRequest({ url, requestMethod: 'GET' }, { name: 'x'.repeat(8192) }))).toBe(
      'the parameters of GET exceed 8192 characters',
    );
  });
});

describe('the answer of a claims source [T414]', () => {
  it('is a JSON object with the claims', () => {
    const claims = { given_name: 'Ada', address: { city: 'Bern' }, list: [1] };
    expect(claimsOfAnswer(answer(claims))).toEqual(claims);
    expect(claimsOfAnswer(answer({}, { status: 201 }))).toEqual({});
    const named = claimsOfAnswer(answer('{"constructor":2,"x":{"toString":3,"y":4}}'));
    expect(JSON.stringify(named)).toBe('{"constructor":2,"x":{"toString":3,"y":4}}');
    expect(failure(() => claimsOfAnswer(answer('{"x":{"__proto__":3}}')))).toBe(
      'the answer: x must not have a member named __proto__',
    );
  });

  it.each([
    [answer({}, { status: 302 }), 'the status is 302'],
    [answer({}, { status: 404 }), 'the status is 404'],
    [answer({}, { status: 500 }), 'the status is 500'],
    [answer({}, { headers: {} }), 'the content type is not application/json'],
    [answer({}, { headers: { 'content-type': 'text/html' } }), 'the content type is not application/json'],
    [answer('{"a'), 'the answer is not JSON in UTF-8 of at most 64 levels and 100,000 values'],
    [
      answer(Buffer.from([0x22, 0xff, 0x22])),
      'the answer is not JSON in UTF-8 of at most 64 levels and 100,000 values',
    ],
    [
      answer(`{"a":${'['.repeat(70)}${']'.repeat(70)}}`),
      'the answer is not JSON in UTF-8 of at most 64 levels and 100,000 values',
    ],
    [answer([]), 'the answer is not a JSON object'],
    [answer('null'), 'the answer is not a JSON object'],
    [
      answer(`{"a":${'['.repeat(40)}${']'.repeat(40)}}`),
      `the answer: a${'.0'.repeat(31)} must not nest deeper than 32 levels`,
    ],
    [
      answer(Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`c${n}`, n]))),
      'the answer must have at most 1000 entries',
    ],
    [answer({ ['x'.repeat(1025)]: 1 }), 'the answer must have names of at most 1024 characters'],
  ])('fails otherwise (%#)', (received, reason) => expect(failure(() => claimsOfAnswer(received))).toBe(reason));

  it('names no value of what it refuses', () =>
    expect(failure(() => claimsOfAnswer(answer('secret-value')))).not.toContain('secret'));

  it('is not there yet with 202, whatever its body [T417]', () => {
    for (const received of [answer('', { status: 202, headers: {} }), answer({ a: 1 }, { status: 202 })])
      expect(() => claimsOfAnswer(received)).toThrow(ClaimsNotReady);
  });
});

describe('the access token of a claims source [T415]', () => {
  const now = new Date('2026-01-01T00:00:00Z');
  const seconds = (expiresIn: unknown) =>
    (tokenOf({ access_token: 't', token_type: 'Bearer', expires_in: expiresIn }, now).expiresAt - now.getTime()) / 1000;

  it('is used until 10 seconds before it expires, for at most an hour', () => {
    expect(tokenOf({ access_token: 'a.b-c', token_type: 'bearer' }, now).header).toBe('bearer a.b-c');
    expect([60, 86_400, 5, undefined, '60', -1].map(seconds)).toEqual([50, 3590, -5, -10, -10, -10]);
  });

  it.each([
    [{ token_type: 'Bearer' }, 'access_token'],
    [{ access_token: 'a b', token_type: 'Bearer' }, 'access_token'],
    [{ access_token: 'a\r\nx: 1', token_type: 'Bearer' }, 'access_token'],
    [{ access_token: 'x'.repeat(8193), token_type: 'Bearer' }, 'access_token'],
    [{ access_token: 'a' }, 'token_type'],
    [{ access_token: 'a', token_type: 'Bearer x' }, 'token_type'],
    [{ access_token: 'a', token_type: 'Bearer\n' }, 'token_type'],
  ])('is refused as %j', (token, member) =>
    expect(failure(() => tokenOf(token, now))).toBe(`the token endpoint returned no usable ${member}`),
  );
});
