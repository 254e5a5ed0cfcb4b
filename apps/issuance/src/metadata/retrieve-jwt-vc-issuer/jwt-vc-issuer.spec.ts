import { generateKeyPairSync } from 'node:crypto';
import { createLocalJWKSet } from 'jose';
import { jwkThumbprint, type PublicJwk } from '@attestry/keys';
import { jwtVcIssuer } from './jwt-vc-issuer.js';

const jwkOf = (): PublicJwk =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }) as unknown as PublicJwk;

describe('the metadata of a JWT VC issuer', () => {
  it('has the public key of each signer, found by the kid of a credential', async () => {
    const signers = [jwkOf(), jwkOf()];
    const metadata = jwtVcIssuer(
      'https://acme.example',
      signers.map((signer) => ({ ...signer, d: 'secret' })),
    );
    expect(metadata).toEqual({
      issuer: 'https://acme.example',
      jwks: { keys: signers.map((jwk) => ({ ...jwk, kid: jwkThumbprint(jwk), use: 'sig', alg: 'ES256' })) },
    });
    const header = { alg: 'ES256', kid: jwkThumbprint(signers[1]!) };
    const found = await createLocalJWKSet(metadata.jwks as Parameters<typeof createLocalJWKSet>[0])(header);
    expect(await crypto.subtle.exportKey('jwk', found)).toMatchObject({ x: signers[1]!.x });
  });
});
