import { AppError } from '@attestry/contracts';
import { given } from '@attestry/event-store';
import { parseClaimPath, unmatchedPath } from '../../formats/claim-path.js';
import {
  activeConfiguration,
  createCredentialConfiguration,
  deleteCredentialConfiguration,
  replaceConfigurationContent,
} from './credential-configuration.decisions.js';
import type { CredentialConfigurationEvent, PinnedIssuerKey } from './credential-configuration.events.js';
import { credentialConfiguration } from './credential-configuration.state.js';

const id = '11111111-1111-4111-8111-111111111111';
const at = '2026-01-01T00:00:00.000Z';
const issuerKey: PinnedIssuerKey = {
  did: 'did:web:acme.example',
  verificationMethod: 'did:web:acme.example#k1',
  kmsKeyId: '22222222-2222-4222-8222-222222222222',
  algorithm: 'P-256',
};
const content = { maxIssuances: 1 };
const created = {
  type: 'CredentialConfigurationCreated',
  data: { configurationId: id, format: 'jwt_vc_json', credentialType: 'Membership', issuerKey, content, createdAt: at },
} as CredentialConfigurationEvent;
const deleted = {
  type: 'CredentialConfigurationDeleted',
  data: { configurationId: id, did: issuerKey.did },
} as CredentialConfigurationEvent;
const create = (state: Parameters<typeof createCredentialConfiguration>[0]) =>
  createCredentialConfiguration(state, {
    id,
    format: 'jwt_vc_json',
    type: 'Membership',
    issuerKey,
    content,
    createdAt: new Date(at),
  });

describe('credential configuration', () => {
  it('is created with its key pinned', () => given(credentialConfiguration, []).when(create).then([created]));

  it('has no key where the key of a certificate signs, and then takes no DID later', () => {
    const { issuerKey: _, ...data } = (created as { data: { issuerKey: object } }).data;
    const certified = { ...created, data } as CredentialConfigurationEvent;
    given(credentialConfiguration, [])
      .when((state) =>
        createCredentialConfiguration(state, {
          ...{ id, format: 'jwt_vc_json', type: 'Membership', content },
          createdAt: new Date(at),
        }),
      )
      .then([certified]);
    given(credentialConfiguration, [certified])
      .when((state) => replaceConfigurationContent(state, { format: 'jwt_vc_json', type: 'Membership', content }))
      .then([{ type: 'CredentialConfigurationContentReplaced', data: { content } }]);
    const change = { format: 'jwt_vc_json', type: 'Membership', issuerDid: issuerKey.did, content } as const;
    expect(() =>
      replaceConfigurationContent(credentialConfiguration.evolve(credentialConfiguration.initial, certified), change),
    ).toThrow(expect.objectContaining({ kind: 'invalid', details: [expect.objectContaining({ param: 'issuerDid' })] }));
    given(credentialConfiguration, [certified])
      .when((state) => deleteCredentialConfiguration(state, { format: 'jwt_vc_json' }))
      .then([{ type: 'CredentialConfigurationDeleted', data: { configurationId: id } }]);
  });

  it('increments its version with every replacement', () => {
    const next = { maxIssuances: 2 };
    given(credentialConfiguration, [created])
      .when((state) => replaceConfigurationContent(state, { format: 'jwt_vc_json', type: 'Membership', content: next }))
      .thenState({
        status: 'active',
        id,
        format: 'jwt_vc_json',
        type: 'Membership',
        issuerKey,
        content: next,
        createdAt: at,
        version: 2,
      });
  });

  it.each([
    ['type', { type: 'Other' }],
    ['issuerDid', { type: 'Membership', issuerDid: 'did:web:other.example' }],
  ])('refuses another %s', (param, change) => {
    const replace = () =>
      replaceConfigurationContent(credentialConfiguration.evolve(credentialConfiguration.initial, created), {
        format: 'jwt_vc_json',
        content,
        ...change,
      });
    expect(replace).toThrow(AppError);
    expect(replace).toThrow(
      expect.objectContaining({ kind: 'invalid', details: [expect.objectContaining({ param })] }),
    );
  });

  it('names the immutable member, with the value that was sent', () =>
    expect(() =>
      replaceConfigurationContent(credentialConfiguration.evolve(credentialConfiguration.initial, created), {
        format: 'jwt_vc_json',
        type: 'Other',
        issuerDid: 'did:web:other.example',
        content,
      }),
    ).toThrow(
      expect.objectContaining({
        details: [
          { value: 'Other', msg: 'must not change', param: 'type', location: 'body' },
          { value: 'did:web:other.example', msg: 'must not change', param: 'issuerDid', location: 'body' },
        ],
      }),
    ));

  it('is not created a second time', () =>
    expect(() => create(credentialConfiguration.evolve(credentialConfiguration.initial, created))).toThrow(
      `credential configuration ${id} exists already`,
    ));

  it('does not exist before it was created, in any format', () =>
    expect(() => activeConfiguration(credentialConfiguration.initial, 'jwt_vc_json')).toThrow(AppError));

  it('names the member in which the request has the DID', () =>
    expect(() =>
      replaceConfigurationContent(credentialConfiguration.evolve(credentialConfiguration.initial, created), {
        ...{ format: 'jwt_vc_json', type: 'Membership', content },
        ...{ issuerDid: 'did:web:other.example', member: 'issuer' },
      }),
    ).toThrow(expect.objectContaining({ details: [expect.objectContaining({ param: 'issuer' })] })));

  it('accepts its own issuerDid', () =>
    given(credentialConfiguration, [created])
      .when((state) =>
        replaceConfigurationContent(state, {
          format: 'jwt_vc_json',
          type: 'Membership',
          issuerDid: issuerKey.did,
          content,
        }),
      )
      .then([{ type: 'CredentialConfigurationContentReplaced', data: { content } }]));

  it('does not exist under another format', () => {
    given(credentialConfiguration, [created])
      .when((state) => replaceConfigurationContent(state, { format: 'ldp_vc', type: 'Membership', content }))
      .thenThrows('NotFound');
    given(credentialConfiguration, [created])
      .when((state) => deleteCredentialConfiguration(state, { format: 'ldp_vc' }))
      .thenThrows('NotFound');
  });

  it('is deleted once', () => {
    const remove = (state: Parameters<typeof deleteCredentialConfiguration>[0]) =>
      deleteCredentialConfiguration(state, { format: 'jwt_vc_json' });
    given(credentialConfiguration, [created]).when(remove).then([deleted]);
    given(credentialConfiguration, [created, deleted]).when(remove).thenThrows('NotFound');
    given(credentialConfiguration, []).when(remove).thenThrows('NotFound');
  });
});

