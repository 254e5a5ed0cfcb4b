import { generateKeyPairSync, sign, verify } from 'node:crypto';
import type { AppError } from '@attestry/contracts';
import type { PublicJwk, Signer } from '@attestry/keys';
import { decodeCwt } from '@attestry/testing';
import type { CwtContent } from '../cwt-configuration.decisions.js';
import { describeClaimFault } from '../claim-faults.decisions.js';
import type { UserObject } from '../map-claims.js';
import type { PinnedFacts } from '../format.js';
import { Cwt } from './cwt.js';

const format = new Cwt();
/** The fault of an offer, as it is shown. */
const faultOf = async (...[configuration, from]: [Parameters<typeof format.check>[1], UserObject]) => {
  const fault = await format.check('t1', configuration, from);
  return fault && describeClaimFault(fault);
};
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const raw = (key: typeof publicKey | typeof privateKey) => ({ key, dsaEncoding: 'ieee-p1363' as const });
const signer = { sign: (data: Uint8Array) => sign('sha256', data, raw(privateKey)) } as unknown as Signer;
const publicJwk = publicKey.export({ format: 'jwk' }) as unknown as PublicJwk;
const content: CwtContent = {
  claimMappings: {
    given_name: { mapFrom: 'claims.given_name', required: true },
    level: { mapFrom: 'claims.level' },
    member: { defaultValue: true },
  },
  expiresIn: { years: 1 },
};
const facts = (
  more: Partial<PinnedFacts<CwtContent>> = {},
  changed: Partial<CwtContent> = {},
): PinnedFacts<CwtContent> => ({
  issuer: 'https://acme.example',
  signer,
  random: Buffer.alloc,
  credentialId: '6ba7b810-9dad-41d1-80b4-00c04fd430c8',
  holder: { did: 'did:key:zHolder', publicJwk },
  claims: { given_name: 'Zoë', level: 1.5, member: true },
  time: new Date('2026-05-01T10:20:30.999Z'),
  configuration: {
    status: 'active',
    id: 'c1',
    format: 'cwt',
    type: 'Course',
    issuerKey: {
      did: 'did:web:acme.example',
      verificationMethod: 'did:web:acme.example#k123456789',
      kmsKeyId: 'k',
      algorithm: 'P-256',
    },
    content: { ...content, ...changed },
    createdAt: '2026-01-01T00:00:00.000Z',
    version: 1,
  },
  ...more,
});
const issue = async (one = facts()) => decodeCwt((await format.sign('t1', [format.prepare(one)], signer))[0]!);
const refusal = (run: () => unknown): [string, string, string | undefined] => {
  try {
    run();
  } catch (error) {
    const { code, message, check } = error as AppError;
    return [code, message, check];
  }
  throw new Error('it was not refused');
};
const seconds = (text: string) => Date.parse(text) / 1000;

