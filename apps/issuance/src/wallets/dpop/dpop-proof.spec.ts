import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { jwkThumbprint, type PublicJwk } from '@attestry/keys';
import { InvalidDpopProof, MAX_DPOP_PROOF, verifyDpopProof } from './dpop-proof.js';

const now = new Date('2026-05-01T10:00:00.000Z');
const seconds = now.getTime() / 1000;
const URL = 'https://acme.example/v1/oauth/token';
const BODY = 'grant_type=authorization_code&code=é';
const TOKEN = 'an-access-token';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const jwk = publicKey.export({ format: 'jwk' }) as unknown as PublicJwk;
const json = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const digest = (text: string, encoding: 'base64' | 'base64url') => createHash('sha256').update(text).digest(encoding);

interface Changes {
  header?: object;
  claims?: object;
  key?: KeyObject;
}
/** A member that is undefined is left out. */
const make = ({ header = {}, claims = {}, key = privateKey }: Changes = {}): string => {
  const input = [
    json({ typ: 'dpop+jwt', alg: 'ES256', jwk, ...header }),
    json({ htm: 'POST', htu: URL, jti: 'j1', iat: seconds, ...claims }),
  ].join('.');
  return `${input}.${sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
};
const verify = (proof: string, more: { accessToken?: string; url?: string } = {}) =>
  verifyDpopProof(proof, { method: 'POST', url: URL, body: BODY, now, ...more });
const refusal = (proof: string, more: { accessToken?: string; url?: string } = {}) => {
  try {
    verify(proof, more);
  } catch (error) {
    if (error instanceof InvalidDpopProof) return error.message;
    throw error;
  }
  return undefined;
};
const ofClaims = (claims: object) => refusal(make({ claims }));
const ofHeader = (header: object) => refusal(make({ header }));

describe('a DPoP proof', () => {
  it('returns its key, id and end of acceptance', () =>
    expect(verify(make({ claims: { nonce: 'n' } }))).toEqual({
      jkt: jwkThumbprint(jwk),
      jti: 'j1',
      nonce: 'n',
      expiresAt: new Date(now.getTime() + 301_000),
    }));

  it.each(['', ' ', 'x', 'a.b', 'a.b.c.d', `${make()}, ${make()}`, `${make()},`, `, ${make()}`, ` ${make()}`])(
    'is one compact JWS, not %j [T241]',
    (header) => expect(refusal(header)).toBe('DPoP proof: must be a compact JWS'),
  );

  it('is measured before it is read [T241]', () => {
    const long = make({ header: { pad: 'x'.repeat(MAX_DPOP_PROOF) } });
    expect(refusal(long)).toBe('DPoP proof: must have at most 16384 characters');
    expect(refusal('x'.repeat(MAX_DPOP_PROOF))).toBe('DPoP proof: must be a compact JWS');
  });

  it('has JSON in both parts [T241]', () => {
    expect(refusal('!.e30.c'.replace('!', 'YQ'))).toBe('DPoP proof: the header must be JSON');
    expect(refusal(`${json({})}.YQ.c`)).toBe('DPoP proof: the payload must be a JWT claims set');
    expect(refusal(`${json({})}.${json([])}.c`)).toBe('DPoP proof: the payload must be a JWT claims set');
  });

  it.each([undefined, 'JWT', 'openid4vci-proof+jwt', 'DPOP+JWT', 'application/dpop+jwt', null])(
    'has typ dpop+jwt, not %j [T242]',
    (typ) => expect(ofHeader({ typ })).toBe('DPoP proof: typ must be dpop+jwt'),
  );

  it.each([undefined, 'none', 'NONE', 'HS256', 'ES384', 'EdDSA', 'RS256', ['ES256']])(
    'has alg ES256, not %j [T243]',
    (alg) => expect(ofHeader({ alg })).toBe('DPoP proof: alg must be ES256'),
  );
  it('without a signature is refused, whatever it names [T243]', () => {
    const [header, claims] = make().split('.') as [string, string];
    expect(refusal(`${header}.${claims}.`)).toBe('DPoP proof: must be a compact JWS');
    const none = json({ typ: 'dpop+jwt', alg: 'none', jwk });
    expect(refusal(`${none}.${claims}.AA`)).toBe('DPoP proof: alg must be ES256');
  });

  const BAD_KEY = 'DPoP proof: jwk must be a public P-256 key without private members';
  it('has a public P-256 key [T244]', () => {
    const ed25519 = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
    const p384 = generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).publicKey.export({ format: 'jwk' });
    const full = privateKey.export({ format: 'jwk' });
    const symmetric = { kty: 'oct', k: 'c2VjcmV0' };
    for (const bad of [
      undefined,
      null,
      'x',
      [],
      {},
      ed25519,
      p384,
      full,
      symmetric,
      { ...jwk, k: 'x' },
      { ...jwk, x: jwk.y },
    ])
      expect(ofHeader({ jwk: bad })).toBe(BAD_KEY);
    expect(ofHeader({ jwk: { ...jwk, kid: 'k', alg: 'ES256', use: 'sig' } })).toBeUndefined();
  });

  it('is signed with that key [T244]', () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
    expect(refusal(make({ key: other }))).toBe('DPoP proof: the signature is invalid');
    const [header, , signature] = make().split('.') as [string, string, string];
    const claims = json({ htm: 'POST', htu: URL, jti: 'j2', iat: seconds });
    expect(refusal(`${header}.${claims}.${signature}`)).toBe('DPoP proof: the signature is invalid');
  });

  it.each([{ crit: ['exp'] }, { b64: false }])('has no critical header parameters: %j', (header) =>
    expect(ofHeader(header)).toBe('DPoP proof: critical header parameters are not supported'),
  );

  it.each([undefined, 'GET', 'post', 'POST ', ['POST']])('has the method in htm, not %j [T245]', (htm) =>
    expect(ofClaims({ htm })).toBe('DPoP proof: htm must be POST'),
  );

  it.each([
    'HTTPS://ACME.example/v1/oauth/token',
    'https://acme.example:443/v1/oauth/token',
    'https://acme.example/v1/oauth/token?a=b',
    'https://acme.example/v1/oauth/token?#part',
    'https://acme.example/v1/x/../oauth/token#part',
  ])('has the address in htu, also as %s [T246]', (htu) => expect(ofClaims({ htu })).toBeUndefined());

  it.each([
    undefined,
    null,
    ['https://acme.example/v1/oauth/token'],
    '',
    '/v1/oauth/token',
    'http://acme.example/v1/oauth/token',
    'https://acme.example:8443/v1/oauth/token',
    'https://acme.example.evil.example/v1/oauth/token',
    'https://acme.example@evil.example/v1/oauth/token',
    'https://user@acme.example/v1/oauth/token',
    'https://user:x@acme.example/v1/oauth/token',
    'https://evil.example/?https://acme.example/v1/oauth/token',
    'https://acme.example/v1/oauth/token/',
    'https://acme.example/V1/oauth/token',
    'https://acme.example/v1/openid/credential',
    'https:acme.example/v1/oauth/token',
    'https:\\\\acme.example\\v1\\oauth\\token',
    ' https://acme.example/v1/oauth/token',
    'https://acme.example/v1/oauth/token\n',
    'https://[/v1/oauth/token',
    'https://acme.example.:443/v1/oauth/token',
  ])('refuses htu %j [T246]', (htu) => expect(ofClaims({ htu })).toBe(`DPoP proof: htu must be ${URL}`));

  it('keeps a port that is not the default one [T246]', () => {
    const url = 'http://acme.localhost:8080/v1/oauth/token';
    expect(
      refusal(make({ claims: { htu: url.toUpperCase().replace('/V1/OAUTH/TOKEN', '/v1/oauth/token') } }), { url }),
    ).toBeUndefined();
    expect(refusal(make({ claims: { htu: 'http://acme.localhost/v1/oauth/token' } }), { url })).toBe(
      `DPoP proof: htu must be ${url}`,
    );
  });

  it.each([-300, -10, 0, 10, 60])('may be made %i s from now [T248]', (offset) =>
    expect(ofClaims({ iat: seconds + offset })).toBeUndefined(),
  );
  it.each([undefined, null, String(seconds), seconds - 301, seconds + 61, Number.MAX_VALUE])(
    'refuses iat %j [T248]',
    (iat) =>
      expect(ofClaims({ iat })).toBe(
        'DPoP proof: iat must be at most 300 seconds before and 60 seconds after the current time',
      ),
  );

  it('honors exp and nbf [T249]', () => {
    expect(ofClaims({ exp: seconds + 1, nbf: seconds + 10 })).toBeUndefined();
    for (const exp of [seconds, seconds - 1, null, 'x', String(seconds + 1)])
      expect(ofClaims({ exp })).toMatch(/^DPoP proof: (exp has passed|the payload must be a JWT claims set)$/);
    for (const nbf of [seconds + 11, null, 'x'])
      expect(ofClaims({ nbf })).toMatch(
        /^DPoP proof: (nbf has not been reached|the payload must be a JWT claims set)$/,
      );
  });

  it('has a bounded jti [T247]', () => {
    expect(ofClaims({ jti: 'x'.repeat(256) })).toBeUndefined();
    for (const jti of [undefined, '', 7, null, 'x'.repeat(257)])
      expect(ofClaims({ jti })).toBe('DPoP proof: jti must be a string of 1 to 256 characters');
    expect(ofClaims({ nonce: 7 })).toBe('DPoP proof: nonce must be a string');
  });

  it('names the access token that it is sent with [T250]', () => {
    const at = { accessToken: TOKEN };
    expect(refusal(make({ claims: { ath: digest(TOKEN, 'base64url') } }), at)).toBeUndefined();
    for (const ath of [undefined, '', digest('another', 'base64url'), digest(TOKEN, 'base64')])
      expect(refusal(make({ claims: { ath } }), at)).toBe(
        'DPoP proof: ath must be the SHA-256 digest of the access token in base64url',
      );
  });

  it('may name the payload [T251]', () => {
    const [base64, base64url] = [digest(BODY, 'base64'), digest(BODY, 'base64url')];
    for (const htcd of [undefined, base64, base64url, base64.replace('=', ''), `${base64url}=`])
      expect(ofClaims({ htcd })).toBeUndefined();
    for (const htcd of [null, '', 7, digest(`${BODY} `, 'base64'), `${base64}=`, base64.toUpperCase()])
      expect(ofClaims({ htcd })).toBe('DPoP proof: htcd must be the SHA-256 digest of the request payload in base64');
  });
});
