import { generateKeyPairSync, sign } from 'node:crypto';
import { DataIntegrityProof } from '@digitalbazaar/data-integrity';
import { cryptosuite } from '@digitalbazaar/eddsa-rdfc-2022-cryptosuite';
import * as vc from '@digitalbazaar/vc';
import { Canonicalization, sharedContexts } from '@attestry/linked-data';
import { encodeDidKey, encodeMultikey, type PublicJwk, type Signer } from '@attestry/keys';
import type { Streams } from '@attestry/event-store';
import { parseConfig } from '@attestry/service-kit';
import { verifyLinkedDataProof } from '@attestry/testing';
import { ContextLoader } from '../../vocabularies/contexts/context-loader.js';
import type { PinnedConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import type { ProofMethods } from '../../settings/proof-methods/proof-methods.js';
import type { PinnedFacts } from '../format.js';
import type { LdpVcContent } from './ldp-vc.decisions.js';
import { LdpVc } from './ldp-vc.js';

const config = parseConfig({});
// No configuration here has its own contexts, so no stream is read.
const contexts = new ContextLoader(undefined as unknown as Streams, config);
const TENANT = '10000000-0000-4000-8000-00000000000a';
const canonicalization = new Canonicalization({ shared: sharedContexts(config.contextUrl), threads: 1 });
const proofMethods = { find: async (_: string, method: string) => method } as ProofMethods;
const format = new LdpVc(contexts, undefined as never, canonicalization, config, proofMethods);
afterAll(() => canonicalization.close());
const one = async (facts: PinnedFacts<LdpVcContent>): Promise<Record<string, unknown>> =>
  (await format.sign(TENANT, [format.prepare(facts)], facts.signer))[0]!;

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const publicJwk = publicKey.export({ format: 'jwk' }) as unknown as PublicJwk;
const did = encodeDidKey(publicJwk);
const verificationMethod = `${did}#${encodeMultikey(publicJwk)}`;
const signer: Signer = {
  keyId: 'k',
  algorithm: 'Ed25519',
  publicJwk,
  publicKey,
  sign: (data) => sign(null, data, privateKey),
  signAside: (data) => Promise.resolve(sign(null, data, privateKey)),
};

const configuration: PinnedConfiguration<LdpVcContent> = {
  status: 'active',
  id: 'c1',
  format: 'ldp_vc',
  type: 'Course',
  issuerKey: { did, verificationMethod, kmsKeyId: 'k', algorithm: 'Ed25519' },
  content: {
    additionalTypes: ['Award'],
    name: 'Course',
    description: 'What was learned',
    issuer: { name: 'Acme', logoUrl: 'https://acme.example/logo.png' },
    credentialBranding: { backgroundColor: '#a1b2c3' },
    claimMappings: {},
    expiresIn: { years: 100 },
    contexts: [],
  },
  createdAt: '2026-01-01T00:00:00.000Z',
  version: 1,
};
/** Each claim is mapped from one with its name. */
const mapped = (claims: object) =>
  Object.fromEntries(Object.keys(claims).map((name) => [name, { mapFrom: `claims.${name}` }]));
const credential = (claims: Record<string, unknown>, of = configuration): PinnedFacts<LdpVcContent> => ({
  credentialId: '11111111-1111-4111-8111-111111111111',
  holder: { did: 'did:example:holder', publicJwk },
  claims,
  issuer: 'https://acme.example',
  signer,
  random: Buffer.alloc,
  time: new Date('2020-05-01T10:00:00.999Z'),
  configuration: { ...of, content: { ...of.content, claimMappings: mapped(claims) } },
});

const key = {
  id: verificationMethod,
  type: 'Multikey',
  controller: did,
  publicKeyMultibase: encodeMultikey(publicJwk),
};
const documentLoader = async (url: string) => {
  const found: Record<string, Record<string, unknown>> = {
    [verificationMethod]: { '@context': 'https://w3id.org/security/multikey/v1', ...key },
    [did]: { '@context': 'https://www.w3.org/ns/did/v1', id: did, assertionMethod: [key] },
  };
  return {
    contextUrl: null,
    documentUrl: url,
    document: found[url] ?? (contexts.bundledAt(url) as Record<string, unknown>),
  };
};
/** Lists are verified where they are signed. */
const checkStatus = async () => ({ verified: true });
const verify = (signed: Record<string, unknown>) =>
  vc.verifyCredential({
    credential: signed,
    suite: new DataIntegrityProof({ cryptosuite }),
    documentLoader,
    checkStatus,
  }) as Promise<{ verified: boolean }>;

const LIST = 'https://acme.example/v2/credentials/web-semantic/revocation-lists/l1';
const withStatus = async (of: PinnedConfiguration<LdpVcContent>, contexts: LdpVcContent['contexts'] = []) => {
  const revocable = { ...of, id: `${of.id}-revocable`, content: { ...of.content, contexts, revocable: true as const } };
  const facts = { ...credential({ givenName: 'Ada' }), configuration: revocable };
  return { revocable, signed: await one({ ...facts, status: { uri: LIST, index: 7 } }) };
};
const withEntry = (signed: Record<string, unknown>, more: object) => ({
  ...signed,
  credentialStatus: { ...(signed['credentialStatus'] as object), ...more },
});

describe('ldp_vc', () => {
  it.each<[string, Record<string, unknown>]>([
    ['plain claims', { givenName: 'Ada', level: 3, passed: true, share: 0.5 }],
    [
      'claims of claims',
      {
        address: { city: 'London', lines: ['a', 'b', 'c'] },
        marks: [
          { of: 'x', is: 1 },
          { of: 'y', is: 2 },
        ],
      },
    ],
    [
      'names that JavaScript or the data model know',
      { toString: 'x', name: 'Ada', description: 'd', title: 'é "quoted" \\ \n line' },
    ],
    ['no claims', {}],
  ])('is verified by an independent library: %s', async (_, claims) => {
    const signed = await one(credential(claims));
    expect(await verify(signed)).toMatchObject({ verified: true });
    expect(signed['credentialSubject']).toEqual({ ...claims, id: 'did:example:holder' });
    const forged = { ...signed, credentialSubject: { ...claims, id: 'did:example:other' } };
    expect(await verify(forged)).toMatchObject({ verified: false });
  });

  it('has the members of VCDM 2.0', async () => {
    const { proof, ...document } = await one(credential({ givenName: 'Ada' }));
    expect(document).toEqual({
      '@context': ['https://www.w3.org/ns/credentials/v2', config.contextUrl],
      id: 'urn:uuid:11111111-1111-4111-8111-111111111111',
      type: ['VerifiableCredential', 'Course', 'Award'],
      issuer: { id: did, name: 'Acme', logoUrl: 'https://acme.example/logo.png' },
      validFrom: '2020-05-01T10:00:00Z',
      validUntil: '2120-05-01T10:00:00Z',
      name: 'Course',
      description: 'What was learned',
      credentialBranding: { backgroundColor: '#a1b2c3' },
      credentialSubject: { id: 'did:example:holder', givenName: 'Ada' },
    });
    expect(proof).toEqual({
      type: 'DataIntegrityProof',
      cryptosuite: 'eddsa-rdfc-2022',
      created: '2020-05-01T10:00:00Z',
      verificationMethod,
      proofPurpose: 'assertionMethod',
      proofValue: expect.stringMatching(/^z[1-9A-HJ-NP-Za-km-z]{80,90}$/) as string,
    });
  });

  it('has a status of Bitstring Status List, whose terms the data model 2.0 has itself [T185]', async () => {
    const { signed } = await withStatus(configuration);
    expect(signed['@context']).toEqual(['https://www.w3.org/ns/credentials/v2', config.contextUrl]);
    expect(signed['credentialStatus']).toEqual({
      id: `${LIST}#7`,
      type: 'BitstringStatusListEntry',
      statusPurpose: 'revocation',
      statusListIndex: '7',
      statusListCredential: LIST,
    });
    expect(await verify(signed)).toMatchObject({ verified: true });
    expect(await verify(withEntry(signed, { statusListIndex: '8' }))).toMatchObject({ verified: false });
  });

  it.each<[string, Record<string, unknown>]>([
    ['a keyword', { about: { '@id': 'http://x' } }],
    ['a keyword inside', { about: [{ deep: { '@type': 'http://x' } }] }],
    ['an id that is no IRI', { about: { id: 'x y' } }],
  ])('denies claims that are not plain data: %s', async (_, claims) => {
    await expect(one(credential(claims))).rejects.toMatchObject({ code: 'credential_request_denied' });
  });
});

describe('the claims of an ldp_vc', () => {
  const GRADES = [
    ['math', 1],
    ['physics', 5],
  ];
  const SWAPPED = [
    ['math', 5],
    ['physics', 1],
  ];
  const OWN = 'https://acme.example/grades';
  /** With a context of the configuration. */
  const withContext = (context: object) => {
    const text = JSON.stringify({ '@context': context });
    const loader = { pinnedTexts: async () => new Map([[OWN, text]]) } as unknown as ContextLoader;
    const own = new LdpVc(loader, undefined as never, canonicalization, config, proofMethods);
    const content = { ...configuration.content, contexts: [{ url: OWN, sha256: 'x' }] };
    return { own, pinned: { ...configuration, id: JSON.stringify(context), content } };
  };
  const checked = (claims: Record<string, unknown>, format_ = format, of = configuration) => {
    return format_.check(TENANT, { ...of, content: { ...of.content, claimMappings: mapped(claims) } }, { claims });
  };

  it('are verified by an independent library after values of inner arrays were exchanged: JSON-LD flattens them', async () => {
    const signed = await one(credential({ grades: GRADES.flat() }));
    const withGrades = (grades: unknown) => ({
      ...signed,
      credentialSubject: { ...(signed['credentialSubject'] as object), grades },
    });
    expect(await verify(withGrades(SWAPPED))).toMatchObject({ verified: true });
  });

  it('are refused with arrays in arrays, by the check and by the signature [T566]', async () => {
    const fault = { claim: 'grades', msg: expect.stringMatching(/^must not have arrays in arrays/) as string };
    expect(await checked({ name: 'Ada', grades: GRADES })).toEqual(fault);
    await expect(one(credential({ name: 'Ada', grades: GRADES }))).rejects.toMatchObject({
      ...{ code: 'credential_request_denied', claim: 'grades' },
      message: expect.stringMatching(/^grades must not have arrays in arrays/) as string,
    });
  });

  it('are refused with sets in an array by the check and by the signature, where a context names them [T677]', async () => {
    const { own, pinned } = withContext({ grades: { '@id': 'urn:example:grades' }, row: '@set' });
    const grades = GRADES.map((row) => ({ row }));
    const fault = { claim: 'grades', msg: expect.stringMatching(/^must not have arrays in arrays/) as string };
    expect(await checked({ grades }, own, pinned)).toEqual(fault);
    const unsigned = own.prepare(credential({ grades }, pinned));
    await expect(own.sign(TENANT, [unsigned], signer)).rejects.toMatchObject({ claim: 'grades' });
    expect(await checked({ grades })).toBeUndefined();
  });

  it('are not tried when they are signed where they are default values, which were checked with the configuration', async () => {
    const claimMappings = { grades: { mapFrom: 'claims.grades', defaultValue: GRADES } };
    const pinned = { ...configuration, content: { ...configuration.content, claimMappings } };
    let tried = 0;
    const counting = Object.assign(Object.create(canonicalization) as Canonicalization, {
      findClaimFault: (...claims: Parameters<Canonicalization['findClaimFault']>) => {
        tried++;
        return canonicalization.findClaimFault(...claims);
      },
    });
    const counted = new LdpVc(contexts, undefined as never, counting, config, proofMethods);
    const sign = (grades: unknown) => {
      const facts = { ...credential({ grades }), configuration: pinned };
      return counted.sign(TENANT, [counted.prepare(facts)], signer);
    };
    const [signed] = await sign(GRADES);
    expect([await verify(signed!), tried]).toMatchObject([{ verified: true }, 0]);
    await expect(sign(structuredClone(GRADES))).rejects.toMatchObject({ claim: 'grades' });
    expect(tried).toBe(1);
  });

  it.each([{ '@container': '@list' }, { '@type': '@json' }])(
    'keep arrays in arrays with %j [T566]',
    async (definition) => {
      const { own, pinned } = withContext({ grades: { '@id': 'urn:example:grades', ...definition } });
      expect(await checked({ grades: GRADES }, own, pinned)).toBeUndefined();
      const [signed] = await own.sign(TENANT, [own.prepare(credential({ grades: GRADES }, pinned))], signer);
      const swapped = await own.sign(TENANT, [own.prepare(credential({ grades: SWAPPED }, pinned))], signer);
      expect((signed!['proof'] as { proofValue: string }).proofValue).not.toBe(
        (swapped[0]!['proof'] as { proofValue: string }).proofValue,
      );
    },
  );

  it('are tried only where they can have a fault', async () => {
    const tried: string[][] = [];
    const spy = {
      findClaimFault: async (_tenant: string, { claims }: { claims: object }) => {
        tried.push(Object.keys(claims));
        return {};
      },
    } as unknown as Canonicalization;
    const counted = new LdpVc(contexts, undefined as never, spy, config, proofMethods);
    const plain = { name_: 'Ada', level: 3, passed: true };
    expect(await checked(plain, counted)).toBeUndefined();
    expect(tried).toEqual([]);
    await checked({ ...plain, address: { city: 'London' }, lines: ['a'], proof: 'x' }, counted);
    expect(tried).toEqual([['address', 'lines', 'proof']]);
  });

  it('show no value in a fault', async () => {
    for (const value of [{ id: 'canary' }, { type: 'canary x' }, { 'canary x': 1 }, [['canary']], { '@canary': 1 }]) {
      const fault = await checked({ about: value });
      expect(fault?.claim).toBe('about');
      expect(JSON.stringify(fault)).not.toContain('canary');
      const denied: unknown = await one(credential({ about: value })).catch((error: unknown) => error);
      expect(denied).toMatchObject({ code: 'credential_request_denied', claim: 'about' });
      expect((denied as Error).message).not.toContain('canary');
    }
  });
});

describe('ldp_vc with ecdsa-rdfc-2019', () => {
  const pair = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const jwk = pair.publicKey.export({ format: 'jwk' }) as unknown as PublicJwk;
  const issuer = encodeDidKey(jwk);
  const method = `${issuer}#${encodeMultikey(jwk)}`;
  const ecdsa: Signer = {
    ...{ keyId: 'k', algorithm: 'P-256', publicJwk: jwk, publicKey: pair.publicKey },
    sign: (data) => sign('sha256', data, { key: pair.privateKey, dsaEncoding: 'ieee-p1363' }),
    signAside: (data) => Promise.resolve(ecdsa.sign(data)),
  };
  const pinned: PinnedConfiguration<LdpVcContent> = {
    ...configuration,
    id: 'c3',
    issuerKey: { did: issuer, verificationMethod: method, kmsKeyId: 'k', algorithm: 'P-256' },
    content: { ...configuration.content, proofType: 'ecdsa-rdfc-2019' },
  };
  const encode = (claims: Record<string, unknown>) =>
    one({ ...credential(claims), configuration: pinned, signer: ecdsa });
  const check = (signed: Record<string, unknown>) => verifyLinkedDataProof(signed, {}, documentLoader);

  it.each<[string, Record<string, unknown>]>([
    ['plain claims', { givenName: 'Ada', level: 3, passed: true, share: 0.5 }],
    ['claims of claims', { address: { city: 'London', lines: ['a', 'b'] }, marks: [{ of: 'x', is: 1 }] }],
    ['no claims', {}],
  ])('is verified by an independent library: %s [T161]', async (_, claims) => {
    const signed = await encode(claims);
    await check(signed);
    const forged = { ...signed, credentialSubject: { ...claims, id: 'did:example:other' } };
    await expect(check(forged)).rejects.toThrow('does not verify');
  });

  it('differs from eddsa-rdfc-2022 in the proof alone', async () => {
    const { proof, ...document } = await encode({ givenName: 'Ada' });
    const { proof: _, ...other } = await one(credential({ givenName: 'Ada' }));
    expect(document).toEqual({ ...other, issuer: { ...(other['issuer'] as object), id: issuer } });
    expect(proof).toEqual({
      type: 'DataIntegrityProof',
      cryptosuite: 'ecdsa-rdfc-2019',
      created: '2020-05-01T10:00:00Z',
      verificationMethod: method,
      proofPurpose: 'assertionMethod',
      proofValue: expect.stringMatching(/^z[1-9A-HJ-NP-Za-km-z]{80,90}$/) as string,
    });
  });

  it('is named in the metadata', () =>
    expect(format.metadataOf(pinned)).toMatchObject({
      supported: {
        credential_definition: { '@context': ['https://www.w3.org/ns/credentials/v2', config.contextUrl] },
        credential_signing_alg_values_supported: ['ecdsa-rdfc-2019'],
      },
      legacy: { cryptographic_suites_supported: ['ecdsa-rdfc-2019'] },
    }));
});

describe('ldp_vc with Ed25519Signature2018', () => {
  const old: PinnedConfiguration<LdpVcContent> = {
    ...configuration,
    id: 'c2',
    content: { ...configuration.content, proofType: 'Ed25519Signature2018' },
  };
  const encode = (claims: Record<string, unknown>) => one({ ...credential(claims), configuration: old });
  const check = (signed: Record<string, unknown>) => verifyLinkedDataProof(signed, { checkStatus }, documentLoader);

  it.each<[string, Record<string, unknown>]>([
    ['plain claims', { givenName: 'Ada', level: 3, passed: true, share: 0.5 }],
    ['claims of claims', { address: { city: 'London', lines: ['a', 'b'] }, marks: [{ of: 'x', is: 1 }] }],
    ['names that the data model knows', { name: 'Ada', issuer: 'x', title: 'é "quoted" \\ \n line' }],
    ['no claims', {}],
  ])('is verified by an independent library: %s', async (_, claims) => {
    const signed = await encode(claims);
    await check(signed);
    const forged = { ...signed, credentialSubject: { ...claims, id: 'did:example:other' } };
    await expect(check(forged)).rejects.toThrow('does not verify');
  });

  it('has the members of VCDM 1.1', async () => {
    const { proof, ...document } = await encode({ givenName: 'Ada' });
    expect(document).toEqual({
      '@context': ['https://www.w3.org/2018/credentials/v1', config.contextUrl],
      id: 'urn:uuid:11111111-1111-4111-8111-111111111111',
      type: ['VerifiableCredential', 'Course', 'Award'],
      issuer: { id: did, name: 'Acme', logoUrl: 'https://acme.example/logo.png' },
      issuanceDate: '2020-05-01T10:00:00Z',
      expirationDate: '2120-05-01T10:00:00Z',
      name: 'Course',
      description: 'What was learned',
      credentialBranding: { backgroundColor: '#a1b2c3' },
      credentialSubject: { id: 'did:example:holder', givenName: 'Ada' },
    });
    expect(proof).toEqual({
      type: 'Ed25519Signature2018',
      created: '2020-05-01T10:00:00Z',
      verificationMethod,
      proofPurpose: 'assertionMethod',
      jws: expect.stringMatching(/^[\w-]+\.\.[\w-]{86}$/) as string,
    });
  });

  it('has a status of RevocationList2020 and its context, which the metadata have too [T185]', async () => {
    const { signed, revocable } = await withStatus(old);
    const contexts = [
      'https://www.w3.org/2018/credentials/v1',
      config.contextUrl,
      'https://w3id.org/vc-revocation-list-2020/v1',
    ];
    expect(signed['@context']).toEqual(contexts);
    expect(signed['credentialStatus']).toEqual({
      id: `${LIST}#7`,
      type: 'RevocationList2020Status',
      revocationListIndex: '7',
      revocationListCredential: LIST,
    });
    await check(signed);
    await expect(check(withEntry(signed, { revocationListIndex: '8' }))).rejects.toThrow('does not verify');
    expect(format.metadataOf(revocable)).toMatchObject({
      supported: { credential_definition: { '@context': contexts } },
    });
    // The tenant may name it too.
    const named = await withStatus(old, [{ url: contexts[2]!, sha256: 'x' }]);
    expect(named.signed['@context']).toEqual(contexts);
  });

  it('is named in the metadata', () => {
    expect(format.metadataOf(configuration)).toMatchObject({
      supported: { credential_signing_alg_values_supported: ['eddsa-rdfc-2022'] },
      legacy: { cryptographic_suites_supported: ['eddsa-rdfc-2022'] },
    });
    const definition = { '@context': ['https://www.w3.org/2018/credentials/v1', config.contextUrl] };
    expect(format.metadataOf(old)).toMatchObject({
      supported: {
        credential_definition: definition,
        credential_signing_alg_values_supported: ['Ed25519Signature2018'],
      },
      legacy: { ...definition, cryptographic_suites_supported: ['Ed25519Signature2018'] },
    });
  });

  it.each<[string, Record<string, unknown>]>([
    ['a keyword', { about: { '@id': 'http://x' } }],
    ['an id that is no IRI', { about: { id: 'x y' } }],
    ['a proof of its own', { proof: 'y' }],
  ])('denies claims that are not plain data: %s', async (_, claims) => {
    const [claim] = Object.keys(claims);
    await expect(encode(claims)).rejects.toMatchObject({ code: 'credential_request_denied', claim });
  });
});