describe('cwt', () => {
  it('names one entry of one list, as status list and as revocation list, where it has a status', async () => {
    const at = 'https://acme.example/v2/credentials';
    const uri = `${at}/status-lists/1/token`;
    const revocationUri = `${at}/compact/revocation-lists/1`;
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

  it('is a COSE_Sign1 with the claims of RFC 8392, its type and its own claims, as another library decodes it', async () => {
    const { prefix, kid, alg, unprotectedHeader, claims, signature, signed } = await issue();
    expect([prefix, kid, alg, unprotectedHeader.size]).toEqual(['CSC:/1/', 'k123456789', -7, 0]);
    expect(verify('sha256', signed, raw(publicKey), signature)).toBe(true);
    expect(claims).toEqual(
      new Map<number | string, unknown>([
        [1, 'did:web:acme.example'],
        [2, 'did:key:zHolder'],
        [4, seconds('2027-05-01T00:00:00Z')],
        [5, seconds('2026-05-01T10:00:00Z')],
        [6, seconds('2026-05-01T10:00:00Z')],
        [7, new Uint8Array(Buffer.from('6ba7b8109dad41d180b400c04fd430c8', 'hex'))],
        [-65539, 'Course'],
        ['given_name', 'Zoë'],
        ['level', 1.5],
        ['member', true],
      ]),
    );
  });

  it('is prepared from its facts alone', () => {
    const [one, other] = [format.prepare(facts()), new Cwt().prepare(facts())];
    expect(one.input.toBeSigned).toEqual(other.input.toBeSigned);
    expect(one).toMatchObject({
      credentialId: facts().credentialId,
      holderKey: publicJwk,
      validFrom: new Date('2026-05-01T10:00:00Z'),
      validUntil: new Date('2027-05-01T00:00:00Z'),
    });
  });

  it('has no end unless one is configured', async () => {
    expect((await issue(facts({}, { expiresIn: undefined }))).claims.has(4)).toBe(false);
    expect(format.prepare(facts({}, { expiresIn: undefined }))).not.toHaveProperty('validUntil');
  });

  it.each<[string, unknown, string]>([
    ['an object', { canary: 1 }, 'level must be a boolean, a string or a number, not an object'],
    ['an array', ['canary'], 'level must be a boolean, a string or a number, not an array'],
    [
      'a lone surrogate',
      'canary\ud800',
      'level must be a boolean, a string or a number, not a string with a lone surrogate',
    ],
  ])('is denied when a claim of the user is %s, and the value is not shown', (_, level, message) => {
    const claims = { given_name: 'Ada', level };
    expect(refusal(() => format.prepare(facts({ claims })))).toEqual([
      'credential_request_denied',
      message,
      'formats/cwt-credential',
    ]);
  });

  it('is denied when it would end before it begins', () =>
    expect(refusal(() => format.prepare(facts({ time: new Date('9999-12-31T23:59:59Z') })))).toEqual([
      'credential_request_denied',
      'validUntil must be later than validFrom, rounded down to the hour',
      'formats/cwt-credential',
    ]));

  it('is denied without a required claim, and when the claims are too large', () => {
    const { configuration } = facts();
    expect(format.mapClaims(configuration, { claims: { given_name: 'Ada' } })).toEqual({
      given_name: 'Ada',
      member: true,
    });
    expect(refusal(() => format.mapClaims(configuration, { claims: {} }))[1]).toBe(
      'the required claim given_name has no value',
    );
    const text = 'x'.repeat(40_000);
    expect(refusal(() => format.mapClaims(configuration, { claims: { given_name: text, level: text } }))).toEqual([
      'credential_request_denied',
      'level must not make the claims of the credential exceed 65536 characters in total',
      'formats/cwt-credential',
    ]);
  });

  it('refuses an offer whose claims can never be encoded', async () => {
    const { configuration } = facts();
    expect(await faultOf(configuration, { claims: { level: 3, unused: {} } })).toBeUndefined();
    expect(await faultOf(configuration, { claims: { level: {} } })).toBe(
      'level must be a boolean, a string or a number, not an object',
    );
    expect(await faultOf(configuration, { claims: { level: 'x'.repeat(70_000) } })).toBe(
      'level must not make the claims of the credential exceed 65536 characters in total',
    );
  });

  it('is described in the issuer metadata', () => {
    const binding = { type: 'Course', cryptographic_binding_methods_supported: ['did:key'] };
    expect(format.metadataOf(facts().configuration)).toEqual({
      supported: {
        ...binding,
        credential_signing_alg_values_supported: ['ES256'],
        proof_types_supported: { jwt: { proof_signing_alg_values_supported: ['ES256', 'EdDSA'] } },
        credential_metadata: {
          display: [{ name: 'Course' }],
          claims: [
            { path: ['given_name'], mandatory: true },
            { path: ['level'], mandatory: false },
            { path: ['member'], mandatory: false },
          ],
        },
      },
      legacy: { ...binding, cryptographic_suites_supported: ['ES256'], display: [{ name: 'Course' }] },
    });
  });

  it('has the display of its configuration, and no empty claims', () => {
    const display = [{ locale: 'DE', name: 'Kurs' }, { background_color: '#000000' }];
    const { configuration } = facts({}, { display, claimMappings: {} });
    expect(format.metadataOf(configuration).supported['credential_metadata']).toEqual({
      display: [
        { name: 'Kurs', locale: 'de' },
        { name: 'Course', background_color: '#000000' },
      ],
    });
  });
});
