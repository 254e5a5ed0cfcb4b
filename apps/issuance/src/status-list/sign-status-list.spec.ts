import { generateKeyPairSync, sign } from 'node:crypto';
import { getListFromStatusListJWT } from '@sd-jwt/jwt-status-list';
import { jwtVerify } from 'jose';
import { jwkThumbprint, type PublicJwk } from '@attestry/keys';
import type { IssuingSigner } from '../issuer-certificates/issuer-signers.js';
import type { ListSigner } from './list-series.js';
import { INVALID, LIST_SIZE, packedStatuses, setStatus, SUSPENDED } from './packed-statuses.js';
import { mediaTypeOfToken, signStatusList } from './sign-status-list.js';

const statuses = packedStatuses(LIST_SIZE, 2);
setStatus(statuses, 2, 7, INVALID);
setStatus(statuses, 2, 8, SUSPENDED);
const uri = 'https://acme.example/v2/credentials/status-lists/1/token';
const list = (signer: ListSigner) => ({
  ...{ uri, tokenType: 'jwt' as const, bits: 2 as const, signer, statuses, timeToLive: 300 },
  issuedAt: new Date('2126-01-01T00:00:00Z'),
  expiresAt: new Date('2126-01-01T01:00:00Z'),
});
const signerOf = (algorithm: 'P-256' | 'Ed25519', certificate?: IssuingSigner['certificate']) => {
  const { privateKey, publicKey } =
    algorithm === 'P-256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519');
  const signer: IssuingSigner = {
    keyId: 'k1',
    algorithm,
    publicJwk: publicKey.export({ format: 'jwk' }) as unknown as PublicJwk,
    publicKey,
    sign: () => {
      throw new Error('it would block the thread');
    },
    signAside: async (data) =>
      sign(algorithm === 'P-256' ? 'sha256' : null, data, { key: privateKey, dsaEncoding: 'ieee-p1363' }),
    ...(certificate && { certificate }),
  };
  return signer;
};

describe('a status list token', () => {
  it('of an issuer signer has its certificate and key, as independent libraries verify and read it', async () => {
    const [notBefore, notAfter] = [new Date('2026-01-01'), new Date('2130-01-01')];
    const signer = signerOf('P-256', { x5c: ['MIIBleaf'], fingerprint: 'f', notBefore, notAfter });
    const token = await signStatusList(list({ kind: 'issuerSigner', issuer: 'https://acme.example' }), signer);
    const { protectedHeader, payload } = await jwtVerify(token, signer.publicKey, {
      typ: 'statuslist+jwt',
      currentDate: new Date('2126-01-01T00:30:00Z'),
    });
    const kid = jwkThumbprint(signer.publicJwk);
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'statuslist+jwt', kid, x5c: ['MIIBleaf'] });
    const iat = Date.parse('2126-01-01T00:00:00Z') / 1000;
    expect(payload).toEqual({
      ...{ sub: uri, iat, exp: iat + 3600, ttl: 300 },
      status_list: { bits: 2, lst: expect.any(String) as string },
    });
    const read = getListFromStatusListJWT(token);
    expect([6, 7, 8, 9].map((index) => read.getStatus(index))).toEqual([0, 1, 2, 0]);
  });

  it.each(['P-256', 'Ed25519'] as const)('of a %s key of a DID names its verification method', async (algorithm) => {
    const signer = signerOf(algorithm);
    const verificationMethod = 'did:web:acme.example#k1';
    const token = await signStatusList(list({ kind: 'pinnedKey', keyId: 'k1', verificationMethod }), signer);
    const { protectedHeader } = await jwtVerify(token, signer.publicKey, {
      currentDate: new Date('2126-01-01T00:30:00Z'),
    });
    const alg = algorithm === 'P-256' ? 'ES256' : 'EdDSA';
    expect(protectedHeader).toEqual({ alg, typ: 'statuslist+jwt', kid: verificationMethod });
  });

  it('has the media type that verifiers ask for', () =>
    expect(mediaTypeOfToken('jwt')).toBe('application/statuslist+jwt'));
});
