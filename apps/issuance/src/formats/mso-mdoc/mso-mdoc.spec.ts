import { documentSizeFault } from '../document-size.decisions.js';
import { createHash, generateKeyPairSync, sign, verify } from 'node:crypto';
import type { AppError } from '@attestry/contracts';
import { createDocumentSigner, createIaca, documentSignerPeriod, type CertificateKey } from '@attestry/certificates';
import { pooledBytes, type PublicJwk } from '@attestry/keys';
import { verifyMdoc } from '@attestry/testing';
import { cdeEncodeOptions, decode, encode, Tag } from 'cbor2';
import fc from 'fast-check';
import type { CertifiedSigner } from '../../certificates/issuer-certificates/issuer-signers.js';
import { describeClaimFault } from '../claim-faults.decisions.js';
import type { UserObject } from '../map-claims.js';
import type { CredentialFacts } from '../format.js';
import { listIdentifier } from '../../status-lists/status-list/identifier-list.js';
import type { MdocContent } from './mdoc-configuration.decisions.js';
import { MsoMdoc } from './mso-mdoc.js';

const format = new MsoMdoc();
/** The fault of an offer, as it is shown. */
const faultOf = async (...[configuration, from]: [Parameters<typeof format.check>[1], UserObject]) => {
  const fault = await format.check('t1', configuration, from);
  return fault && describeClaimFault(fault);
};
const keyPair = (curve: 'P-256' | 'Ed25519' = 'P-256') => {
  const { privateKey, publicKey } =
    curve === 'P-256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519');
  const signWith = (data: Uint8Array) => sign('sha256', data, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  const key: CertificateKey = { publicKey, signAside: (data) => Promise.resolve(signWith(data)) };
  const jwk = publicKey.export({ format: 'jwk' }) as unknown as PublicJwk;
  return { key, signWith, publicKey, jwk, privateJwk: privateKey.export({ format: 'jwk' }) };
};
const HOUR = 3_600_000;
const now = new Date();
const hoursLater = (hours: number) => new Date(Math.floor(now.getTime() / HOUR) * HOUR + hours * HOUR);

const MDL = 'org.iso.18013.5.1.mDL';
const NAMESPACE = 'org.iso.18013.5.1';
const OWN = 'org.example.1';
const [iacaKey, signerKey, device] = [keyPair(), keyPair(), keyPair()];
let iacas: string[];
let signer: CertifiedSigner;

beforeAll(async () => {
  const iaca = await createIaca({
    ...{ key: iacaKey.key, subject: { commonName: 'Roads IACA', country: 'AU' }, random: pooledBytes },
    ...{ notBefore: hoursLater(-48), notAfter: hoursLater(24 * 7000) },
    ...{ issuerUrl: 'https://roads.example', crlUrl: 'https://roads.example/crl' },
  });
  const { notBefore, notAfter } = documentSignerPeriod('mDL', hoursLater(-24), iaca);
  const made = await createDocumentSigner({
    ...{ iaca: iaca.der, iacaKey: iacaKey.key, publicKey: signerKey.publicKey, commonName: 'Roads signer' },
    ...{ notBefore, notAfter, random: pooledBytes },
  });
  iacas = [iaca.pem];
  signer = {
    ...{ keyId: 'k', algorithm: 'P-256', publicJwk: signerKey.jwk, publicKey: signerKey.publicKey },
    sign: signerKey.signWith,
    signAside: () => Promise.reject(new Error('not used')),
    certificate: {
      x5c: [Buffer.from(made.der).toString('base64')],
      fingerprint: made.fingerprint,
      notBefore,
      notAfter,
    },
  };
});

