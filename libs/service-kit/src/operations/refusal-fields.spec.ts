import { AppError, invalid, invalidBody, notFound, oauthError } from '@attestry/contracts';
import fc from 'fast-check';
import { refusalFields } from './refusal-fields.js';

const requestOf = (body: unknown, more: object = {}) => ({ params: {}, query: {}, body, ...more });
const raw = (text: string, headers: Record<string, string> = {}) =>
  requestOf({}, { raw: { method: 'POST', url: '/v1/oauth/token', headers, text } });

describe('the log fields of a refusal [T658]', () => {
  it('are code, member and reason of the first fault, and the number of the others', () => {
    const error = invalid(
      { value: 'http://x', msg: 'must use https', param: 'url', location: 'body' },
      { msg: 'is required', param: 'events', location: 'body' },
    );
    expect(refusalFields(error, requestOf({ url: 'http://x' }))).toEqual({
      code: 'BadRequest',
      member: 'url',
      reason: 'must use https',
      furtherFaults: 1,
    });
  });

  it('are check, claim and message where there is no detail', () => {
    const error = oauthError('invalid_proof', 'aud must be the issuer', { check: 'verify-proofs' });
    expect(refusalFields(error, requestOf({}))).toEqual({
      code: 'invalid_proof',
      check: 'verify-proofs',
      reason: 'aud must be the issuer',
    });
    const denied = new AppError('invalid', 'birth_date must be a date', { claim: 'birth_date' });
    expect(refusalFields(denied, requestOf({}))).toMatchObject({ claim: 'birth_date' });
  });

  it('have no reason where the request is not known', () => {
    expect(refusalFields(notFound(), undefined)).toEqual({ code: 'NotFound' });
  });

  const payload = Buffer.from(JSON.stringify({ aud: 'https://secret.example', email: 'ada@example.com' }));
  it.each<[string, string, Parameters<typeof refusalFields>[1]]>([
    ['a member', 'ada@example.com is taken', requestOf({ email: 'ada@example.com' })],
    ['a nested member', 'not hunter2!', requestOf({ a: [{ b: { password: 'hunter2' } }] })],
    ['a number', 'must not be 48151623', requestOf({ pin: 48151623 })],
    ['a parameter', 'no user ada.lovelace', { ...requestOf({}), params: { id: 'ada.lovelace' } }],
    ['the query', 'state is s3cr3t', { ...requestOf({}), query: { state: 's3cr3t' } }],
    [
      'a part of an address',
      'host db.secret.example is private',
      requestOf({ url: 'https://u:pw@db.secret.example:1/x' }),
    ],
    ['a form', 'code abc.def is used', raw('code=abc.def&x=1')],
    ['a JSON text', 'nonce n0nce99 is used', raw('{"proof":{"nonce":"n0nce99"}}')],
    ['a header', 'token t0ken.x is unknown', raw('', { authorization: 'Bearer t0ken.x' })],
    [
      'a signed token',
      'aud is secret.example for ada@example.com',
      raw(`{"jwt":"eyJ9.${payload.toString('base64url')}.sig"}`),
    ],
  ])('have no value of the request: %s', (_where, message, request) => {
    const { reason, member } = refusalFields(invalidBody('x', message), request);
    expect(member).toBe('x');
    expect(reason).toContain('***');
    expect(reason).not.toMatch(/ada@|hunter2|48151623|lovelace|s3cr3t|secret|abc\.def|n0nce99|t0ken/);
  });

  it('have no value, wherever a message repeats one', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 3, maxLength: 40 }), fc.json(), fc.string(), (value, other, text) => {
        fc.pre(value.trim().length >= 3 && !value.includes('*'));
        const request = requestOf({ a: { b: [value] }, other: JSON.parse(other) as unknown });
        const { reason } = refusalFields(new AppError('invalid', `${text} ${value} ${text}`), request);
        expect(reason).not.toContain(value.trim());
      }),
      { numRuns: 1000, seed: 3 },
    );
  });

  it('are bounded', () => {
    const { reason, member } = refusalFields(invalidBody('m'.repeat(2000), 'r'.repeat(2000)), requestOf({}));
    expect([(member as string).length, (reason as string).length]).toEqual([301, 301]);
  });

  it.each<[string, Parameters<typeof refusalFields>[1]]>([
    ['equals signs in a value', requestOf({ nope: '1='.repeat(500_000) })],
    ['equals signs in a form', raw('1='.repeat(32_000))],
    ['mail addresses', raw('a@='.repeat(32_000))],
    ['many short values', requestOf({ list: Array.from({ length: 200_000 }, (_, n) => `v${n}`) })],
    ['many members', requestOf(Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`m${n}`, n])))],
    ['numbers', raw(JSON.stringify(Array.from({ length: 100_000 }, (_, n) => n)))],
    [
      'texts of JSON in texts',
      requestOf({ a: JSON.stringify([JSON.stringify([JSON.stringify(['1.2 '.repeat(9000)])])]) }),
    ],
    ['tokens', raw(`a.${Buffer.from(JSON.stringify({ a: '1.b '.repeat(30_000) })).toString('base64url')}.c`)],
    ['a query', { ...raw(''), raw: { method: 'GET', url: `/x?${'1='.repeat(7000)}`, headers: {}, text: '' } }],
  ])('are found in bounded time: %s', (_title, request) => {
    refusalFields(invalidBody('m', 'must be 1 of 2 at most'), requestOf({}));
    const begun = process.cpuUsage();
    refusalFields(invalidBody('m', `must be ${'x1 '.repeat(5000)}`), request);
    const { user, system } = process.cpuUsage(begun);
    // Before the work was bounded, this took several seconds.
    expect((user + system) / 1000).toBeLessThan(300);
  });

  it('have no reason where the request is too large to be compared', () => {
    const large = requestOf({ list: Array.from({ length: 5000 }, (_, n) => n) });
    expect(refusalFields(new AppError('invalid', 'no'), large)).toEqual({ code: 'BadRequest' });
  });

  it('name members of forms and of JSON texts', () => {
    const missing = oauthError('invalid_request', 'code_challenge is missing');
    expect(refusalFields(missing, raw('code_challenge_method=S256&response_type=code'))).toMatchObject({
      reason: 'code_challenge is missing',
    });
    const unknown = oauthError('invalid_request', 'credential_identifier is not known');
    expect(refusalFields(unknown, raw('{"credential_identifier":"a"}'))).toMatchObject({
      reason: 'credential_identifier is not known',
    });
    const type = oauthError('invalid_request', 'response_type must be code, not ada');
    expect(refusalFields(type, raw('response_type=ada&grant_type=code'))).toMatchObject({
      reason: 'response_type must be code, not ***',
    });
    const grant = oauthError('unsupported_grant_type', 'grant_type must be authorization_code');
    expect(refusalFields(grant, raw('grant_type=password&client_id=x1y2'))).toMatchObject({
      reason: 'grant_type must be authorization_code',
    });
  });
});
