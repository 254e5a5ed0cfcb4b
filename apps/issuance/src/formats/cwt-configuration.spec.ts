import type { CompactSemanticConfigurationRequest, ErrorDetail } from '@attestry/contracts';
import type { PinnedIssuerKey } from '../settings/credential-configuration/credential-configuration.events.js';
import { CwtVc } from './cwt-vc/cwt-vc.js';
import { Cwt } from './cwt/cwt.js';

const formats = { cwt: new Cwt(), cwt_vc: new CwtVc() };
const request = (more: object = {}): CompactSemanticConfigurationRequest => ({
  type: 'Membership',
  claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
  ...more,
});
const mapping = (name: string, defaultValue: unknown) => ({
  claimMappings: Object.fromEntries([[name, { defaultValue }]]),
});
const body = (param: string, msg: string, value?: unknown): ErrorDetail => ({
  ...(value !== undefined && { value }),
  msg,
  param,
  location: 'body',
});
const issuerKey: PinnedIssuerKey = {
  did: 'did:web:acme.example',
  verificationMethod: 'did:web:acme.example#k1',
  kmsKeyId: 'k',
  algorithm: 'P-256',
};
const full = {
  issuer: 'did:web:acme.example',
  display: [{ locale: 'de', name: 'Mitglied' }, {}],
  claimMappings: {
    given_name: { mapFrom: 'claims.given_name', required: true, display: [{ name: 'Vorname', locale: 'de' }] },
    level: { defaultValue: 3 },
    member: { defaultValue: true },
    'https://acme.example/name': { mapFrom: 'claims.x', defaultValue: 'é' },
  },
  expiresIn: { hours: 2 },
  maxIssuances: 1,
  revocable: false,
  claimSourceId: null,
};

const SCALAR = 'must have a boolean, a well-formed string or a number as defaultValue';

describe('rules of both configurations', () => {
  it('accept a full request', () => {
    expect(formats.cwt.faultsOf(request(full))).toEqual([]);
    const contexts = ['https://acme.example/c', 'http://schema.org'];
    expect(formats.cwt_vc.faultsOf(request({ ...full, contexts }))).toEqual([]);
  });

  it.each<readonly [object, ErrorDetail]>([
    [{ type: 'VerifiableCredential' }, body('type', 'must not be VerifiableCredential', 'VerifiableCredential')],
    [{ issuer: 'did:key:z6Mk' }, body('issuer', 'must be a did:web of this tenant', 'did:key:z6Mk')],
    [{ issuer: 'https://acme.example' }, body('issuer', 'must be a did:web of this tenant', 'https://acme.example')],
    [
      { display: [{ logo: { uri: 'http://acme.example' } }] },
      body('display.0.logo.uri', 'must be an https URL or a data URL of an image'),
    ],
    [{ display: [{}, {}] }, body('display.1.locale', 'is required: another entry has none')],
    [{ expiresIn: {} }, body('expiresIn', 'must be at least 2 hours', {})],
    [{ expiresIn: { minutes: 119 } }, body('expiresIn', 'must be at least 2 hours', { minutes: 119 })],
    [
      mapping('__proto__', 1),
      body('claimMappings.__proto__', 'is a reserved name: __proto__ would change what a JavaScript object is'),
    ],
    [mapping('a\ud800', 1), body('claimMappings.a\ud800', 'must be well-formed Unicode')],
    [mapping('x', null), body('claimMappings.x', 'must not have a null defaultValue')],
    [{ claimMappings: { x: {} } }, body('claimMappings.x', 'must have mapFrom or defaultValue')],
    [
      { claimMappings: { x: { defaultValue: 1, required: 'yes' } } },
      body('claimMappings.x', 'must have true or false in required'),
    ],
  ])('name the fault in %j', (more, detail) => {
    for (const format of Object.values(formats)) expect(format.faultsOf(request(more))).toEqual([detail]);
  });

  it('report every fault at once', () => {
    const more = { issuer: 'x', claimMappings: { type: {} }, expiresIn: { hours: 1 } };
    const params = formats.cwt.faultsOf(request(more)).map(({ param }) => param);
    expect(params).toEqual(['issuer', 'claimMappings.type', 'expiresIn']);
  });
});

describe('rules of a compact configuration', () => {
  it.each<readonly [object, ErrorDetail]>([
    ...['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'cti', 'jti', 'cnf', 'type', 'status', 'vc'].map(
      (name) =>
        [
          mapping(name, 1),
          body(
            `claimMappings.${name}`,
            `is a reserved name: decoders of CWTs return ${name} as a claim that the platform sets`,
          ),
        ] as const,
    ),
    [mapping('x', {}), body('claimMappings.x', SCALAR)],
    [mapping('x', [1]), body('claimMappings.x', SCALAR)],
    [mapping('x', '\ud800'), body('claimMappings.x', SCALAR)],
  ])('name the fault in %j', (more, detail) => expect(formats.cwt.faultsOf(request(more))).toEqual([detail]));
});

