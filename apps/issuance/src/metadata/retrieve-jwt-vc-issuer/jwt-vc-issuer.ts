import { jwkThumbprint, type PublicJwk } from '@attestry/keys';

/**
 * Document at `/.well-known/jwt-vc-issuer` (SD-JWT VC, JWT VC Issuer Metadata).
 * @param issuer `iss` of the credentials
 * @param signers keys of all signers with credentials that are still valid; found by the `kid` of the credential's header
 */
export const jwtVcIssuer = (issuer: string, signers: readonly PublicJwk[]) => ({
  issuer,
  jwks: {
    keys: signers.map(({ kty, crv, x, y }) => ({
      kid: jwkThumbprint({ kty, crv, x, y }),
      use: 'sig',
      alg: 'ES256',
      kty,
      crv,
      x,
      y,
    })),
  },
});
