import { generateKeyPairSync, sign } from 'node:crypto';
import { jwtVerify } from 'jose';
import { prefersSigned, signMetadata } from './signed-metadata.js';

describe('the form of the metadata', () => {
  it.each([
    [undefined, false],
    ['', false],
    ['*/*', false],
    ['application/*', false],
    ['application/json', false],
    ['application/jwt', true],
    ['Application/JWT; q=0.9', true],
    ['application/json, application/jwt', true],
    ['application/jwt, */*', true],
    ['application/jwt;q=0.9, application/json;q=0.8', true],
    ['application/jwt;q=0.5, application/json', false],
    ['application/jwt;q=0.5, */*', false],
    ['application/jwt;q=0.5, application/*;q=0.6', false],
    ['application/jwt;q=0.5, application/json;q=0.1, */*', true],
    ['application/jwt;q=0', false],
    ['application/jwt;q=x', false],
  ])('with Accept: %s is signed: %s', (accept, signed) => expect(prefersSigned(accept)).toBe(signed));
});

describe('signed metadata', () => {
  it('is a JWS with every member at the top level, verified by an independent library', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const header = { alg: 'ES256', x5c: ['AAAA'] };
    const metadata = { credential_issuer: 'https://acme.example', display: [{ name: 'Söhne' }] };
    const jws = await signMetadata(
      metadata,
      { issuer: 'https://acme.example', time: new Date('2026-01-01T00:00:00.999Z') },
      { header, sign: async (data) => sign('sha256', data, { key: privateKey, dsaEncoding: 'ieee-p1363' }) },
    );
    const { payload, protectedHeader } = await jwtVerify(jws, publicKey);
    expect(protectedHeader).toEqual({ ...header, typ: 'openidvci-issuer-metadata+jwt' });
    expect(payload).toEqual({ ...metadata, sub: 'https://acme.example', iat: Date.parse('2026-01-01') / 1000 });
  });
});
