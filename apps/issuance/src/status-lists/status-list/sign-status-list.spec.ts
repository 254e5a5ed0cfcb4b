import { generateKeyPairSync, sign, type webcrypto } from 'node:crypto';
import { gunzipSync, inflateSync } from 'node:zlib';
import { getListFromStatusListJWT } from '@sd-jwt/jwt-status-list';
import { cdeEncodeOptions, decode, encode, type Tag } from 'cbor2';
import { jwtVerify } from 'jose';
import { encodeDidKey, encodeMultikey, type PublicJwk } from '@attestry/keys';
import { Canonicalization, sharedContexts } from '@attestry/linked-data';
import { verifyLdpVc } from '@attestry/testing';
import type { IssuingSigner } from '../../certificates/issuer-certificates/issuer-signers.js';
import type { ListSigner, TokenType } from './list-series.js';
import { IDENTIFIER_LIST_SIZE } from './identifier-list.js';
import {
  INVALID,
  invalidStatuses,
  LIST_SIZE,
  packedStatuses,
  setStatus,
  statusAt,
  SUSPENDED,
} from './packed-statuses.js';
import { bodyOfToken, mediaTypeOfToken, signRevocationList, signStatusList } from './sign-status-list.js';

const statuses = packedStatuses(LIST_SIZE, 2);
setStatus(statuses, 2, 7, INVALID);
setStatus(statuses, 2, 8, SUSPENDED);
const uri = 'https://acme.example/v2/credentials/status-lists/1/token';
const list = (signer: ListSigner, tokenType: TokenType = 'jwt') => ({
  ...{ uri, tokenType, size: LIST_SIZE, bits: 2 as const, signer, statuses, timeToLive: 300 },
  issuedAt: new Date('2126-01-01T00:00:00Z'),
  expiresAt: new Date('2126-01-01T01:00:00Z'),
});
const signToken = (unsigned: ReturnType<typeof list>, signer: IssuingSigner) =>
  signStatusList(unsigned, signer, () => {
    throw new Error('a token is no linked data');
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
  it('of an issuer signer has its certificate and no other name of the key [T741], as independent libraries verify and read it', async () => {
    const [notBefore, notAfter] = [new Date('2026-01-01'), new Date('2130-01-01')];
    const signer = signerOf('P-256', { x5c: ['MIIBleaf'], fingerprint: 'f', notBefore, notAfter });
    const token = await signToken(list({ kind: 'issuerSigner', issuer: 'https://acme.example' }), signer);
    const { protectedHeader, payload } = await jwtVerify(token, signer.publicKey, {
      typ: 'statuslist+jwt',
      currentDate: new Date('2126-01-01T00:30:00Z'),
    });
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'statuslist+jwt', x5c: ['MIIBleaf'] });
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
    const token = await signToken(list({ kind: 'pinnedKey', keyId: 'k1', verificationMethod }), signer);
    const { protectedHeader } = await jwtVerify(token, signer.publicKey, {
      currentDate: new Date('2126-01-01T00:30:00Z'),
    });
    const alg = algorithm === 'P-256' ? 'ES256' : 'EdDSA';
    expect(protectedHeader).toEqual({ alg, typ: 'statuslist+jwt', kid: verificationMethod });
  });

  it('has the media type that verifiers ask for, and is served as text or bytes', () => {
    expect(mediaTypeOfToken('jwt')).toBe('application/statuslist+jwt');
    expect(bodyOfToken('application/statuslist+jwt', 'a.b.c')).toEqual({ body: 'a.b.c' });
    expect(mediaTypeOfToken('cose')).toBe('application/statuslist+cwt');
    expect(bodyOfToken('application/statuslist+cwt', 'AP+A')).toEqual({ base64: 'AP+A' });
  });
});