describe('rules of a compact-semantic configuration', () => {
  it('accept any JSON as the value of a claim, and names of registered claims', () =>
    expect(formats.cwt_vc.faultsOf(request(mapping('status', { a: [null, 'é'] })))).toEqual([]));

  const DATA_MODEL = 'https://www.w3.org/2018/credentials/v1';
  it.each<readonly [object, ErrorDetail]>([
    [
      mapping('id', 1),
      body('claimMappings.id', 'is a reserved name: id of credentialSubject is the identifier of the holder'),
    ],
    [
      mapping('type', 1),
      body('claimMappings.type', 'is a reserved name: type of credentialSubject is the kind of the subject'),
    ],
    [mapping('@type', 1), body('claimMappings.@type', 'must not start with @')],
    [mapping('x', ['\ud800']), body('claimMappings.x', 'must have only well-formed text in defaultValue')],
    [mapping('x', { 'a\ud800': 1 }), body('claimMappings.x', 'must have only well-formed text in defaultValue')],
    [
      { contexts: [DATA_MODEL] },
      body('contexts.0', 'must not be listed, because it is part of every credential', DATA_MODEL),
    ],
    [
      { contexts: ['https://a.example/', 'https://a.example/'] },
      body('contexts.1', 'must not repeat a context', 'https://a.example/'),
    ],
    ...['urn:a:b', 'acme', 'https://a.example:port/', 'https://a.example/\ud800'].map(
      (url) => [{ contexts: [url] }, body('contexts.0', 'must be an https or http URL', url)] as const,
    ),
  ])('name the fault in %j', (more, detail) => expect(formats.cwt_vc.faultsOf(request(more))).toEqual([detail]));
});

describe('what is stored of a configuration', () => {
  const stored =
    '"display":[{"locale":"de","name":"Mitglied"},{}],"claimMappings":{"given_name":{"mapFrom":"claims.given_name","required":true,' +
    '"display":[{"name":"Vorname","locale":"de"}]},"level":{"defaultValue":3},"member":{"defaultValue":true},' +
    '"https://acme.example/name":{"mapFrom":"claims.x","defaultValue":"é"}},"expiresIn":{"hours":2},"maxIssuances":1}';
  const state = { status: 'active' as const, id: 'c1', type: 'Membership', issuerKey, createdAt: '', version: 1 };
  const { display, claimMappings, expiresIn, maxIssuances } = full;
  const record = {
    ...{ id: 'c1', type: 'Membership', issuer: 'did:web:acme.example', revocable: false },
    ...{ display, claimMappings, expiresIn, maxIssuances },
  };

  it('is the same text in every release, and the record names the issuer', async () => {
    const content = await formats.cwt.contentOf(request(full));
    expect(JSON.stringify(content)).toBe(`{${stored}`);
    expect(formats.cwt.recordOf({ ...state, format: 'cwt', content })).toEqual(record);
  });

  it('is revocable unless the request says otherwise, and not where the stored content does not say so', async () => {
    const { claimMappings: mapped } = request();
    for (const format of [formats.cwt, formats.cwt_vc]) {
      const recordOf = (content: object) => format.recordOf({ ...state, format: format.format, content } as never);
      for (const more of [{}, { revocable: true }]) {
        const content = await format.contentOf(request(more));
        expect(content).toEqual({ claimMappings: mapped, revocable: true });
        expect(recordOf(content).revocable).toBe(true);
      }
      expect(await format.contentOf(request({ revocable: false }))).toEqual({ claimMappings: mapped });
      expect(recordOf({ claimMappings: mapped }).revocable).toBe(false);
    }
  });

  it('has the contexts of a semantic one', async () => {
    const contexts = ['https://acme.example/c'];
    const content = await formats.cwt_vc.contentOf(request({ ...full, contexts }));
    expect(JSON.stringify(content)).toBe(`{"contexts":["https://acme.example/c"],${stored}`);
    expect(formats.cwt_vc.recordOf({ ...state, format: 'cwt_vc', content })).toEqual({ ...record, contexts });
    const without = await formats.cwt_vc.contentOf(request({ contexts: [] }));
    expect(without).not.toHaveProperty('contexts');
    expect(formats.cwt_vc.recordOf({ ...state, format: 'cwt_vc', content: without }).contexts).toEqual([]);
  });
});
