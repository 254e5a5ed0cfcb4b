import type { ErrorDetail, SdJwtConfigurationRequest } from '@attestry/contracts';
import { sdJwtContentOf, sdJwtFaults, sdJwtRecordOf } from './sd-jwt-configuration.decisions.js';

const request = (more: object = {}): SdJwtConfigurationRequest => ({
  type: 'Membership',
  name: 'Membership',
  issuer: { name: 'Acme' },
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
const nested = (levels: number): unknown => (levels ? [nested(levels - 1)] : 1);
const tooLong = (days: number, longest: number) =>
  `must be at most ${days} days, for which the certificate of every signer is valid; it can be ${longest} days`;

describe('rules of a configuration', () => {
  it('accept a full request, and null for absent members', () => {
    const full = {
      description: 'd',
      issuer: { name: 'Acme', logoUrl: 'https://acme.example/logo.png', iconUrl: 'data:image/png;base64,AAAA' },
      vct: 'urn:example:membership',
      issuerDid: 'did:web:acme.example',
      claimMappings: {
        given_name: { mapFrom: 'claims.given_name', required: true },
        sub: { mapFrom: 'authenticationProvider.subjectId' },
        address: { defaultValue: { country: 'NZ', lines: ['a', 'b'] } },
      },
      expiresIn: { hours: 2 },
      maxIssuances: 1,
    };
    expect(sdJwtFaults(request(full))).toEqual([]);
    expect(sdJwtFaults(request({ vct: null, claimSourceId: null }))).toEqual([]);
    for (const vct of ['https://acme.example/a?b=c', 'HTTPS://acme.example', 'did:web:acme.example', 'x-a+b.c:d'])
      expect(sdJwtFaults(request({ vct }))).toEqual([]);
    expect(sdJwtFaults(request({ type: '..', vct: 'urn:example:dots' }))).toEqual([]);
  });

  it('accept names of claims that are addresses, or no identifiers joined by dots [T624]', () => {
    for (const name of ['https://acme.example/a.b', 'urn:example:a.b', 'v1.0', '1.2.840', 'a..b', '.a', 'a.', 'a.b c'])
      expect(sdJwtFaults(request(mapping(name, 1)))).toEqual([]);
  });

  const URI = 'must be an absolute URI such as https://example.com/types/degree or urn:example:degree';
  it.each<readonly [object, ErrorDetail]>([
    [{ type: '.' }, body('type', 'must not be . or .. where no vct is given', '.')],
    [{ vct: '' }, body('vct', URI, '')],
    [{ vct: 'Membership' }, body('vct', URI, 'Membership')],
    [{ vct: '/types/1' }, body('vct', URI, '/types/1')],
    [{ vct: 'https://acme.example/a b' }, body('vct', URI, 'https://acme.example/a b')],
    [{ vct: 'https://acme.example/#a' }, body('vct', URI, 'https://acme.example/#a')],
    [
      { issuer: { name: 'A', logoUrl: 'http://acme.example/' } },
      body('issuer.logoUrl', 'must be an https URL or a data URL of an image'),
    ],
    [
      { issuer: { name: 'A', iconUrl: 'data:text/html,x' } },
      body('issuer.iconUrl', 'must be an https URL or a data URL of an image'),
    ],
    [{ expiresIn: {} }, body('expiresIn', 'must be at least 2 hours', {})],
    [{ expiresIn: { minutes: 119 } }, body('expiresIn', 'must be at least 2 hours', { minutes: 119 })],
    [{ expiresIn: { years: 10 } }, body('expiresIn', tooLong(3290, 3653), { years: 10 })],
    [{ expiresIn: { days: 3291 } }, body('expiresIn', tooLong(3290, 3291), { days: 3291 })],
    ...['iss', 'aud', 'iat', 'nbf', 'exp', 'cnf', 'vct', 'vct#integrity', 'status'].map(
      (name) =>
        [
          mapping(name, 1),
          body(
            `claimMappings.${name}`,
            `is a reserved name: ${name} is set by the platform, and never selectively disclosable`,
          ),
        ] as const,
    ),
    ...['_sd', '...', '_sd_alg'].map(
      (name) =>
        [
          mapping(name, 1),
          body(`claimMappings.${name}`, `is a reserved name: ${name} has a meaning of its own in an SD-JWT`),
        ] as const,
    ),
    [
      mapping('__proto__', 1),
      body('claimMappings.__proto__', 'is a reserved name: __proto__ would change what a JavaScript object is'),
    ],
    [
      mapping('x', [{ _sd: [] }]),
      body(
        'claimMappings.x',
        'must not have a member with the reserved name _sd, which has a meaning of its own in an SD-JWT',
      ),
    ],
    [mapping('x', nested(40)), body('claimMappings.x', 'must not nest deeper than 32 levels')],
    [
      mapping(
        'x',
        Array.from({ length: 1001 }, () => 1),
      ),
      body('claimMappings.x', 'must not make claims of more than 1000 values in total'),
    ],
    [
      mapping('achievement.name', 'x'),
      body(
        'claimMappings.achievement.name',
        "must not have dots, which would become part of the claim's name: map achievement to an object with the member name",
      ),
    ],
    [mapping('x', null), body('claimMappings.x', 'must not have a null defaultValue')],
  ])('name the fault in %j', (more, detail) => expect(sdJwtFaults(request(more))).toEqual([detail]));
});

describe('what is stored of a configuration', () => {
  it('is the same text in every release, and is returned without the digest of the type', () => {
    const full = request({ description: 'd', expiresIn: { days: 1 }, maxIssuances: 2, vct: null });
    const content = sdJwtContentOf(full, { vct: 'https://acme.example/1', vctIntegrity: 'sha256-x' });
    expect(JSON.stringify(content)).toBe(
      '{"name":"Membership","description":"d","issuer":{"name":"Acme"},"vct":"https://acme.example/1","vctIntegrity":"sha256-x",' +
        '"claimMappings":{"given_name":{"mapFrom":"claims.given_name"}},"expiresIn":{"days":1},"maxIssuances":2}',
    );
    const configuration = {
      status: 'active' as const,
      id: 'c1',
      type: 'Membership',
      createdAt: '',
      version: 1,
      content,
    };
    expect(sdJwtRecordOf({ ...configuration, format: 'dc+sd-jwt' })).toEqual({
      id: 'c1',
      type: 'Membership',
      name: 'Membership',
      description: 'd',
      issuer: { name: 'Acme' },
      vct: 'https://acme.example/1',
      claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
      expiresIn: { days: 1 },
      maxIssuances: 2,
      revocable: false,
    });
    const issuerKey = {
      did: 'did:web:a',
      verificationMethod: 'did:web:a#k',
      kmsKeyId: 'k',
      algorithm: 'P-256' as const,
    };
    expect(sdJwtRecordOf({ ...configuration, format: 'dc+sd-jwt', issuerKey }).issuerDid).toBe('did:web:a');
  });
});