describe('a status list token as CWT', () => {
  /** With cbor2 and WebCrypto. */
  const read = async (token: string, { publicJwk }: IssuingSigner) => {
    const options = { ignoreGlobalTags: true, preferMap: true };
    const message = decode<Tag>(new Uint8Array(Buffer.from(token, 'base64')), options);
    const [header, unprotected, payload, signature] = message.contents as [
      Uint8Array,
      Map<number, unknown>,
      Uint8Array,
      Uint8Array,
    ];
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
    const key = await crypto.subtle.importKey('jwk', publicJwk as webcrypto.JsonWebKey, algorithm, false, ['verify']);
    const signed = encode(['Signature1', header, new Uint8Array(), payload], cdeEncodeOptions);
    const claims = decode<Map<number, unknown>>(payload, options);
    return {
      tag: message.tag,
      header: Object.fromEntries(decode<Map<number, unknown>>(header, options)),
      unprotected: Object.fromEntries(unprotected),
      isVerified: await crypto.subtle.verify(algorithm, key, Buffer.from(signature), Buffer.from(signed)),
      claims: Object.fromEntries(claims),
      statusList: Object.fromEntries((claims.get(65533) ?? []) as Map<string, unknown>),
    };
  };
  const [notBefore, notAfter] = [new Date('2026-01-01'), new Date('2130-01-01')];

  it('is a COSE_Sign1 with tag 18 and typ, which independent libraries verify and read', async () => {
    const signer = signerOf('P-256', { x5c: ['AQID'], fingerprint: 'f', notBefore, notAfter });
    const token = await signToken(list({ kind: 'issuerSigner', issuer: 'https://acme.example' }, 'cose'), signer);
    const { tag, header, unprotected, isVerified, claims, statusList } = await read(token, signer);
    expect([tag, isVerified]).toEqual([18, true]);
    expect(header).toEqual({ 1: -7, 16: 'application/statuslist+cwt', 33: new Uint8Array([1, 2, 3]) });
    expect(unprotected).toEqual({});
    const iat = Date.parse('2126-01-01T00:00:00Z') / 1000;
    expect(claims).toEqual({ 2: uri, 4: iat + 3600, 6: iat, 65533: expect.anything() as unknown, 65534: 300 });
    expect(Object.keys(statusList)).toEqual(['lst', 'bits']);
    const inflated = inflateSync(statusList['lst'] as Uint8Array);
    expect([6, 7, 8, 9].map((index) => statusAt(inflated, 2, index))).toEqual([0, 1, 2, 0]);
    expect(inflated).toHaveLength(LIST_SIZE / 4);
  });

  it('is an identifier list with all identifiers of a masked list in less than 80 KB [T203]', async () => {
    const signer = signerOf('P-256', { x5c: ['AQID'], fingerprint: 'f', notBefore, notAfter });
    const masked = {
      ...list({ kind: 'issuerSigner', issuer: 'https://acme.example' }, 'identifierList'),
      ...{ size: IDENTIFIER_LIST_SIZE, statuses: invalidStatuses(IDENTIFIER_LIST_SIZE, 2) },
    };
    const token = await signToken(masked, signer);
    const { tag, header, unprotected, isVerified, claims } = await read(token, signer);
    expect([tag, isVerified, unprotected]).toEqual([18, true, {}]);
    expect(header).toEqual({ 1: -7, 16: 'application/identifierlist+cwt', 33: new Uint8Array([1, 2, 3]) });
    expect(claims['65533']).toBeUndefined();
    const { identifiers } = Object.fromEntries(claims['65530'] as unknown as Map<string, Map<Uint8Array, unknown>>);
    const ids = [...identifiers!.keys()].map((id) => Buffer.from(id).toString('hex'));
    expect(new Set(ids).size).toBe(IDENTIFIER_LIST_SIZE);
    // In the order of their bytes, which shows no index.
    expect(ids).toEqual([...ids].sort());
    expect(Buffer.from(token, 'base64').length).toBeLessThan(80_000);
    expect(mediaTypeOfToken('identifierList')).toBe('application/identifierlist+cwt');
    expect(bodyOfToken('application/identifierlist+cwt', 'AP+A')).toEqual({ base64: 'AP+A' });
  });

  it('has several certificates as an array', async () => {
    const signer = signerOf('P-256', { x5c: ['AQ==', 'Ag=='], fingerprint: 'f', notBefore, notAfter });
    const token = await signToken(list({ kind: 'issuerSigner', issuer: 'https://acme.example' }, 'cose'), signer);
    expect((await read(token, signer)).header).toMatchObject({ 33: [new Uint8Array([1]), new Uint8Array([2])] });
  });

  it('of a key of a DID has the kid of CWT credentials, and is of P-256', async () => {
    const pinned = { kind: 'pinnedKey' as const, keyId: 'k1', verificationMethod: 'did:web:acme.example#k1' };
    const signer = signerOf('P-256');
    const { header, unprotected, isVerified } = await read(await signToken(list(pinned, 'cose'), signer), signer);
    expect(header).toEqual({ 1: -7, 4: new Uint8Array(Buffer.from('k1')), 16: 'application/statuslist+cwt' });
    expect([unprotected, isVerified]).toEqual([{}, true]);
    await expect(signToken(list(pinned, 'cose'), signerOf('Ed25519'))).rejects.toThrow('key k1 is not of P-256');
  });

  it('is a revocation list, too: the left-most bit of its bitstring has index 0', async () => {
    const pinned = { kind: 'pinnedKey' as const, keyId: 'k1', verificationMethod: 'did:web:acme.example#k1' };
    const revoked = packedStatuses(LIST_SIZE, 1);
    for (const index of [0, 9, LIST_SIZE - 1]) setStatus(revoked, 1, index, INVALID);
    const ofOneBit = { ...list(pinned, 'cose'), bits: 1 as const, statuses: revoked };
    const address = 'https://acme.example/v2/credentials/compact/revocation-lists/1';
    const signer = signerOf('P-256');
    const { tag, header, claims, isVerified } = await read(await signRevocationList(ofOneBit, address, signer), signer);
    expect([tag, isVerified]).toEqual([18, true]);
    expect(header).toEqual({ 1: -7, 4: new Uint8Array(Buffer.from('k1')) });
    const iat = Date.parse('2126-01-01T00:00:00Z') / 1000;
    const shared = { 1: 'did:web:acme.example', 2: address, 4: iat + 3600, 6: iat };
    expect(claims).toEqual({ ...shared, [-65538]: expect.any(Uint8Array) as unknown });
    const bits = gunzipSync(claims['-65538'] as Uint8Array);
    expect(bits).toHaveLength(LIST_SIZE / 8);
    expect([bits[0], bits[1], bits.at(-1)]).toEqual([0b10000000, 0b01000000, 1]);
    expect(bits.subarray(2, -1).every((byte) => byte === 0)).toBe(true);
    for (const other of [
      list(pinned, 'cose'),
      { ...ofOneBit, signer: list({ kind: 'issuerSigner', issuer: 'x' }).signer },
    ])
      await expect(signRevocationList(other, address, signer)).rejects.toThrow('is no revocation list');
  });
});