const text = (name: string) => ({ mapFrom: `claims.${name}` });
const content: MdocContent = {
  claimMappings: {
    [NAMESPACE]: {
      family_name: text('family_name'),
      given_name: { ...text('given_name'), required: true },
      birth_date: { mapFrom: 'claims.birthdate', type: 'date' },
      issue_date: { mapFrom: 'claims.issued', type: 'dateTime' },
      expiry_date: { mapFrom: 'claims.expires', type: 'date' },
      issuing_country: { defaultValue: 'AU' },
      issuing_authority: { defaultValue: 'Roads' },
      document_number: text('number'),
      portrait: { mapFrom: 'claims.picture', type: 'binary' },
      driving_privileges: { mapFrom: 'claims.privileges', type: 'array' },
      un_distinguishing_sign: { defaultValue: 'AUS' },
      nationality: text('nationality'),
    },
    [OWN]: { points: { mapFrom: 'claims.points', type: 'number', defaultValue: 0 } },
  },
  expiresIn: { days: 30 },
  branding: { name: 'Licence', issuerLogo: 'https://roads.example/logo.png', backgroundColor: '#a1b2c3' },
};
const claims: Record<string, unknown> = {
  ...{ family_name: 'Lovelace', given_name: 'Ada', birthdate: '1990-12-10', issued: '2024-01-31T12:00:00+01:00' },
  ...{ expires: '2034-01-31', number: 'L1', picture: 'AQID' },
  privileges: [{ vehicle_category_code: 'B', issue_date: '2020-01-31' }],
};
const configuration = (
  changed: Partial<MdocContent> = {},
  type = MDL,
): CredentialFacts<MdocContent>['configuration'] => ({
  ...{ status: 'active', id: 'c1', format: 'mso_mdoc', type, createdAt: '2026-01-01T00:00:00.000Z', version: 1 },
  content: { ...content, ...changed },
});
const facts = (
  more: Partial<CredentialFacts<MdocContent>> = {},
  changed: Partial<MdocContent> = {},
  from: Record<string, unknown> = claims,
): CredentialFacts<MdocContent> => {
  const made = more.configuration ?? configuration(changed);
  return {
    ...{ credentialId: '11111111-1111-4111-8111-111111111111', issuer: 'https://roads.example', signer, time: now },
    ...{ holder: { did: 'did:example:holder', publicJwk: device.jwk }, random: pooledBytes },
    configuration: made,
    claims: more.claims ?? format.mapClaims(made, { claims: from }),
    ...more,
  };
};
const issue = async (one = facts()): Promise<string> => (await format.sign('t1', [format.prepare(one)], signer))[0]!;
const refusal = (run: () => unknown): [string, string, string | undefined] => {
  try {
    run();
  } catch (error) {
    const { code, message, check } = error as AppError;
    return [code, message, check];
  }
  throw new Error('it was not refused');
};
const CHECK = 'formats/mso-mdoc';
const denied = (message: string) => ['credential_request_denied', message, CHECK];

// A Buffer would be decoded to Buffers, which the library encodes as objects.
const read = <T>(bytes: Uint8Array): T => decode<T>(new Uint8Array(bytes), { ignoreGlobalTags: true });
const parse = (credential: string) => {
  const { nameSpaces, issuerAuth } = read<{
    nameSpaces: Record<string, Tag[]>;
    issuerAuth: [Uint8Array, Map<number, Uint8Array>, Uint8Array, Uint8Array];
  }>(Buffer.from(credential, 'base64url'));
  const [header, unprotected, payload, signature] = issuerAuth;
  const security = read<{
    docType: string;
    valueDigests: Record<string, Map<number, Uint8Array>>;
    deviceKeyInfo: { deviceKey: Map<number, unknown> };
    validityInfo: Record<string, Tag>;
  }>(read<Tag>(payload).contents as Uint8Array);
  return { nameSpaces, header, unprotected, payload, signature, security };
};
const times = (credential: string) =>
  Object.fromEntries(
    Object.entries(parse(credential).security.validityInfo).map(([name, { contents }]) => [name, contents]),
  );

