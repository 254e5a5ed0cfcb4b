import { MAX_JWE_LENGTH, type AppError } from '@attestry/contracts';
import { encryptionPolicy } from '../../settings/openid-settings/openid-settings.decisions.js';
import { checkJweHeader, encryptionMetadata, parseResponseEncryption } from './encryption-parameters.js';

// RFC 7517 §A.1
const P256 = {
  kty: 'EC',
  crv: 'P-256',
  x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
  y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
};
const [x, y] = [P256.x, P256.y];
const OFF_CURVE = { ...P256, y: x };
const descriptionOf = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    const { code, message, check } = error as AppError;
    expect([code, check]).toEqual(['invalid_encryption_parameters', 'message-encryption']);
    return message;
  }
};
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const header = { alg: 'ECDH-ES', enc: 'A128GCM', kid: 'k1', epk: P256 };
const jweWith = (more: object) => `${encoded({ ...header, ...more })}..aXY.Y2lwaGVy.dGFn`;

describe('the header of an encrypted request [T312]', () => {
  it('names the key', () => {
    expect(checkJweHeader(jweWith({}))).toBe('k1');
    expect(checkJweHeader(jweWith({ enc: 'A256GCM', zip: 'DEF', apu: 'QQ' }))).toBe('k1');
  });

  const epk = 'epk must be a public key on P-256';
  it.each([
    ['another agreement', { alg: 'ECDH-ES+A128KW' }, 'alg must be ECDH-ES'],
    ['RSA', { alg: 'RSA-OAEP-256' }, 'alg must be ECDH-ES'],
    ['a shared key', { alg: 'dir' }, 'alg must be ECDH-ES'],
    ['a password', { alg: 'PBES2-HS256+A128KW', p2c: 1e9, p2s: 'QUFBQUFBQUE' }, 'alg must be ECDH-ES'],
    ['no algorithm', { alg: undefined }, 'alg must be ECDH-ES'],
    ['another cipher', { enc: 'A128CBC-HS256' }, 'enc must be one of A128GCM, A256GCM'],
    ['no cipher', { enc: undefined }, 'enc must be one of A128GCM, A256GCM'],
    ['another compression', { zip: 'GZIP' }, 'zip must be DEF'],
    ['critical parameters', { crit: ['exp'], exp: 1 }, 'critical header parameters are not supported'],
    ['no ephemeral key', { epk: undefined }, epk],
    ['a key on another curve', { epk: { kty: 'OKP', crv: 'X25519', x } }, epk],
    ['a point that is not on the curve', { epk: OFF_CURVE }, `${epk}: the P-256 key is not on its curve`],
    ['coordinates of another length', { epk: { ...P256, x: 'AA' } }, `${epk}: x must be 32 bytes in base64url`],
    [
      'operations of the key [T485]',
      { epk: { ...P256, key_ops: null } },
      'epk must not have key_ops, objects or arrays',
    ],
    [
      'a member of the key that is no text [T485]',
      { epk: { ...P256, n: { toString: 1 } } },
      'epk must not have key_ops, objects or arrays',
    ],
    ['a private key', { epk: { ...P256, d: x } }, `${epk}: a public key must not contain the private member d`],
    ['no key id', { kid: undefined }, 'kid is missing'],
    ['a key id that is no text', { kid: 1 }, 'kid is missing'],
  ])('refuses %s', (_what, more, description) =>
    expect(descriptionOf(() => checkJweHeader(jweWith(more)))).toBe(description),
  );

  const form = 'the body must be a compact JWE without an encrypted key, as ECDH-ES makes it';
  it.each([
    ['nothing', '', form],
    ['a JWS', 'a.b.c', form],
    ['JSON', '{}', form],
    ['an encrypted key', jweWith({}).replace('..', '.QUFB.'), form],
    ['a header that is no JSON', 'QUFB..aXY.Y2lwaGVy.dGFn', 'the JWE header must be JSON'],
    ['a header that is a list', `${encoded([])}..aXY.Y2lwaGVy.dGFn`, 'the JWE header must be JSON'],
    [
      'a long header',
      jweWith({ x: 'x'.repeat(MAX_JWE_LENGTH) }),
      `the JWE must have at most ${MAX_JWE_LENGTH} characters`,
    ],
  ])('refuses %s', (_what, jwe, description) => expect(descriptionOf(() => checkJweHeader(jwe))).toBe(description));
});