describe('a list that is a credential', () => {
  const canonicalization = new Canonicalization({ shared: sharedContexts('https://contexts.example/v1'), threads: 1 });
  afterAll(() => canonicalization.close());
  const signed = async (tokenType: TokenType, algorithm: 'P-256' | 'Ed25519') => {
    const { privateKey, publicKey } =
      algorithm === 'P-256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519');
    const publicJwk = publicKey.export({ format: 'jwk' }) as unknown as PublicJwk;
    const did = encodeDidKey(publicJwk);
    const verificationMethod = `${did}#${encodeMultikey(publicJwk)}`;
    const digest = algorithm === 'P-256' ? 'sha256' : null;
    const signer: IssuingSigner = {
      ...{ keyId: 'k1', algorithm, publicJwk, publicKey },
      sign: (data) => sign(digest, data, { key: privateKey, dsaEncoding: 'ieee-p1363' }),
      signAside: () => Promise.reject(new Error('the credentials are signed by the same function')),
    };
    const now = Math.floor(Date.now() / 1000) * 1000;
    const unsigned = {
      ...list({ kind: 'pinnedKey', keyId: 'k1', verificationMethod }, tokenType),
      ...{ bits: 1 as const, statuses: packedStatuses(LIST_SIZE, 1) },
      ...{ issuedAt: new Date(now), expiresAt: new Date(now + 3_600_000) },
    };
    const token = await signStatusList(unsigned, signer, (documents) => canonicalization.hashes('t', documents));
    return { did, verificationMethod, document: JSON.parse(token) as Record<string, unknown> & { proof: object } };
  };

  it.each<[TokenType, 'P-256' | 'Ed25519', string, object]>([
    ['revocationList2020', 'Ed25519', 'RevocationList2020Credential', { type: 'Ed25519Signature2018' }],
    [
      'bitstring',
      'Ed25519',
      'BitstringStatusListCredential',
      { type: 'DataIntegrityProof', cryptosuite: 'eddsa-rdfc-2022' },
    ],
    [
      'bitstring',
      'P-256',
      'BitstringStatusListCredential',
      { type: 'DataIntegrityProof', cryptosuite: 'ecdsa-rdfc-2019' },
    ],
  ])('has the issuer and the proof of its credentials: %s, %s', async (tokenType, algorithm, type, proof) => {
    const { did, verificationMethod, document } = await signed(tokenType, algorithm);
    expect(document).toMatchObject({ id: uri, type: ['VerifiableCredential', type], issuer: did });
    expect(document.proof).toMatchObject({ ...proof, verificationMethod, proofPurpose: 'assertionMethod' });
    await verifyLdpVc(document);
    await expect(verifyLdpVc({ ...document, id: `${uri}2` })).rejects.toThrow();
    expect(mediaTypeOfToken(tokenType)).toBe('application/ld+json');
    expect(bodyOfToken('application/ld+json', '{}')).toEqual({ body: '{}' });
  });

  it('is signed by no certificate', () =>
    expect(
      signToken(list({ kind: 'issuerSigner', issuer: 'https://acme.example' }, 'bitstring'), signerOf('P-256')),
    ).rejects.toThrow(`the list ${uri} is not signed by the key of a DID`));
});