describe('mso_mdoc', () => {
  it('is accepted by an independent verifier: chain, signature, digests, validity and device key', async () => {
    const verified = await verifyMdoc({ credential: await issue(), docType: MDL, deviceKey: device.privateJwk, iacas });
    const { portrait, birth_date, ...others } = verified[NAMESPACE]!;
    expect(Buffer.from(portrait as Uint8Array)).toEqual(Buffer.from([1, 2, 3]));
    expect((birth_date as Date).toISOString()).toMatch(/^1990-12-10/);
    expect(others).toMatchObject({ family_name: 'Lovelace', given_name: 'Ada', issuing_country: 'AU' });
    expect(others).not.toHaveProperty('nationality');
    expect(verified[OWN]).toEqual({ points: 0 });
    await expect(
      verifyMdoc({ credential: await issue(), docType: MDL, deviceKey: keyPair().privateJwk, iacas }),
    ).rejects.toThrow('Device signature must be valid');
  });

  it('is signed with ES256 by the document signer, whose certificate alone it contains', async () => {
    const { header, unprotected, payload, signature, security } = parse(await issue());
    expect(Buffer.from(header).toString('hex')).toBe('a10126');
    expect(unprotected).toEqual(new Map([[33, new Uint8Array(Buffer.from(signer.certificate.x5c[0]!, 'base64'))]]));
    const structure = encode(['Signature1', header, new Uint8Array(), payload], cdeEncodeOptions);
    expect(verify('sha256', structure, { key: signerKey.publicKey, dsaEncoding: 'ieee-p1363' }, signature)).toBe(true);
    expect(security.docType).toBe(MDL);
    expect(Buffer.from(security.deviceKeyInfo.deviceKey.get(-2) as Uint8Array).toString('base64url')).toBe(
      device.jwk.x,
    );
  });

  it('refers to its entry in a status list, or has an identifier in an identifier list [T202]', async () => {
    const status = (credential: string) => (parse(credential).security as { status?: unknown }).status;
    const uri = 'https://acme.example/v2/credentials/mobile/status-lists/1/token';
    expect(status(await issue(facts({ status: { index: 7, uri } })))).toEqual({ status_list: { idx: 7, uri } });
    expect(status(await issue())).toBeUndefined();
    const identified = facts({ status: { index: 7, uri } }, { statusMechanism: 'identifier_list' });
    const id = listIdentifier(uri, 7);
    expect(status(await issue(identified))).toEqual({ identifier_list: { id, uri } });
  });

  it('has the digests that are stored of it, which show no value', async () => {
    const prepared = format.prepare(facts());
    const { nameSpaces, payload, security } = parse((await format.sign('t1', [prepared], signer))[0]!);
    const { namespaces, msoHash } = prepared.digests!;
    expect(msoHash).toBe(createHash('sha256').update(payload).digest('base64url'));
    for (const [namespace, items] of Object.entries(nameSpaces))
      for (const item of items) {
        const { digestID, elementIdentifier } = read<{ digestID: number; elementIdentifier: string }>(
          item.contents as Uint8Array,
        );
        const digest = createHash('sha256').update(encode(item, cdeEncodeOptions)).digest();
        expect(namespaces[namespace]![elementIdentifier]).toEqual({ digestID, digest: digest.toString('base64url') });
        expect(Buffer.from(security.valueDigests[namespace]!.get(digestID)!)).toEqual(digest);
      }
    expect(Object.keys(namespaces[NAMESPACE]!)).toHaveLength(11);
    expect(JSON.stringify(prepared.digests)).not.toContain('Lovelace');
  });

  it('is prepared from its facts alone', () => {
    const random = (length: number) => Buffer.alloc(length, 7);
    const one = format.prepare(facts({ random }));
    const other = new MsoMdoc().prepare(facts({ random }));
    expect(Buffer.from(one.prepared.toBeSigned)).toEqual(Buffer.from(other.prepared.toBeSigned));
    expect(one.digests).toEqual(other.digests);
    expect(one).toMatchObject({ credentialId: facts().credentialId, holderKey: device.jwk, validFrom: hoursLater(0) });
    expect(format.prepare(facts()).digests).not.toEqual(one.digests);
  });
});