describe('claim paths', () => {
  it.each([
    ['claims.given_name', ['claims', 'given_name']],
    ['claims.address.formatted', ['claims', 'address', 'formatted']],
    ["claims['https://example.com/a b'].c", ['claims', 'https://example.com/a b', 'c']],
    ["claims.a['it\\'s']", ['claims', 'a', "it's"]],
    ['claims["a.b"]', ['claims', 'a.b']],
    ['authenticationProvider.url', ['authenticationProvider', 'url']],
    ['authenticationProvider.subjectId', ['authenticationProvider', 'subjectId']],
  ])('reads %s', (text, names) => expect(parseClaimPath(text)).toEqual(names));

  it.each([
    '',
    'claims',
    'claims.',
    'claims..a',
    'claims.a.',
    'claims.a b',
    "claims['a'",
    "claims['']",
    'claims[a]',
    "claims['a\\x']",
    'claimsx.a',
    'authenticationProvider',
    'authenticationProvider.secret',
    'authenticationProvider.url.x',
    'credentialConfiguration.id',
    `claims.${'a'.repeat(1024)}`,
  ])('refuses %j', (text) => expect(parseClaimPath(text)).toBeUndefined());

  const quoted = (path: string) => `must have ${path} in mapFrom: a name with dots is quoted`;
  const list = (path: string, name?: string) =>
    `must have ${path} in mapFrom, for the whole list, as lists have no index${name === undefined ? '' : `; a member of an object that is called ${name} is ['${name}']`}`;
  it.each([
    ['claims.https://acme.example/name', quoted("claims['https://acme.example/name']")],
    ['claims.HTTP://acme.example', quoted("claims['HTTP://acme.example']")],
    ['claims.https://localhost/v1.2/name', quoted("claims['https://localhost/v1.2/name']")],
    ['claims.user.https://acme.example/a.b', quoted("claims.user['https://acme.example/a.b']")],
    ["claims.https://acme.example/a['b'].c", quoted("claims['https://acme.example/a']['b'].c")],
    ['claims.urn:oid:1.2.840', quoted("claims['urn:oid:1.2.840']")],
    ['claims.nationalities.0', list('claims.nationalities', '0')],
    ['claims.nationalities.12.code', list('claims.nationalities', '12')],
    ["claims['https://acme.example/list'].0", list("claims['https://acme.example/list']", '0')],
    ['claims.nationalities[0]', list('claims.nationalities')],
    ['claims.nationalities.[0].code', list('claims.nationalities')],
    ['claims.nationalities[*].code', list('claims.nationalities')],
    ['claims.nationalities.*', list('claims.nationalities')],
  ])('of %j can never match [T623]', (text, msg) => {
    expect(unmatchedPath(text)).toBe(msg);
    const [, path] = /^must have (\S+) in mapFrom/.exec(msg)!;
    expect([unmatchedPath(path!.replace(/,$/, '')), parseClaimPath(path!.replace(/,$/, ''))?.[0]]).toEqual([
      undefined,
      'claims',
    ]);
  });

  it.each([
    'claims.given_name',
    'claims.cognito:username',
    'claims.https://localhost/name',
    'claims.urn:example:name',
    "claims['https://acme.example/a.b']",
    "claims.nationalities['0']",
    "claims['a[0]']",
    'claims[0]',
    'claims.0',
    'claims.v2.x9',
    'claims.address.0x',
    'authenticationProvider.url',
    'claims.',
    'nonsense',
    '',
  ])('of %j may match, or has no syntax [T623]', (text) => expect(unmatchedPath(text)).toBeUndefined());

  it('are repeated only in part, and read in linear time', () => {
    const startedAt = performance.now();
    for (const text of [
      `claims.${'a.'.repeat(500)}0`,
      `claims.https://${'a.'.repeat(500)}`,
      `claims${'.['.repeat(500)}`,
    ])
      expect((unmatchedPath(text) ?? '').length).toBeLessThan(400);
    expect(performance.now() - startedAt).toBeLessThan(100);
  });
});
