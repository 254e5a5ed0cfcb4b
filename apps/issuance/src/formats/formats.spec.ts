import type { ErrorDetail, WebSemanticConfigurationRequest } from '@attestry/contracts';
import type { PinnedIssuerKey } from '../settings/credential-configuration/credential-configuration.events.js';
import { checkRequest, requestedDid } from './format.js';
import { Cwt } from './cwt/cwt.js';
import { CwtVc } from './cwt-vc/cwt-vc.js';
import { DcSdJwt } from './dc-sd-jwt/dc-sd-jwt.js';
import { Formats } from './formats.js';
import { JwtVcJson } from './jwt-vc-json/jwt-vc-json.js';
import { checkProofTypeChange, ldpVcContentOf, trialOf } from './ldp-vc/ldp-vc.decisions.js';
import { LdpVc } from './ldp-vc/ldp-vc.js';
import { MsoMdoc } from './mso-mdoc/mso-mdoc.js';
import { vcContentOf } from './vc-configuration.decisions.js';

// No test here canonicalizes or fetches.
const unused = undefined as never;
const formats = new Formats([
  new LdpVc(unused, unused, unused, unused, unused),
  new JwtVcJson(),
  new DcSdJwt(unused),
  new Cwt(),
  new CwtVc(),
  new MsoMdoc(),
]);
const { byName } = formats;
const ofCall = (operation: string) => formats.ofCall({ operation });

const id = '11111111-1111-4111-8111-111111111111';
const issuerKey: PinnedIssuerKey = {
  did: 'did:web:acme.example',
  verificationMethod: 'did:web:acme.example#k1',
  kmsKeyId: '22222222-2222-4222-8222-222222222222',
  algorithm: 'P-256',
};
const request = (more: Partial<WebSemanticConfigurationRequest> = {}): WebSemanticConfigurationRequest => ({
  type: 'Membership',
  name: 'Membership',
  issuer: { name: 'Acme' },
  claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
  ...more,
});
const configurationFaults = (
  wanted: WebSemanticConfigurationRequest,
  format: 'ldp_vc' | 'jwt_vc_json',
): ErrorDetail[] => byName[format].faultsOf(wanted);