describe('the times of an mso_mdoc', () => {
  const at = (date: Date) => `${date.toISOString().slice(0, 19)}Z`;
  const midnight = (date: Date) => `${date.toISOString().slice(0, 10)}T00:00:00Z`;
  const mappedTimes = { validFrom: text('from'), validUntil: text('until') };
  const issued = async (more: Record<string, unknown>, changed: Partial<MdocContent> = mappedTimes) =>
    times(await issue(facts({}, changed, { ...claims, ...more })));

  it('follow from expiresIn, rounded', async () => {
    expect(await issued({}, {})).toEqual({
      signed: at(hoursLater(0)),
      validFrom: at(hoursLater(0)),
      validUntil: midnight(new Date(now.getTime() + 30 * 24 * HOUR)),
    });
    expect(await issued({}, { expiresIn: { hours: 5 } })).toMatchObject({ validUntil: at(hoursLater(5)) });
  });

  it('are mapped from claims, which win over expiresIn, and default to it', async () => {
    const [from, until] = [hoursLater(24 * 3), hoursLater(24 * 60)];
    expect(await issued({ from: at(from), until: at(until) })).toEqual({
      signed: at(hoursLater(0)),
      validFrom: at(from),
      validUntil: midnight(until),
    });
    const dates = { from: from.toISOString().slice(0, 10), until: until.toISOString().slice(0, 10) };
    expect(await issued(dates)).toMatchObject({ validFrom: midnight(from), validUntil: midnight(until) });
    expect(await issued({ from: at(hoursLater(-24 * 9)) })).toMatchObject({ validFrom: at(hoursLater(0)) });
    expect(await issued({})).toMatchObject({ validUntil: midnight(new Date(now.getTime() + 30 * 24 * HOUR)) });
  });

  it.each(['tomorrow', '2026-13-01', 5, ['2026-01-31'], { a: 1 }])('are never guessed: %j', (from) =>
    expect(refusal(() => facts({}, mappedTimes, { ...claims, from }))).toEqual(
      denied(
        'validFrom must have a date such as 2026-01-31, or a date and time with offset such as 2026-01-31T12:00:00Z',
      ),
    ),
  );

  it('are denied, never shortened, where they exceed the longest lifetime or the signer', () => {
    const days = (count: number, type = MDL) =>
      refusal(() => format.prepare(facts({ configuration: configuration({ expiresIn: { days: count } }, type) })));
    expect(days(429)).toEqual(denied('validUntil must be at most 427 days after validFrom'));
    expect(days(500, 'org.example.card')).toEqual(
      denied('validUntil must not be later than the end of the certificate of the signer'),
    );
    expect(days(3622, 'org.example.card')).toEqual(denied('validUntil must be at most 3620 days after validFrom'));
    expect(refusal(() => format.prepare(facts({ time: signer.certificate.notAfter })))).toEqual(
      denied('the certificate of the signer is not valid at this time'),
    );
  });

  it('are refused when they are offered, where they are known and no credential could have them [T620]', () => {
    const until = (days: number) => at(hoursLater(24 * days)).slice(0, 10);
    const refused = (
      from: Parameters<typeof format.timesFaultOf>[1],
      changed: Partial<MdocContent> = mappedTimes,
      more: { areComplete?: boolean; signerEnd?: Date } = {},
    ) => format.timesFaultOf(configuration(changed), from, { now, areComplete: true, ...more });
    const longest = { of: 'claims', msg: 'validUntil must be at most 427 days after validFrom' };
    const ended = { of: 'claims', msg: 'validUntil must be later than validFrom, rounded down to the hour' };
    expect(refused({ claims: { until: until(400) } })).toBeUndefined();
    expect(refused({ claims: { until: '2050-01-01' } })).toEqual(longest);
    expect(refused({ claims: { until: until(600), from: until(300) } })).toBeUndefined();
    expect(refused({ claims: { until: '2020-01-01' } })).toEqual(ended);
    // `expiresIn` counts from issuance.
    expect(refused({ claims: { from: until(31) } })).toEqual(ended);
    expect(refused({ claims: { from: until(20) } })).toBeUndefined();
    expect(refused({ claims: {} })).toBeUndefined();

    // A claim that may follow decides.
    for (const open of [
      refused({ claims: {} }, { ...mappedTimes, expiresIn: { years: 10 } }, { areComplete: false }),
      refused({ claims: { until: '2050-01-01' } }, mappedTimes, { areComplete: false }),
      refused({ claims: { until: '2050-01-01' }, finalClaims: new Set() }),
    ])
      expect(open).toBeUndefined();
    const untilOnly = { validUntil: text('until') };
    expect(refused({ claims: { until: '2050-01-01' } }, untilOnly, { areComplete: false })).toEqual(longest);
    expect(refused({ claims: { until: '2050-01-01' }, finalClaims: new Set(['until']) }, untilOnly)).toEqual(longest);

    // The configuration was stored before the limit.
    expect(refused({ claims: {} }, { expiresIn: { years: 10 } })).toEqual({
      of: 'configuration',
      msg: `expiresIn must be at most 427 days, for which the certificate of every signer is valid; it can be 3653 days`,
    });
    expect(refused({ claims: { until: until(400) } }, { ...untilOnly, expiresIn: { years: 10 } })).toBeUndefined();

    // A signer that ends with its IACA.
    const signerEnd = hoursLater(24 * 10);
    const msg = 'validUntil must not be later than the end of the certificate of the signer';
    expect(refused({ claims: {} }, {}, { signerEnd })).toEqual({ of: 'configuration', msg: `expiresIn: ${msg}` });
    expect(refused({ claims: { until: until(20) } }, untilOnly, { signerEnd })).toEqual({ of: 'claims', msg });
    expect(refused({ claims: { until: until(9) } }, untilOnly, { signerEnd })).toBeUndefined();
  });

  it('are denied where the end is not after the beginning', () =>
    expect(refusal(() => format.prepare(facts({}, mappedTimes, { ...claims, until: at(hoursLater(-1)) })))).toEqual(
      denied('validUntil must be later than validFrom, rounded down to the hour'),
    ));

  it('link no copies: those of an hour are alike, whatever they are mapped from', () =>
    fc.assert(
      fc.property(fc.nat(HOUR - 1), fc.nat(HOUR - 1), fc.nat(23), (one, other, hours) => {
        const start = hoursLater(1);
        const issuedAt = (offset: number) => {
          const { validFrom, validUntil } = format.prepare(
            facts({ time: new Date(start.getTime() + offset) }, { expiresIn: { hours: hours + 2 } }),
          );
          expect([validFrom, validUntil!].map((date) => date.getTime() % HOUR)).toEqual([0, 0]);
          return validFrom.getTime();
        };
        expect(issuedAt(one)).toBe(issuedAt(other));
      }),
      { numRuns: 20 },
    ));
});

