import { AppError } from '@attestry/contracts';
import { given } from '@attestry/event-store';
import { parseClaimPath } from './claim-path.js';
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
});
