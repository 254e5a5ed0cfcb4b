import { createPreAuthorizedOffer, createUser, deleteUser, listDids, listUsers } from './index.js';
import { HIDDEN, loggedAnswer, loggedRequest, type LoggingLevel } from './logged-data.js';
import type { Operation, OperationRequest } from './operation.js';

const ADA = '3f0f2c59-6a27-4e80-b2a0-9b6f5f0c7d11';
const BOB = '9b6f5f0c-6a27-4e80-b2a0-3f0f2c590d11';
const request = (parts: Partial<OperationRequest>): OperationRequest => ({ params: {}, query: {}, body: {}, ...parts });
const logged = (operation: unknown, level: LoggingLevel, parts: Partial<OperationRequest>) =>
  loggedRequest(operation as Operation, level as 2 | 3, request(parts));
const answered = (operation: unknown, level: LoggingLevel, parts: Partial<OperationRequest>, answer: unknown) =>
  loggedAnswer(operation as Operation, level as 2 | 3, request(parts), answer);

describe('at level 2', () => {
  it('only non-personal members are shown', () => {
    const body = {
      method: 'key',
      options: { keyType: 'Ed25519', somethingNew: 'x', nested: { type: 'hidden with what it is in' } },
      url: 'https://example.com/private',
      name: 'Ada',
    };
    expect(logged(listDids, 2, { query: { limit: 5 }, body })).toEqual({
      general: {
        query: { limit: 5 },
        body: {
          method: 'key',
          options: { keyType: 'Ed25519', somethingNew: HIDDEN, nested: HIDDEN },
          url: HIDDEN,
          name: HIDDEN,
        },
      },
    });
  });

  it('a text is shown when it looks like an id or a time', () => {
    const body = {
      type: 'Ada Lovelace',
      id: 'ada@example.com',
      status: 'Active',
      createdAt: '2026-01-01T00:00:00.000Z',
    };
    expect(logged(listDids, 2, { body })).toEqual({ general: { body: { ...body, type: HIDDEN, id: HIDDEN } } });
  });

  it.each([null, 'text', 7, [1]])('a body that is %j is accepted', (body) => {
    expect(logged(listDids, 2, { body, params: { id: 'x' } }).general).toMatchObject({ params: { id: 'x' } });
  });

  it('claims are not shown, whatever person they belong to', () => {
    const made = answered(createUser, 2, { body: { claims: { given_name: 'Ada' } } }, { id: ADA, claims: { a: 1 } });
    expect(made).toEqual({ general: { body: { id: ADA, claims: HIDDEN } } });
  });
});

describe('at level 3', () => {
  it('everything except secrets is shown', () => {
    const body = {
      name: 'hook',
      url: 'https://example.com/a',
      list: [{ deep: 'value' }],
      many: 3,
      off: false,
      no: null,
    };
    expect(logged(listDids, 3, { body })).toEqual({ general: { body } });
  });

  it.each([
    'clientSecret',
    'client_secret',
    'access_token',
    'refreshToken',
    'password',
    'passphrase',
    'code',
    'tx_code',
    'transactionCode',
    'pre-authorized_code',
    'code_verifier',
    'uri',
    'uriByReference',
    'qrUrl',
    'proof',
    'proofs',
    'c_nonce',
    'client_assertion',
    'authorization',
    'privateKey',
    'apiKey',
    'api-key',
    'd',
    'k',
    'jwt',
    'credential',
    'signature',
    'verificationToken',
  ])('%s is never shown', (name) => {
    const data = answered(listDids, 3, {}, { deep: [{ [name]: { any: 'canary-value' }, id: 'shown' }] });
    expect(JSON.stringify(data)).not.toContain('canary-value');
    expect(JSON.stringify(data)).toContain('shown');
  });

  it('secret values are not shown, whatever their name', () => {
    const values = [
      'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln',
      'openid-credential-offer://?credential_offer=x',
      'x pre-authorized_code y',
      '-----BEGIN PRIVATE KEY-----',
      'Bearer abc',
    ];
    expect(logged(createUser, 3, { body: { values, userId: ADA, claims: { values } } })).toMatchObject({
      general: { body: { values: values.map(() => HIDDEN) } },
      personal: { body: { claims: { values: values.map(() => HIDDEN) } } },
    });
  });

  it('members that an operation declares secret are not shown', () => {
    const secretive = { ...listDids, secrets: ['motto'] } as unknown;
    expect(logged(secretive, 3, { body: { motto: 'canary' } })).toEqual({ general: { body: { motto: HIDDEN } } });
  });

  it('claims are shown only in records that are erased with the person', () => {
    const claims = { given_name: 'Ada', secret: 'her own word' };
    const body = { claims, credentials: ['a'] };
    // The person is not known yet.
    expect(logged(createUser, 3, { body: { claims } })).toEqual({ general: { body: { claims: HIDDEN } } });
    expect(answered(createUser, 3, { body: { claims } }, { id: ADA, claims })).toEqual({
      general: { body: { id: ADA, claims: HIDDEN } },
      personId: ADA,
      personal: { body: { id: ADA, claims } },
    });
    expect(logged(createPreAuthorizedOffer, 3, { body: { ...body, userId: ADA } })).toMatchObject({
      general: { body: { claims: HIDDEN } },
      personId: ADA,
      personal: { body: { claims } },
    });
    const two = { data: [ADA, BOB].map((id) => ({ id, claims })) };
    expect(answered(listUsers, 3, {}, two)).toEqual({
      general: { body: { data: [ADA, BOB].map((id) => ({ id, claims: HIDDEN })) } },
    });
  });

  it('oversized data are omitted, and long texts are truncated', () => {
    const cut = logged(listDids, 3, { body: { text: 'x'.repeat(1001) } });
    expect(cut).toEqual({ general: { body: { text: `${'x'.repeat(1000)}…` } } });
    const long = { list: Array.from({ length: 100 }, () => 'y'.repeat(900)) };
    expect(logged(listDids, 3, { body: long })).toEqual({ general: { tooLong: true } });
  });

  it('only the shown part of a text is searched', () => {
    const token = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln';
    const shown = (text: string) =>
      (logged(listDids, 3, { body: { text } }) as { general: { body: { text: string } } }).general.body.text;
    expect(shown(`${'x '.repeat(500)}${token}`)).toBe(`${'x '.repeat(500)}…`);
    // Cut within the token.
    for (const before of [0, 500, 980]) expect(shown(`${' '.repeat(before)}eyJ${'a'.repeat(2000)}.x.y`)).toBe(HIDDEN);
    expect(shown('eyJ'.repeat(300_000))).toBe(HIDDEN);
  });

  it.each([2, 3] as const)('no more values are visited than are stored, at level %i', (level) => {
    let visits = 0;
    const body: Record<string, unknown> = {};
    for (let at = 0; at < 50_000; at++)
      Object.defineProperty(body, `m${at}`, { enumerable: true, get: () => ++visits });
    expect(logged(listDids, level, { body })).toEqual({ general: { tooLong: true } });
    expect(visits).toBeLessThan(10_000);
  });
});

it('an empty response records nothing', () => {
  expect(answered(deleteUser, 3, { params: { id: ADA } }, undefined)).toBeUndefined();
  expect(logged(deleteUser, 3, { params: { id: ADA } })).toEqual({ general: { params: { id: ADA } } });
});
