import { AppError, mediaTypeOf, type ClaimMapping, type RawRequest } from '@attestry/contracts';
import type { ActiveConfiguration } from './settings/credential-configuration/credential-configuration.decisions.js';
import type { DeliveryInterest } from './registry/delivery-interest/delivery-interest.directory.js';
import type { Formats } from './formats/formats.js';
import { authorizationServerMetadata } from './metadata/authorization-server-metadata/authorization-server-metadata.js';
import type { CurrentConfigurations } from './settings/credential-configuration/current-configurations.js';
import type { DocumentSigners } from './certificates/document-signers/document-signers.js';
import type { OfferFacts } from './formats/format.js';
import { mapClaims, mapKnownClaims, type UserObject } from './formats/map-claims.js';
import { OfferEntries } from './offers/offer-entries/offer-entries.js';
import { queryOf, rawOf } from './reading/raw-request/raw-request.js';
import { makeTransactionCode, normalTransactionCode } from './sessions/transaction-code/transaction-code.js';

const raw = (more: Partial<RawRequest>): RawRequest => ({ method: 'GET', url: '/', headers: {}, text: '', ...more });

describe('the metadata of the authorization server', () => {
  it('lists each scope once, and what the endpoints support [T256]', () =>
    expect(
      authorizationServerMetadata('https://acme.example', [
        { format: 'ldp_vc', type: 'Course' },
        { format: 'jwt_vc_json', type: 'Course' },
        { format: 'ldp_vc', type: 'Course' },
      ] as ActiveConfiguration[]),
    ).toEqual({
      issuer: 'https://acme.example',
      authorization_endpoint: 'https://acme.example/v1/oauth/authorize',
      pushed_authorization_request_endpoint: 'https://acme.example/v1/oauth/par',
      require_pushed_authorization_requests: false,
      token_endpoint: 'https://acme.example/v1/oauth/token',
      revocation_endpoint: 'https://acme.example/v1/oauth/revoke',
      jwks_uri: 'https://acme.example/v1/oauth/jwks',
      scopes_supported: ['ldp_vc:Course', 'jwt_vc_json:Course'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      code_challenge_methods_supported: ['S256'],
      grant_types_supported: [
        'authorization_code',
        'urn:ietf:params:oauth:grant-type:pre-authorized_code',
        'refresh_token',
      ],
      token_endpoint_auth_methods_supported: ['none', 'attest_jwt_client_auth', 'attest_jwt_client_auth_dpop'],
      revocation_endpoint_auth_methods_supported: ['none', 'attest_jwt_client_auth', 'attest_jwt_client_auth_dpop'],
      challenge_endpoint: 'https://acme.example/v1/oauth/challenge',
      client_attestation_signing_alg_values_supported: ['ES256'],
      client_attestation_pop_signing_alg_values_supported: ['ES256'],
      dpop_signing_alg_values_supported: ['ES256'],
      'pre-authorized_grant_anonymous_access_supported': true,
      authorization_details_types_supported: ['openid_credential'],
      authorization_response_iss_parameter_supported: true,
    }));

  it('say whether requests must be pushed [T294]', () => {
    const of = (requirePushedAuthorizationRequests: boolean) =>
      authorizationServerMetadata('https://acme.example', [], { requirePushedAuthorizationRequests });
    expect(of(true)).toEqual({ ...of(false), require_pushed_authorization_requests: true });
  });
});

describe('a raw request', () => {
  it('has a media type in lower case, without parameters and spaces', () => {
    const type = (value: string) => mediaTypeOf(value);
    expect(type('Application/JSON ; charset=utf-8')).toBe('application/json');
    expect(type(' text/plain')).toBe('text/plain');
    expect(mediaTypeOf(undefined)).toBe('');
  });

  it('has a query after the first question mark', () => {
    const query = (url: string) => [...queryOf(raw({ url }))];
    expect(query('/a?b=1&c=?')).toEqual([
      ['b', '1'],
      ['c', '?'],
    ]);
    expect(query('?b=1')).toEqual([['b', '1']]);
    for (const url of ['/a', '/a?', '']) expect(query(url)).toEqual([]);
  });

  it('must reach a protocol endpoint', () => {
    const request = raw({});
    expect(rawOf({ raw: request })).toBe(request);
    expect(() => rawOf({})).toThrow('a protocol endpoint was called without the raw request');
  });
});

describe('a mapped claim', () => {
  // Paths are cached for the life of the process, so each run uses names of its own.
  let name: string;
  beforeEach(() => (name = `n${crypto.randomUUID()}`));

  it('is read by a path, the first time and again', () => {
    const map = () => mapClaims({ out: { mapFrom: `claims.${name}` } }, { claims: { [name]: 1 } });
    expect([map(), map()]).toEqual([{ out: 1 }, { out: 1 }]);
  });

  it('fails when the stored path has no valid syntax', () =>
    expect(() => mapClaims({ out: { mapFrom: `claims ${name}` } }, { claims: {} })).toThrow(
      'a stored mapFrom has no valid syntax',
    ));
});

const noSigners = { endOfSigner: () => Promise.reject(new Error('no document')) } as unknown as DocumentSigners;
const clock = { now: () => new Date('2026-05-01T10:00:00Z') };
const NO_DELIVERY = { hasSubscription: async () => false } as unknown as DeliveryInterest;
const entryOf = (configurationId: string) => ({ configurationId, claimSets: [] });

describe('the entries of an offer', () => {
  it('name each configuration that the tenant does not have', async () => {
    const find = async (_tenantId: string, id: string) =>
      id === 'c1' ? { id, format: 'jwt_vc_json', type: 'A', content: {} } : undefined;
    const entries = new OfferEntries(
      { find } as unknown as CurrentConfigurations,
      { byName: { jwt_vc_json: { check: async () => undefined } } } as unknown as Formats,
      noSigners,
      NO_DELIVERY,
      clock,
    );
    expect(await entries.resolveEntries('t1', [entryOf('c1')])).toEqual([
      { credentialConfigurationId: 'c1', scope: 'jwt_vc_json:A' },
    ]);
    const msg = 'must be a credential configuration of this tenant';
    const fault = (value: string) => ({ value, msg, param: 'credentials', location: 'body' });
    await expect(entries.resolveEntries('t1', ['c2', 'c1', 'c3'].map(entryOf))).rejects.toMatchObject({
      details: [fault('c2'), fault('c3')],
    });
  });

  const entriesWith = (format: object, content: object = {}) => {
    const find = async (_tenantId: string, id: string) => ({ id, format: 'jwt_vc_json', type: 'A', content });
    return new OfferEntries(
      { find } as unknown as CurrentConfigurations,
      { byName: { jwt_vc_json: { check: async () => undefined, ...format } } } as unknown as Formats,
      noSigners,
      NO_DELIVERY,
      clock,
    );
  };
  const sets = (...claims: Record<string, unknown>[]) => [
    entryOf('c1'),
    { configurationId: 'c2', claimSets: claims.map((one) => ({ claims: one })) },
  ];
  const detail = (param: string, msg: string) => ({ param, msg, location: 'body' });

  it('are refused with claims that no credential could have, in the offer or in one of its claim sets', async () => {
    const entries = entriesWith({
      check: async (_tenantId: string, _configuration: unknown, { claims }: UserObject) =>
        JSON.stringify(claims) === '{"a":1,"b":3}' ? { claim: 'b', msg: 'must be 2' } : undefined,
    });
    await expect(entries.resolveEntries('t1', [entryOf('c1')], { claims: { a: 1, b: 3 } })).rejects.toMatchObject({
      details: [detail('claims', 'must fit credential configuration c1: b must be 2')],
    });
    await expect(entries.resolveEntries('t1', sets({ b: 2 }, { b: 3 }), { claims: { a: 1 } })).rejects.toMatchObject({
      details: [detail('credentials.1.claimSets.1.claims', 'must fit credential configuration c2: b must be 2')],
    });
    expect(await entries.resolveEntries('t1', sets({ b: 2 }), { claims: { a: 1 } })).toHaveLength(2);
  });

  const mapping = {
    check: async () => undefined,
    mapClaims: (_configuration: unknown, from: UserObject) =>
      mapClaims({ name: { mapFrom: 'claims.name', required: true } }, from),
  };

  it('are refused for each credential without a required claim, once nothing can add it [T435]', async () => {
    const known = { claims: { other: 1 } };
    const missing = (id: string) => `must fit credential configuration ${id}: the required claim name has no value`;
    const entries = entriesWith(mapping);
    await expect(
      entries.resolveEntries('t1', sets({ name: 'Ada' }, {}), { ...known, areComplete: true }),
    ).rejects.toMatchObject({
      details: [detail('claims', missing('c1')), detail('credentials.1.claimSets.1.claims', missing('c2'))],
    });
    expect(await entries.resolveEntries('t1', sets({}), known)).toHaveLength(2);
    expect(await entries.resolveEntries('t1', sets({}), { claims: { name: 'Ada' }, areComplete: true })).toHaveLength(
      2,
    );
  });

  it.each<[string, object, string]>([
    ['givenname', { givenname: 'secret' }, '; claims.givenname is not used: did you mean "given_name"?'],
    [
      'given_nam',
      { given_nam: 'secret', other: 'secret' },
      '; claims.given_nam is not used: did you mean "given_name"?',
    ],
    ['none', {}, ''],
    ['one that another mapping uses', { given_names: 'secret' }, ''],
    ['one that is too different', { family_name: 'secret' }, ''],
    ['one that is too long', { [`given_name${'x'.repeat(100)}`]: 'secret' }, ''],
    ['the claim without a value', { given_name: null }, ''],
  ])('name the path of a required claim and the claim that was probably meant: %s [T435]', async (_, claims, meant) => {
    const claimMappings = {
      givenName: { mapFrom: 'claims.given_name', required: true },
      names: { mapFrom: 'claims.given_names' },
    };
    const entries = entriesWith(
      { mapClaims: (_configuration: unknown, from: UserObject) => mapClaims(claimMappings, from) },
      { claimMappings },
    );
    const known = { claims: { ...claims }, areComplete: true } as const;
    const msg = `must fit credential configuration c1: the required claim givenName, mapped from claims.given_name, has no value${meant}`;
    await expect(entries.resolveEntries('t1', [entryOf('c1')], known)).rejects.toMatchObject({
      details: [detail('claims', msg)],
    });
  });

  describe('of a configuration with a claims source', () => {
    const mappings = {
      name: { mapFrom: 'claims.name', required: true },
      street: { mapFrom: 'claims.address.street', required: true },
      level: { mapFrom: 'claims.level', defaultValue: 1 },
    };
    /** `level` must be a number. */
    const sourced = (more: Record<string, ClaimMapping> = {}) =>
      entriesWith(
        {
          mapClaims: (_configuration: unknown, from: UserObject) => mapClaims({ ...mappings, ...more }, from),
          check: async (_tenantId: string, _configuration: unknown, from: UserObject) => {
            const { level = 0 } = mapKnownClaims({ ...mappings, ...more }, from);
            return typeof level === 'number' ? undefined : { claim: 'level', msg: 'must be a number' };
          },
        },
        { claimSourceId: 's1', claimMappings: { ...mappings, ...more } },
      );
    const fault = (at: number, set: number, msg: string) =>
      detail(`credentials.${at}.claimSets.${set}.claims`, `must fit credential configuration c${at + 1}: ${msg}`);

    it('may lack claims, or have wrong ones, that its answer adds and replaces [T435]', async () => {
      const known = { claims: { level: 'wrong', address: {} }, areComplete: true } as const;
      expect(await sourced().resolveEntries('t1', sets({}, { name: 'Ada', level: 2 }), known)).toHaveLength(2);
      expect(await sourced().resolveEntries('t1', sets({ level: null }), { claims: {} })).toHaveLength(2);
    });

    it('are refused with a claim set that is at fault, because it is merged after the answer [T435]', async () => {
      const good = { name: 'Ada', level: 2, address: { street: 'Main' } };
      const wrong = [{ level: 'x' }, { level: {}, name: 'Ada' }, { name: null }, { address: { city: 'x' } }, good];
      await expect(
        sourced().resolveEntries('t1', sets(...wrong), { claims: good, areComplete: true }),
      ).rejects.toMatchObject({
        details: [
          fault(1, 0, 'level must be a number'),
          fault(1, 1, 'level must be a number'),
          fault(1, 2, 'the required claim name has no value'),
          fault(1, 3, 'the required claim street, mapped from claims.address.street, has no value'),
        ],
      });
      await expect(sourced().resolveEntries('t1', sets(...wrong))).rejects.toMatchObject({
        details: [fault(1, 0, 'level must be a number'), fault(1, 1, 'level must be a number')],
      });
    });

    it('are refused without a required value of the provider, which no claim overrides [T435]', async () => {
      const entries = sourced({ subject: { mapFrom: 'authenticationProvider.subjectId', required: true } });
      const missing = (id: string) =>
        `must fit credential configuration ${id}: the required claim subject, mapped from authenticationProvider.subjectId, has no value`;
      const claims = { subject: 'x', authenticationProvider: { subjectId: 'x' } };
      await expect(entries.resolveEntries('t1', sets(claims), { claims, areComplete: true })).rejects.toMatchObject({
        details: [detail('claims', missing('c1')), detail('credentials.1.claimSets.0.claims', missing('c2'))],
      });
      const authenticationProvider = { url: 'https://login.example', subjectId: 'ada' };
      const known = { claims: {}, authenticationProvider, areComplete: true } as const;
      expect(await entries.resolveEntries('t1', sets({}), known)).toHaveLength(2);
      expect(await entries.resolveEntries('t1', sets({}), { claims: {} })).toHaveLength(2);
      const numbered = sourced({ level: { mapFrom: 'authenticationProvider.subjectId' } });
      await expect(numbered.resolveEntries('t1', [entryOf('c1')], known)).rejects.toMatchObject({
        details: [detail('claims', 'must fit credential configuration c1: level must be a number')],
      });
    });
  });

  it('are refused with a validity that is denied, that of the configuration once for all claim sets [T620]', async () => {
    const seen: OfferFacts[] = [];
    const entries = (of: 'configuration' | 'claims') =>
      entriesWith({
        mapClaims: () => ({}),
        resources: { signer: { kind: 'issuerSigner' } },
        timesFaultOf: (_configuration: unknown, { claims }: UserObject, facts: OfferFacts) => {
          seen.push(facts);
          return claims['until'] === 'late' ? { of, msg: 'too long' } : undefined;
        },
      });
    const late = [{ until: 'late' }, { until: 'soon' }, { until: 'late' }];
    const msg = (id: string) => `must fit credential configuration ${id}: too long`;
    const known = { claims: { until: 'late' } };
    await expect(entries('claims').resolveEntries('t1', sets(...late), known)).rejects.toMatchObject({
      details: [
        detail('claims', msg('c1')),
        detail('credentials.1.claimSets.0.claims', msg('c2')),
        detail('credentials.1.claimSets.2.claims', msg('c2')),
      ],
    });
    await expect(entries('configuration').resolveEntries('t1', sets(...late), known)).rejects.toMatchObject({
      details: ['c1', 'c2'].map((value) => ({ value, ...detail('credentials', msg(value)) })),
    });
    expect(await entries('claims').resolveEntries('t1', sets({}), { claims: {}, areComplete: true })).toHaveLength(2);
    expect(seen[0]).toMatchObject({ now: clock.now(), signerEnd: undefined, areComplete: false });
    expect(seen.at(-1)).toMatchObject({ areComplete: true });
  });

  it('fail with what is no refusal', async () => {
    for (const error of [new Error('broken'), new AppError('unavailable', 'broken')]) {
      const broken = entriesWith({
        mapClaims: () => {
          throw error;
        },
      });
      await expect(broken.resolveEntries('t1', sets(), { claims: {}, areComplete: true })).rejects.toBe(error);
    }
  });
});

describe('a transaction code', () => {
  it('has digits alone when it is numeric, and letters too when it is text', () => {
    const codes = (inputMode: 'numeric' | 'text') =>
      Array.from({ length: 50 }, () => makeTransactionCode(inputMode)).join('');
    expect(codes('numeric')).toMatch(/^[0-9]{300}$/);
    expect(codes('text')).toMatch(/^(?=.*[A-Z])[2-9A-HJKMNP-Z]{300}$/);
  });

  it('is compared in capital letters when it is text, as it is otherwise', () => {
    expect(normalTransactionCode('ab2c', 'text')).toBe('AB2C');
    expect(normalTransactionCode('ab2c', 'numeric')).toBe('ab2c');
  });
});