describe('what is stored of a configuration', () => {
  it('returns contexts and proof type only if the format has them', async () => {
    const content = vcContentOf(request(), []);
    const state = { status: 'active' as const, id, type: 'Membership', issuerKey, createdAt: '', version: 1 };
    expect(byName.jwt_vc_json.recordOf({ ...state, format: 'jwt_vc_json', content })).toEqual({
      id,
      type: 'Membership',
      additionalTypes: [],
      name: 'Membership',
      issuer: { name: 'Acme' },
      claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
      issuerDid: issuerKey.did,
      revocable: false,
      persist: false,
    });
    const contexts = [{ url: 'https://example.com/c', sha256: 'x' }];
    const recordOf = (more: object) =>
      byName.ldp_vc.recordOf({ ...state, format: 'ldp_vc', content: { ...content, ...{ contexts }, ...more } });
    expect(recordOf({})).toMatchObject({ contexts: ['https://example.com/c'], proofType: 'eddsa-rdfc-2022' });
    const old = ldpVcContentOf({ ...request({}), proofType: 'Ed25519Signature2018' }, contexts);
    expect(recordOf(old)).toMatchObject({ proofType: 'Ed25519Signature2018' });
    expect(ldpVcContentOf({ ...request({}), proofType: 'eddsa-rdfc-2022' }, [])).not.toHaveProperty('proofType');
    const ecdsa = ldpVcContentOf({ ...request({}), proofType: 'ecdsa-rdfc-2019' }, contexts);
    expect(recordOf(ecdsa)).toMatchObject({ proofType: 'ecdsa-rdfc-2019', persist: false });
    expect(recordOf(ldpVcContentOf(request({ persist: true }), contexts))).toMatchObject({ persist: true });
    for (const persist of [false, undefined])
      expect(ldpVcContentOf(request({ persist }), [])).not.toHaveProperty('persist');
  });

  it('has revocable only when it is true', async () => {
    const state = { status: 'active' as const, id, type: 'Membership', createdAt: '', version: 1 };
    const sdJwt = { ...request(), vct: 'urn:example:membership' };
    for (const [format, wanted] of [
      ['jwt_vc_json', request()],
      ['dc+sd-jwt', sdJwt],
    ] as const)
      for (const revocable of [undefined, false, true]) {
        const body = { ...wanted, ...(revocable !== undefined && { revocable }) };
        expect(byName[format].faultsOf(body)).toEqual([]);
        const content = await byName[format].contentOf(body, undefined, { tenant: { baseUrl: 'https://a' } } as never);
        expect(Object.hasOwn(content, 'revocable')).toBe(revocable === true);
        const record = byName[format].recordOf({ ...state, format, issuerKey, content });
        expect(record).toMatchObject({ revocable: revocable === true });
      }
    for (const revocable of [undefined, false, true]) {
      const content = ldpVcContentOf(request({ revocable }), []);
      expect(Object.hasOwn(content, 'revocable')).toBe(revocable === true);
      const record = byName.ldp_vc.recordOf({ ...state, format: 'ldp_vc', issuerKey, content });
      expect(record).toMatchObject({ revocable: revocable === true });
    }
  });

  it('is the same text in every release', async () => {
    const full = request({
      additionalTypes: ['Card'],
      description: 'd',
      credentialBranding: { backgroundColor: '#a1b2c3' },
      expiresIn: { days: 1 },
      maxIssuances: 2,
    });
    const common =
      '"additionalTypes":["Card"],"name":"Membership","description":"d","issuer":{"name":"Acme"},' +
      '"credentialBranding":{"backgroundColor":"#a1b2c3"},"claimMappings":{"given_name":{"mapFrom":"claims.given_name"}},' +
      '"expiresIn":{"days":1},"maxIssuances":2,"contexts":[]';
    const stored = await byName.jwt_vc_json.contentOf(full, undefined, unused);
    expect(JSON.stringify(stored)).toBe(`{${common}}`);
    expect(JSON.stringify(ldpVcContentOf({ ...full, proofType: 'Ed25519Signature2018' }, []))).toBe(
      `{${common},"proofType":"Ed25519Signature2018"}`,
    );
    const display = [{ locale: 'de', name: 'Mitgliedschaft' }];
    const branded = await byName.jwt_vc_json.contentOf({ ...full, display }, undefined, unused);
    expect(JSON.stringify(branded)).toBe(
      `{${common.replace('"claimMappings"', `"display":${JSON.stringify(display)},"claimMappings"`)}}`,
    );
  });
});