describe('the claims of an mso_mdoc', () => {
  it('are denied without a required one, and without a mandatory one of an mDL', () => {
    const { given_name: _, ...nameless } = claims;
    expect(refusal(() => format.mapClaims(configuration(), { claims: nameless }))).toEqual([
      'credential_request_denied',
      'the required claim org.iso.18013.5.1 given_name has no value',
      'map-claims',
    ]);
    const { number: __, ...unnumbered } = claims;
    expect(refusal(() => format.mapClaims(configuration(), { claims: unnumbered }))).toEqual(
      denied('org.iso.18013.5.1 document_number has no value, but is mandatory for org.iso.18013.5.1.mDL'),
    );
    expect(() => format.mapClaims(configuration({}, 'org.example.card'), { claims: unnumbered })).not.toThrow();
  });

  it('are denied where their types cannot express them; the values are not shown', () => {
    const wrong = { ...claims, birthdate: 'canary' };
    expect(refusal(() => format.prepare(facts({}, {}, wrong)))).toEqual(
      denied('org.iso.18013.5.1 birth_date must be a date such as 2026-01-31, not another string'),
    );
    const only = configuration({ claimMappings: { [OWN]: { points: text('points') } } }, 'org.example.card');
    expect(refusal(() => format.mapClaims(only, { claims: {} }))).toEqual(
      denied(`${OWN} points has no value, and no other element has one: an mdoc has at least one element`),
    );
  });

  it('are refused in an offer that could never be redeemed', async () => {
    expect(await faultOf(configuration(), { claims: { given_name: 'Ada', unused: 1 } })).toBeUndefined();
    expect(await faultOf(configuration(), { claims: { birthdate: 'canary' } })).toBe(
      'org.iso.18013.5.1 birth_date must be a date such as 2026-01-31',
    );
    expect(await faultOf(configuration({ validUntil: text('until') }), { claims: { until: 'canary' } })).toBe(
      'validUntil must have a date such as 2026-01-31, or a date and time with offset such as 2026-01-31T12:00:00Z',
    );
  });

  it('are not refused for elements that a claims source may supply, only for those that it cannot [T435]', async () => {
    const pending = (...names: string[]) => ({ claims: { birthdate: 'canary' }, finalClaims: new Set(names) });
    const until = configuration({ validUntil: text('until') });
    for (const one of [configuration(), until]) {
      expect(await faultOf(one, pending())).toBeUndefined();
      expect(() => format.mapClaims(one, pending())).not.toThrow();
    }
    expect(await faultOf(configuration(), pending('birthdate'))).toBe(
      'org.iso.18013.5.1 birth_date must be a date such as 2026-01-31',
    );
    const wrongTime = { claims: { until: 'canary' }, finalClaims: new Set(['until']) };
    expect(await faultOf(until, wrongTime)).toMatch(/^validUntil must have a date/);
    expect(refusal(() => format.mapClaims(configuration(), pending('given_name')))).toEqual([
      'credential_request_denied',
      'the required claim org.iso.18013.5.1 given_name has no value',
      'map-claims',
    ]);
    expect(refusal(() => format.mapClaims(configuration(), pending('number')))).toEqual(
      denied('org.iso.18013.5.1 document_number has no value, but is mandatory for org.iso.18013.5.1.mDL'),
    );
    const only = configuration({ claimMappings: { [OWN]: { points: text('points') } } }, 'org.example.card');
    expect(() => format.mapClaims(only, pending())).not.toThrow();
    expect(refusal(() => format.mapClaims(only, pending('points')))).toEqual(
      denied(`${OWN} points has no value, and no other element has one: an mdoc has at least one element`),
    );
  });

  const many = (count: number, from: string, type: 'string' | 'array' = 'string') =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`e${n}`, { ...text(from), type }]));
  it.each<[string, MdocContent['claimMappings'], unknown, string, string]>([
    ['one text', { [OWN]: many(100, 'x') }, 'canary'.repeat(1000), `${OWN} e10`, 'exceed 65536 characters in total'],
    ['one array', { [OWN]: many(100, 'x', 'array') }, Array(10).fill(1), `${OWN} e90`, 'exceed 1000 values in total'],
    [
      'one text in several namespaces',
      { [OWN]: many(10, 'x'), 'org.example.2': many(10, 'x') },
      'x'.repeat(4000),
      'org.example.2 e6',
      'exceed 65536 characters in total',
    ],
  ])(
    'are bounded where %s is mapped to many elements, before they are prepared',
    async (_, claimMappings, x, element, limit) => {
      const copied = configuration({ claimMappings }, 'org.example.card');
      const fault = `${element} must not make the claims of the credential ${limit}`;
      expect(refusal(() => format.mapClaims(copied, { claims: { x } }))).toEqual(denied(fault));
      expect(await faultOf(copied, { claims: { x } })).toBe(fault);
      const sourced = { claims: { x }, finalClaims: new Set<string>() };
      expect(await faultOf(copied, sourced)).toBeUndefined();
      expect(await faultOf(copied, { ...sourced, finalClaims: new Set(['x']) })).toBe(fault);
    },
  );

  it('may have 192 KiB in binary elements, beside the characters of the rest [T586]', async () => {
    const binary = { ...text('picture'), type: 'binary' as const };
    const many = configuration(
      { claimMappings: { [OWN]: { note: text('note'), picture: binary, more: { ...text('more'), type: 'binary' } } } },
      'org.example.card',
    );
    const of = (bytes: number, rest = 0) => ({
      note: 'n'.repeat(65_000),
      picture: Buffer.alloc(bytes).toString('base64url'),
      ...(rest && { more: Buffer.alloc(rest).toString('base64') }),
    });
    for (const fitting of [of(60_000), of(196_608), of(196_600, 8)]) {
      expect(await faultOf(many, { claims: fitting })).toBeUndefined();
      const mapped = format.mapClaims(many, { claims: fitting });
      const made = await issue(facts({ configuration: many, claims: mapped as never }));
      expect(made.length).toBeLessThan(384 * 1024);
      expect(documentSizeFault(format, mapped)).toBeUndefined();
    }
    const limit = 'must not make the claims of the credential exceed 196608 bytes in the binary elements in total';
    for (const [claims, at] of [
      [of(196_609), 'picture'],
      [of(196_600, 9), 'more'],
    ] as const) {
      const fault = `${OWN} ${at} ${limit}`;
      expect(await faultOf(many, { claims })).toBe(fault);
      expect(refusal(() => format.mapClaims(many, { claims }))).toEqual(denied(fault));
    }
    expect(await faultOf(many, { claims: { ...of(60_000), note: 'n'.repeat(65_537) } })).toBe(
      `${OWN} note must not make the claims of the credential exceed 65536 characters in total`,
    );
  });

  it('have 65,536 characters, names of elements included and each namespace once, and not one more [T646]', async () => {
    const elements = { a: text('x'), b: text('x'), c: text('y') };
    const bounded = configuration({ claimMappings: { [OWN]: elements } }, 'org.example.card');
    const most = 65_536 - OWN.length - Object.keys(elements).join('').length;
    const of = (rest: number) => ({ claims: { x: 'x'.repeat(1000), y: 'y'.repeat(rest) } });
    expect(await faultOf(bounded, of(most - 2000))).toBeUndefined();
    expect(() => format.mapClaims(bounded, of(most - 2000))).not.toThrow();
    const fault = `${OWN} c must not make the claims of the credential exceed 65536 characters in total`;
    expect(await faultOf(bounded, of(most - 1999))).toBe(fault);
    expect(refusal(() => format.mapClaims(bounded, of(most - 1999)))).toEqual(denied(fault));
  });

  it('may be as large as those of one user', async () => {
    const picture = Buffer.alloc(48_000).toString('base64url');
    const credential = await issue(facts({}, {}, { ...claims, picture }));
    expect(parse(credential).nameSpaces[NAMESPACE]).toHaveLength(11);
    expect(await faultOf(configuration(), { claims: { picture } })).toBeUndefined();
  });

  it('need a signer with a certificate', () => {
    const { certificate: _, ...key } = signer;
    expect(() => format.prepare(facts({ signer: key }))).toThrow('key k has no certificate');
  });
});