describe('credential_response_encryption [T313]', () => {
  const policy = encryptionPolicy({});
  const jwk = { ...P256, alg: 'ECDH-ES' };
  const name = 'credential_response_encryption';
  const parse = (value: unknown, isEncrypted = true, of = policy) =>
    descriptionOf(() => parseResponseEncryption(value, isEncrypted, of));

  it('is checked and reduced to what is used', () => {
    expect(parse(undefined)).toBeUndefined();
    expect(parse({ jwk: { ...jwk, kid: 'w1', use: 'enc' }, enc: 'A256GCM', zip: 'DEF', x: 1 })).toEqual({
      jwk: P256,
      kid: 'w1',
      enc: 'A256GCM',
      zip: 'DEF',
    });
    expect(parse({ jwk, enc: 'A128GCM' })).toEqual({ jwk: P256, enc: 'A128GCM' });
  });

  it.each([
    ['no object', 'x', `${name} must be an object`],
    ['no key', { enc: 'A128GCM' }, `${name}.jwk must be a public key on P-256`],
    ['a private key', { jwk: { ...jwk, d: x }, enc: 'A128GCM' }, /must not contain the private member d$/],
    ['another curve', { jwk: { ...jwk, crv: 'P-384' }, enc: 'A128GCM' }, `${name}.jwk must be a public key on P-256`],
    ['another key type', { jwk: { ...jwk, kty: 'OKP' }, enc: 'A128GCM' }, /the key must be P-256/],
    ['a point that is not on the curve', { jwk: { ...jwk, y: x, x: y }, enc: 'A128GCM' }, /not on its curve$/],
    ['no algorithm', { jwk: P256, enc: 'A128GCM' }, `${name}.jwk.alg must be ECDH-ES`],
    ['another use', { jwk: { ...jwk, use: 'sig' }, enc: 'A128GCM' }, `${name}.jwk.use must be enc`],
    ['a long key id', { jwk: { ...jwk, kid: 'k'.repeat(513) }, enc: 'A128GCM' }, /kid must be a string of at most 512/],
    ['another cipher', { jwk, enc: 'A192GCM' }, `${name}.enc must be one of A128GCM, A256GCM`],
    ['no cipher', { jwk }, `${name}.enc must be one of A128GCM, A256GCM`],
    ['another compression', { jwk, enc: 'A128GCM', zip: 'BR' }, `${name}.zip must be DEF`],
  ])('refuses %s', (_what, value, description) =>
    expect(parse(value)).toEqual(typeof description === 'string' ? description : expect.stringMatching(description)),
  );

  it('needs an encrypted request, and is demanded where it is required', () => {
    expect(parse({ jwk, enc: 'A128GCM' }, false)).toBe(`${name} is only allowed in an encrypted request`);
    expect(parse(undefined, true, encryptionPolicy({ encryption: { responseRequired: true } }))).toBe(
      `${name} is required by this issuer`,
    );
  });
});

describe('the members of the metadata [T95]', () => {
  const key = { keyId: 'k1', x, y, createdAt: '', dueAt: '' };
  const values = { enc_values_supported: ['A128GCM', 'A256GCM'], zip_values_supported: ['DEF'] };
  it.each([
    [{}, false, false],
    [{ requestRequired: true }, true, false],
    [{ responseRequired: true }, true, true],
  ])('%j', (encryption, request, response) =>
    expect(encryptionMetadata(encryptionPolicy({ encryption }), key)).toEqual({
      credential_request_encryption: {
        jwks: { keys: [{ ...P256, use: 'enc', alg: 'ECDH-ES', kid: 'k1' }] },
        ...values,
        encryption_required: request,
      },
      credential_response_encryption: { alg_values_supported: ['ECDH-ES'], ...values, encryption_required: response },
    }),
  );

  it('are absent without a key and while encryption is off', () => {
    expect(encryptionMetadata(encryptionPolicy({}), undefined)).toEqual({});
    expect(encryptionMetadata(encryptionPolicy({ encryption: { enabled: false } }), key)).toEqual({});
  });
});