describe('rules of a configuration', () => {
  const params = (more: object, format: 'ldp_vc' | 'jwt_vc_json' = 'ldp_vc') =>
    configurationFaults(request(more as Partial<WebSemanticConfigurationRequest>), format).map(({ param }) => param);
  const mapping = (value: unknown, name = 'x') => ({ claimMappings: JSON.parse(JSON.stringify({ [name]: value })) });

  it('accepts a full request', () =>
    expect(
      params({
        additionalTypes: ['Card'],
        issuer: { name: 'Acme', logoUrl: 'https://acme.example/logo.png', iconUrl: 'data:image/png;base64,AAAA' },
        credentialBranding: { backgroundColor: '#a1b2c3', watermarkImageUrl: 'data:image/svg+xml,%3Csvg/%3E' },
        claimMappings: {
          a: { mapFrom: "claims['https://example.com/a'].b", required: true },
          b: { defaultValue: { nested: [1, true, 'x'] } },
          'https://example.com/c': { mapFrom: 'authenticationProvider.subjectId', defaultValue: false },
        },
        display: [
          { name: 'Membership', logo: { uri: 'data:image/png;base64,AAAA', alt_text: 'Acme' } },
          { locale: 'de-CH', background_image: { uri: 'https://acme.example/de.png' }, text_color: '#ffffff' },
        ],
        expiresIn: { years: 0, days: 1 },
        maxIssuances: 1,
        revocable: true,
        persist: false,
      }),
    ).toEqual([]));

  const AT = 'must not start with @';
  const IRI = 'must have only characters that are allowed in an IRI';
  const IMAGE = 'must be an https URL or a data URL of an image';
  const PATH_FAULT =
    "must have a path such as claims.name, claims['name'] or authenticationProvider.subjectId in mapFrom";
  it.each<[string, object, string]>([
    ['type', { type: 'VerifiableCredential' }, 'must not be VerifiableCredential'],
    ['type', { type: '@graph' }, AT],
    ['type', { type: 'a<b' }, IRI],
    ['additionalTypes.0', { additionalTypes: ['VerifiableCredential'] }, 'must not be VerifiableCredential'],
    ['additionalTypes.0', { additionalTypes: ['Membership'] }, 'must not repeat a type'],
    ['additionalTypes.1', { additionalTypes: ['Card', 'Card'] }, 'must not repeat a type'],
    ['issuer.logoUrl', { issuer: { name: 'A', logoUrl: 'http://acme.example/logo.png' } }, IMAGE],
    ['issuer.logoUrl', { issuer: { name: 'A', logoUrl: 'javascript:alert(1)' } }, IMAGE],
    ['issuer.iconUrl', { issuer: { name: 'A', iconUrl: 'data:text/html,<script>' } }, IMAGE],
    ['credentialBranding.watermarkImageUrl', { credentialBranding: { watermarkImageUrl: 'ftp://x.example' } }, IMAGE],
    ['display.0.logo.uri', { display: [{ logo: { uri: 'http://acme.example/logo.png' } }] }, IMAGE],
    [
      'display.1.background_image.uri',
      { display: [{}, { locale: 'de', background_image: { uri: 'javascript:x' } }] },
      IMAGE,
    ],
    ['display.2.locale', { display: [{ locale: 'de-CH' }, {}, { locale: 'DE-ch' }] }, 'must not repeat a language'],
    ['display.1.locale', { display: [{}, {}] }, 'is required: another entry has none'],
    ['expiresIn', { expiresIn: {} }, 'must be longer than 0'],
    ['expiresIn', { expiresIn: { days: 0, hours: 0 } }, 'must be longer than 0'],
    ['contexts.1', { contexts: ['https://a.example/c', 'https://a.example/c'] }, 'must not repeat a context'],
    [
      'claimMappings.id',
      mapping({ defaultValue: 1 }, 'id'),
      'is a reserved name: id of credentialSubject is the identifier of the holder',
    ],
    [
      'claimMappings.type',
      mapping({ defaultValue: 1 }, 'type'),
      'is a reserved name: type of credentialSubject is the kind of the subject',
    ],
    ['claimMappings.@type', mapping({ defaultValue: 1 }, '@type'), AT],
    ['claimMappings.given name', mapping({ defaultValue: 1 }, 'given name'), IRI],
    ['claimMappings._:b', mapping({ defaultValue: 1 }, '_:b'), IRI],
    ['claimMappings.', mapping({ defaultValue: 1 }, ''), 'must have a name of 1 to 1024 characters'],
    ['claimMappings.x', mapping('claims.x'), 'must be an object'],
    ['claimMappings.x', mapping(['claims.x']), 'must be an object'],
    ['claimMappings.x', mapping(null), 'must be an object'],
    ['claimMappings.x', mapping({}), 'must have mapFrom or defaultValue'],
    ['claimMappings.x', mapping({ required: true }), 'must have mapFrom or defaultValue'],
    ['claimMappings.x', mapping({ mapFrom: 1 }), PATH_FAULT],
    ['claimMappings.x', mapping({ mapFrom: 'claims' }), PATH_FAULT],
    [
      'claimMappings.x',
      mapping({ mapFrom: 'claims.https://acme.example/x' }),
      "must have claims['https://acme.example/x'] in mapFrom: a name with dots is quoted",
    ],
    [
      'claimMappings.x',
      mapping({ mapFrom: 'claims.list[0]', defaultValue: 1 }),
      'must have claims.list in mapFrom, for the whole list, as lists have no index',
    ],
    [
      'claimMappings.achievement.name',
      mapping({ mapFrom: 'claims.x' }, 'achievement.name'),
      "must not have dots, which would become part of the claim's name: map achievement to an object with the member name",
    ],
    [
      'claimMappings.a.b-2.c_d',
      mapping({ mapFrom: 'claims.x' }, 'a.b-2.c_d'),
      "must not have dots, which would become part of the claim's name: map a to an object with the member b-2",
    ],
    ['claimMappings.x', mapping({ mapFrom: 'user.name' }), PATH_FAULT],
    ['claimMappings.x', mapping({ mapFrom: 'claims.x', required: 'yes' }), 'must have true or false in required'],
    [
      'claimMappings.x',
      mapping({ mapFrom: 'claims.x', type: 'string' }),
      'must not have the member type; allowed: mapFrom, defaultValue, required and display',
    ],
    ['claimMappings.x', mapping({ defaultValue: null }), 'must not have a null defaultValue'],
    [
      'claimMappings.x',
      mapping({ defaultValue: { a: [{ '@context': 'https://evil.example' }] } }),
      'must not have JSON-LD keywords in defaultValue',
    ],
    [
      'claimMappings',
      { claimMappings: Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`c${i}`, {}])) },
      'must have at most 200 entries',
    ],
    ['claimMappings', mapping({ defaultValue: 'é'.repeat(33_000) }), 'must be at most 64 KiB of JSON'],
  ])('refuses %s in %j: %s', (param, more, msg) => {
    const found = configurationFaults(request(more as Partial<WebSemanticConfigurationRequest>), 'ldp_vc');
    expect(found).toEqual([expect.objectContaining({ param, msg, location: 'body' })]);
  });

  const body = (param: string, msg: string, value?: unknown) => ({
    msg,
    param,
    location: 'body',
    ...(value !== undefined && { value }),
  });
  const twice = 'https://a.example/c';
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`c${n}`, { defaultValue: n }]));
  it.each([
    [{ type: 'VerifiableCredential' }, body('type', 'must not be VerifiableCredential', 'VerifiableCredential')],
    [{ additionalTypes: ['Card', 'Card'] }, body('additionalTypes.1', 'must not repeat a type', 'Card')],
    [{ type: '@graph' }, body('type', 'must not start with @', '@graph')],
    [{ type: 'a<b' }, body('type', 'must have only characters that are allowed in an IRI', 'a<b')],
    [
      { issuer: { name: 'A', logoUrl: 'http://acme.example/' } },
      body('issuer.logoUrl', 'must be an https URL or a data URL of an image'),
    ],
    [
      { display: [{ logo: { uri: 'x' } }, { locale: 'de' }, { locale: 'de' }] },
      body('display.2.locale', 'must not repeat a language'),
      body('display.0.logo.uri', 'must be an https URL or a data URL of an image'),
    ],
    [{ display: [{}, { name: 'A' }] }, body('display.1.locale', 'is required: another entry has none')],
    [{ claimMappings: many(201) }, body('claimMappings', 'must have at most 200 entries')],
    [mapping({ defaultValue: 'é'.repeat(33_000) }), body('claimMappings', 'must be at most 64 KiB of JSON')],
    [{ expiresIn: { days: 0 } }, body('expiresIn', 'must be longer than 0', { days: 0 })],
    [{ contexts: [twice, twice] }, body('contexts.1', 'must not repeat a context', twice)],
    [mapping({ defaultValue: 1 }, ''), body('claimMappings.', 'must have a name of 1 to 1024 characters')],
    [mapping(1), body('claimMappings.x', 'must be an object')],
  ] as [object, ...ErrorDetail[]][])('names the fault in %j', (more, ...details) => {
    const found = configurationFaults(request(more), 'ldp_vc');
    expect(found).toHaveLength(details.length);
    expect(found).toEqual(expect.arrayContaining(details));
  });

  it('refuses __proto__ as the name of a claim', () =>
    expect(params({ claimMappings: JSON.parse('{"__proto__":{"defaultValue":1}}') })).toEqual([
      'claimMappings.__proto__',
    ]));

  it('accepts the longest name, the largest number of mappings and null for absent members', () => {
    expect(params(mapping({ defaultValue: 1 }, 'n'.repeat(1024)))).toEqual([]);
    expect(params(mapping({ defaultValue: 1 }, 'n'.repeat(1025)))).toEqual([`claimMappings.${'n'.repeat(1025)}`]);
    expect(params({ claimMappings: many(200) })).toEqual([]);
    expect(params({ claimSourceId: null })).toEqual([]);
  });

  // Each character with the bytes that UTF-8 has for it, up to the limit and one byte beyond.
  it.each(['a', '\u007f', '\u0080', 'é', '\u07ff', '\u0800', '€', '\uffff', '\u{10000}', '😀'])(
    'counts %j as UTF-8 towards the size of the mappings',
    (character) => {
      const text = (value: string) => ({ x: { defaultValue: value } });
      const frame = Buffer.byteLength(JSON.stringify(text('')));
      const size = Buffer.byteLength(character);
      const fill = character.repeat(Math.floor((65_536 - frame) / size));
      const padded = fill + 'a'.repeat((65_536 - frame) % size);
      expect(params({ claimMappings: text(padded) }, 'jwt_vc_json')).toEqual([]);
      expect(params({ claimMappings: text(`${padded}a`) }, 'jwt_vc_json')).toEqual(['claimMappings']);
    },
  );

  it.each([
    ['data:image/png;base64,AAAA', true],
    ['data:image/svg+xml;charset=utf-8;base64,AAAA', true],
    ['data:image/svg+xml;charset=utf-8,%3Csvg/%3E', true],
    ['data:image/png;charset=!!,AAAA', false],
    ['data:image/png;!!=utf-8,AAAA', false],
    ['data:image/png;base64,AA AA', false],
    ['x data:image/png;base64,AAAA', false],
    ['https://acme.example/a b', false],
    ['http://acme.example/?to=https://acme.example/', false],
    ['https://acme.example:port/', false],
  ])('accepts %s as the URL of an image: %s', (logoUrl, accepted) =>
    expect(params({ issuer: { name: 'A', logoUrl } })).toEqual(accepted ? [] : ['issuer.logoUrl']),
  );

  it('bounds linked data, and refuses its keywords, only for linked data formats', () => {
    const deep = mapping({ defaultValue: JSON.parse(`${'['.repeat(100)}1${']'.repeat(100)}`) });
    const [fault] = configurationFaults(request(deep), 'ldp_vc');
    expect(fault).toMatchObject({
      param: 'claimMappings.x',
      msg: expect.stringContaining('must not have a defaultValue that makes claims '),
    });
    expect(params(deep, 'jwt_vc_json')).toEqual([]);
    expect(params(mapping({ defaultValue: { '@id': 'x' } }), 'jwt_vc_json')).toEqual([]);
    expect(params(mapping({ defaultValue: [1, { a: 1, '@id': 'x' }] }))).toEqual(['claimMappings.x']);
    expect(params(mapping({ defaultValue: { a: null } }))).toEqual([]);
    expect(params({ type: 'a<b' }, 'jwt_vc_json')).toEqual([]);
  });

  it('shortens the unknown member that it names', () =>
    expect(configurationFaults(request(mapping({ ['m'.repeat(200)]: 1 })), 'ldp_vc')[0]?.msg).toBe(
      `must not have the member ${'m'.repeat(100)}; allowed: mapFrom, defaultValue, required and display`,
    ));

  it('throws the faults, or nothing', () => {
    expect(() => checkRequest(byName.ldp_vc, request())).not.toThrow();
    expect(() => checkRequest(byName.ldp_vc, request({ expiresIn: { days: 0 } }))).toThrow(
      expect.objectContaining({ kind: 'invalid', details: [body('expiresIn', 'must be longer than 0', { days: 0 })] }),
    );
  });

  it('applies contexts to every type and claim that a credential will have', () => {
    expect(trialOf(request({ additionalTypes: ['Card'], proofType: 'Ed25519Signature2018' }))).toEqual({
      types: ['Membership', 'Card'],
      claims: ['given_name'],
      defaults: {},
      proofType: 'Ed25519Signature2018',
    });
    expect(trialOf(request()).types).toEqual(['Membership']);
  });

  it('names the unknown member of a mapping and those that are allowed', () =>
    expect(configurationFaults(request(mapping({ mapForm: 'claims.x' })), 'ldp_vc')).toEqual([
      {
        msg: 'must not have the member mapForm; allowed: mapFrom, defaultValue, required and display',
        param: 'claimMappings.x',
        location: 'body',
      },
    ]));

  it('accepts names with white space when no IRI is derived from them', () =>
    expect(params(mapping({ defaultValue: 1 }, 'given name'), 'jwt_vc_json')).toEqual([]));

  it('reports every fault at once', () =>
    expect(params({ expiresIn: {}, type: '@type' })).toEqual(['type', 'expiresIn']));

  it('keeps credentials only of formats that persist them', () => {
    expect(params({ persist: true })).toEqual([]);
    expect(configurationFaults(request({ persist: true }), 'jwt_vc_json')).toEqual([
      body('persist', 'is not supported yet', true),
    ]);
  });

  it('never repeats a mapping in the details', () =>
    expect(
      JSON.stringify(configurationFaults(request(mapping({ defaultValue: null, x: 'canary' })), 'ldp_vc')),
    ).not.toContain('canary'));
});