describe('the metadata of an mso_mdoc', () => {
  const shown = {
    name: 'Licence',
    logo: { uri: 'https://roads.example/logo.png' },
    background_color: '#a1b2c3',
  };

  it('have COSE identifiers, the document type and paths of namespace and element', () => {
    const { supported, legacy } = format.metadataOf(configuration());
    expect(supported).toEqual({
      doctype: MDL,
      cryptographic_binding_methods_supported: ['cose_key'],
      credential_signing_alg_values_supported: [-7],
      proof_types_supported: { jwt: { proof_signing_alg_values_supported: ['ES256'] } },
      credential_metadata: {
        display: [shown],
        claims: [
          ...Object.keys(content.claimMappings[NAMESPACE]!).map((element) => ({
            path: [NAMESPACE, element],
            mandatory: element !== 'nationality',
          })),
          { path: [OWN, 'points'], mandatory: false },
        ],
      },
    });
    expect(legacy).toEqual({
      doctype: MDL,
      cryptographic_binding_methods_supported: ['mso'],
      cryptographic_suites_supported: ['ES256'],
      display: [shown],
    });
  });

  it('have the entries of display, which win over branding, and the type without either', () => {
    const display = [{ locale: 'DE', name: 'Führerschein' }];
    expect(format.metadataOf(configuration({ display })).legacy['display']).toEqual([
      { ...shown, locale: 'de', name: 'Führerschein' },
    ]);
    expect(format.metadataOf(configuration({ branding: undefined })).legacy['display']).toEqual([{ name: MDL }]);
  });
});

describe('values that ISO/IEC 18013-5 does not allow for an element', () => {
  const height = { mapFrom: 'claims.height', type: 'number' as const };
  const claimMappings = { ...content.claimMappings, [NAMESPACE]: { ...content.claimMappings[NAMESPACE], height } };
  it.each<[string, Record<string, unknown>, string, RegExp]>([
    ['a fraction of a uint', { height: 180.5 }, 'height', /^must be a whole number of at least 0/],
    ['a negative uint', { height: -1 }, 'height', /^must be a whole number of at least 0/],
    [
      'no full-date',
      { privileges: [{ issue_date: '2020' }] },
      'driving_privileges',
      /^must have a date such as 2026-01-31 in 0\.issue_date/,
    ],
  ])('are found by the check and denied: %s [T691, T692]', async (_, faulty, element, msg) => {
    const from = { ...claims, ...faulty };
    const claim = `${NAMESPACE} ${element}`;
    const found = await format.check('t1', configuration({ claimMappings }), { claims: from });
    expect(found).toEqual({ claim, msg: expect.stringMatching(msg) });
    const made = facts({}, { claimMappings }, from);
    expect(refusal(() => format.prepare(made))).toEqual(denied(`${claim} ${found!.msg}`));
  });
});
