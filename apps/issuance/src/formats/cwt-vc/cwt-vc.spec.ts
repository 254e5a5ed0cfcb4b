import { generateKeyPairSync, sign, verify } from 'node:crypto';
import type { AppError } from '@attestry/contracts';
import type { PublicJwk, Signer } from '@attestry/keys';
import { decodeCwt } from '@attestry/testing';
import { describeClaimFault } from '../claim-faults.decisions.js';
import type { UserObject } from '../map-claims.js';
import type { PinnedFacts } from '../format.js';
import { CwtVc, type CwtVcContent } from './cwt-vc.js';

const format = new CwtVc();
/** The fault of an offer, as it is shown. */
const faultOf = async (...[configuration, from]: [Parameters<typeof format.check>[1], UserObject]) => {
  const fault = await format.check('t1', configuration, from);
  return fault && describeClaimFault(fault);
};
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const raw = (key: typeof publicKey | typeof privateKey) => ({ key, dsaEncoding: 'ieee-p1363' as const });
const signer = { sign: (data: Uint8Array) => sign('sha256', data, raw(privateKey)) } as unknown as Signer;
const publicJwk = publicKey.export({ format: 'jwk' }) as unknown as PublicJwk;
const facts = (
  more: Partial<PinnedFacts<CwtVcContent>> = {},
  changed: Partial<CwtVcContent> = {},
): PinnedFacts<CwtVcContent> => ({
  issuer: 'https://acme.example',
  signer,
  random: Buffer.alloc,
  credentialId: '6ba7b810-9dad-41d1-80b4-00c04fd430c8',
  holder: { did: 'did:key:zHolder', publicJwk },
  claims: { given_name: 'Zoë', address: { lines: ['a', 1.5, null], main: true } },
  time: new Date('2026-05-01T10:20:30.999Z'),
  configuration: {
    status: 'active',
    id: 'c1',
    format: 'cwt_vc',
    type: 'Course',
    issuerKey: {
      did: 'did:web:acme.example',
      verificationMethod: 'did:web:acme.example#k123456789',
      kmsKeyId: 'k',
      algorithm: 'P-256',
    },
    content: {
      contexts: ['https://acme.example/context'],
      claimMappings: { given_name: { mapFrom: 'claims.given_name' }, address: { mapFrom: 'claims.address' } },
      expiresIn: { hours: 2 },
      ...changed,
    },
    createdAt: '2026-01-01T00:00:00.000Z',
    version: 1,
  },
  ...more,
});
const issue = async (one = facts()) => decodeCwt((await format.sign('t1', [format.prepare(one)], signer))[0]!);
const seconds = (text: string) => Date.parse(text) / 1000;

describe('cwt_vc', () => {
  it('names one entry of one list, as status list and as revocation list, where it has a status', async () => {
    const at = 'https://acme.example/v2/credentials';
    const uri = `${at}/status-lists/1/token`;
    const revocationUri = `${at}/compact-semantic/revocation-lists/1`;
    const { claims } = await issue(facts({ status: { uri, index: 4711, revocationUri } }));
    expect(claims.get(65535)).toEqual(
      new Map([
        [
          'status_list',
          new Map<string, unknown>([
            ['idx', 4711],
            ['uri', uri],
          ]),
        ],
      ]),
    );
    expect(claims.get(-65537)).toEqual(
      new Map<number, unknown>([
        [2, 4711],
        [3, revocationUri],
      ]),
    );
    const without = (await issue()).claims;
    expect([without.has(65535), without.has(-65537)]).toEqual([false, false]);
  });

  it('has the credential of VCDM 1.1 under vc, as another library decodes it', async () => {
    const { prefix, kid, alg, unprotectedHeader, claims, signature, signed } = await issue();
    expect([prefix, kid, alg, unprotectedHeader.size]).toEqual(['CSS:/1/', 'k123456789', -7, 0]);
    expect(verify('sha256', signed, raw(publicKey), signature)).toBe(true);
    expect(claims).toEqual(
      new Map<number | string, unknown>([
        [1, 'did:web:acme.example'],
        [2, 'did:key:zHolder'],
        [4, seconds('2026-05-01T12:00:00Z')],
        [5, seconds('2026-05-01T10:00:00Z')],
        [6, seconds('2026-05-01T10:00:00Z')],
        [7, new Uint8Array(Buffer.from('6ba7b8109dad41d180b400c04fd430c8', 'hex'))],
        [
          'vc',
          {
            version: '1.0.0',
            '@context': ['https://www.w3.org/2018/credentials/v1', 'https://acme.example/context'],
            type: ['VerifiableCredential', 'Course'],
            credentialSubject: {
              id: 'did:key:zHolder',
              given_name: 'Zoë',
              address: { lines: ['a', 1.5, null], main: true },
            },
          },
        ],
      ]),
    );
  });

  it('has the context of the data model alone where the configuration has none', async () => {
    const one = facts({}, { contexts: undefined, expiresIn: undefined });
    const { claims } = await decodeCwt((await format.sign('t1', [format.prepare(one)], signer))[0]!);
    expect(claims.get('vc')).toMatchObject({ '@context': ['https://www.w3.org/2018/credentials/v1'] });
    expect(claims.has(4)).toBe(false);
  });

  it('names its holder alone, also where a claim is called id', () => {
    const toBeSigned = (claims: object) => format.prepare(facts({ claims: { ...claims } })).input.toBeSigned;
    expect(toBeSigned({ id: 'did:example:other' })).toEqual(toBeSigned({}));
  });

  it('is denied when a claim has text that is not well-formed, and the value is not shown', () => {
    const run = () => format.prepare(facts({ claims: { address: { lines: ['canary\ud800'] } } }));
    expect(run).toThrow(
      expect.objectContaining<Partial<AppError>>({
        code: 'credential_request_denied',
        message: 'address must consist of JSON values with well-formed text, not a string with a lone surrogate',
      }),
    );
  });

  it('is denied, and an offer refused, when its claims are too large', async () => {
    const { configuration } = facts();
    const claims = { address: Array.from({ length: 1000 }, () => 1) };
    expect(format.mapClaims(configuration, { claims: { given_name: 'Ada' } })).toEqual({ given_name: 'Ada' });
    expect(() => format.mapClaims(configuration, { claims })).toThrow(
      'address must not make the claims of the credential exceed 1000 values in total',
    );
    expect(await faultOf(configuration, { claims })).toBe(
      'address must not make the claims of the credential exceed 1000 values in total',
    );
    expect(await faultOf(configuration, { claims: { address: { a: [1] } } })).toBeUndefined();
    expect(await faultOf(configuration, { claims: { address: '\ud800' } })).toBe(
      'address must consist of JSON values with well-formed text, not a string with a lone surrogate',
    );
  });

  it('is described in the issuer metadata', () => {
    const binding = {
      types: ['VerifiableCredential', 'Course'],
      cryptographic_binding_methods_supported: ['did:key'],
    };
    const display = [{ name: 'Course' }];
    expect(format.metadataOf(facts().configuration)).toEqual({
      supported: {
        ...binding,
        credential_signing_alg_values_supported: ['ES256'],
        proof_types_supported: { jwt: { proof_signing_alg_values_supported: ['ES256', 'EdDSA'] } },
        credential_metadata: {
          display,
          claims: [
            { path: ['vc', 'credentialSubject', 'given_name'], mandatory: false },
            { path: ['vc', 'credentialSubject', 'address'], mandatory: false },
          ],
        },
      },
      legacy: { ...binding, cryptographic_suites_supported: ['ES256'], display },
    });
  });
});