const didWeb = { kind: 'pinnedKey', algorithms: ['P-256'], method: 'web', member: 'issuer' };

describe('the formats', () => {
  it('have a profile each, keys that can sign, best first, or certificates, and maybe status lists', () => {
    const status = { kind: 'tokenStatusList', tokenType: 'jwt', size: 131_072 };
    const revocation = 'reversible';
    const ofCwt = (revocationLists: string) => ({
      ...{ signer: didWeb, revocation },
      status: { ...status, tokenType: 'cose', revocationLists },
    });
    expect(Object.values(byName).map(({ format, profile, resources }) => [format, profile, resources])).toEqual([
      [
        'ldp_vc',
        'web-semantic',
        {
          signer: { kind: 'pinnedKey', algorithms: ['Ed25519', 'P-256'] },
          status: expect.any(Function) as unknown,
          revocation,
        },
      ],
      ['jwt_vc_json', 'jwt-vc', { signer: { kind: 'pinnedKey', algorithms: ['P-256', 'Ed25519'] }, status }],
      ['dc+sd-jwt', 'sd-jwt', { signer: { kind: 'issuerSigner' }, status }],
      ['cwt', 'compact', ofCwt('compact')],
      ['cwt_vc', 'compact-semantic', ofCwt('compact-semantic')],
      ['mso_mdoc', 'mobile', { signer: { kind: 'documentSigner' }, status: expect.any(Function) as unknown }],
    ]);
  });

  it('have a list that is a credential for JSON-LD, of the version of its data model', () => {
    const { status } = byName.ldp_vc.resources;
    const listOf = (more: object) => (status as (content: object) => object)(ldpVcContentOf(request(more), []));
    const list = { kind: 'listCredential', size: 131_072 };
    expect(listOf({ proofType: 'Ed25519Signature2018' })).toEqual({ ...list, tokenType: 'revocationList2020' });
    for (const proofType of [undefined, 'eddsa-rdfc-2022', 'ecdsa-rdfc-2019'])
      expect(listOf({ proofType })).toEqual({ ...list, tokenType: 'bitstring' });
  });

  it('have the lists of mobile documents that the configuration names', () => {
    const { status } = byName.mso_mdoc.resources;
    const listOf = (content: object) => (status as (content: object) => object)(content);
    const list = { kind: 'tokenStatusList', tokenType: 'cose', size: 100_000 };
    expect(listOf({ revocable: true })).toEqual(list);
    expect(listOf({ revocable: true, statusMechanism: 'identifier_list' })).toEqual({
      ...list,
      ...{ tokenType: 'identifierList', size: 4096 },
    });
  });

  it('read the DID of a request from its member', () => {
    const both = { ...request(), issuer: 'did:web:a', issuerDid: 'did:web:b' };
    expect(requestedDid(byName.cwt, both as never)).toEqual({ member: 'issuer', did: 'did:web:a' });
    expect(requestedDid(byName.cwt_vc, { type: 'T' })).toEqual({ member: 'issuer' });
    for (const format of [byName.ldp_vc, byName['dc+sd-jwt']])
      expect(requestedDid(format, both as never)).toEqual({ member: 'issuerDid', did: 'did:web:b' });
  });

  it('share types only where one format names the other', () =>
    expect(Object.values(byName).map(({ sharesTypesWith }) => sharesTypesWith)).toEqual([
      ...[undefined, undefined, undefined, undefined],
      ...['cwt', undefined],
    ]));

  it('are found by the operations on their configurations and credentials', () => {
    expect(ofCall('issuance.create-credential-configuration.web-semantic')).toBe(byName.ldp_vc);
    expect(ofCall('issuance.delete-credential-configuration.jwt-vc')).toBe(byName.jwt_vc_json);
    expect(ofCall('issuance.update-credential-configuration.sd-jwt')).toBe(byName['dc+sd-jwt']);
    expect(ofCall('issuance.list-credential-configurations.compact')).toBe(byName.cwt);
    expect(ofCall('issuance.create-credential-configuration.compact-semantic')).toBe(byName.cwt_vc);
    expect(ofCall('issuance.list-issued-credentials.web-semantic')).toBe(byName.ldp_vc);
    expect(ofCall('issuance.retrieve-credential-configuration.mobile')).toBe(byName.mso_mdoc);
    expect(() => ofCall('issuance.create-offer')).toThrow('issuance.create-offer names no credential format');
  });
});

describe('the proof of an ldp_vc configuration', () => {
  const change = (from: WebSemanticConfigurationRequest, to: WebSemanticConfigurationRequest) => () =>
    checkProofTypeChange(to, ldpVcContentOf(from, []));
  const ed25519 = [{}, { proofType: 'eddsa-rdfc-2022' }, { proofType: 'Ed25519Signature2018' }] as const;
  const ecdsa = request({ proofType: 'ecdsa-rdfc-2019' });

  it('decides with which key is signed [T161]', () => {
    const keyFor = (more: object) => byName.ldp_vc.signerOf?.(request(more));
    for (const more of ed25519) expect(keyFor(more)).toEqual({ kind: 'pinnedKey', algorithms: ['Ed25519'] });
    expect(keyFor(ecdsa)).toEqual({ kind: 'pinnedKey', algorithms: ['P-256'] });
  });

  it('can be replaced by one that is made with the same kind of key', () => {
    for (const from of ed25519) for (const to of ed25519) expect(change(request(from), request(to))).not.toThrow();
    expect(change(ecdsa, ecdsa)).not.toThrow();
  });

  it('cannot be replaced by one that needs another kind of key', () => {
    const refused = (msg: string, value?: string) =>
      expect.objectContaining({
        kind: 'invalid',
        details: [{ ...(value && { value }), msg, param: 'proofType', location: 'body' }],
      });
    for (const from of ed25519)
      expect(change(request(from), ecdsa)).toThrow(
        refused(
          'must be eddsa-rdfc-2022 or Ed25519Signature2018, because the configuration signs with a key of type Ed25519',
          'ecdsa-rdfc-2019',
        ),
      );
    // An update without `proofType` asks for the default.
    for (const proofType of [undefined, 'eddsa-rdfc-2022'] as const)
      expect(change(ecdsa, request({ proofType }))).toThrow(
        refused('must be ecdsa-rdfc-2019, because the configuration signs with a key of type P-256', proofType),
      );
  });
});

describe('the path of a claim mapping', () => {
  it('is text: an array that reads like a path is refused', () => {
    const mapFrom = ['claims.a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] as unknown as string;
    expect(configurationFaults(request({ claimMappings: { name: { mapFrom } } }), 'jwt_vc_json')).toEqual([
      {
        msg: "must have a path such as claims.name, claims['name'] or authenticationProvider.subjectId in mapFrom",
        param: 'claimMappings.name',
        location: 'body',
      },
    ]);
  });
});
