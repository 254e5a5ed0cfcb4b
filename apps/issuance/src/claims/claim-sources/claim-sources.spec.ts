import type { AppError, ClaimSourceAuthorization, ClaimSourceRequest } from '@attestry/contracts';
import { given, stateAfter } from '@attestry/event-store';
import { checkTargetUrl } from '@attestry/service-kit';
import {
  changeSource,
  checkSecretStays,
  createSource,
  parseSource,
  removeSource,
  requireSource,
} from './claim-sources.decisions.js';
import type { ClaimSourcesEvent, ConfiguredSource } from './claim-sources.events.js';
import { claimSources } from './claim-sources.state.js';

const register: ConfiguredSource = {
  ...{ id: 's1', name: 'Register', url: 'https://register.example.com/claims', requestMethod: 'GET' },
  requestParameters: { email: { mapFrom: 'claims.email' } },
  authorization: { type: 'api-key', sealedSecret: 'sealed' },
};
const created = (data: ConfiguredSource): ClaimSourcesEvent => ({ type: 'ClaimSourceCreated', data });
const many = (count: number) => Array.from({ length: count }, (_, n) => created({ ...register, id: `s${n}` }));

describe('a claims source', () => {
  it('is created, changed and deleted [T410]', () => {
    given(claimSources, [])
      .when((state) => createSource(state, register))
      .then([created(register)]);
    const changed = { ...register, name: 'Other' };
    given(claimSources, [created(register)])
      .when((state) => changeSource(state, changed))
      .then([{ type: 'ClaimSourceUpdated', data: changed }]);
    given(claimSources, [created(register)])
      .when((state) => changeSource(state, { ...register }))
      .then([]);
    given(claimSources, [created(register)])
      .when((state) => removeSource(state, 's1', []))
      .then([{ type: 'ClaimSourceDeleted', data: { id: 's1' } }]);
    expect(
      stateAfter(claimSources, [
        created(register),
        created({ ...register, id: 's2' }),
        { type: 'ClaimSourceUpdated', data: changed },
        { type: 'ClaimSourceDeleted', data: { id: 's2' } },
      ]),
    ).toEqual([changed]);
    for (const decide of [
      () => requireSource([], 's1'),
      () => changeSource([], register),
      () => removeSource([], 's1', []),
    ])
      expect(decide).toThrow('Resource Not Found');
  });

  it('is one of at most 100 of the tenant [T410]', () => {
    expect(() => createSource(stateAfter(claimSources, many(100)), register)).toThrow(
      'A tenant can have at most 100 claims sources',
    );
    given(claimSources, many(99))
      .when((state) => createSource(state, register))
      .then([created(register)]);
  });

  it('is not deleted while configurations name it [T411]', () => {
    const state = stateAfter(claimSources, [created(register)]);
    const message = 'The claims source is used by the credential configurations ';
    expect(() => removeSource(state, 's1', ['c1', 'c2'])).toThrow(`${message}c1, c2`);
    const ids = Array.from({ length: 12 }, (_, n) => `c${n}`);
    expect(() => removeSource(state, 's1', ids)).toThrow(`${message}c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 and 2 more`);
  });
});

const request: ClaimSourceRequest = { name: 'Register', url: 'https://Register.example.com/claims' };
const OAUTH: ClaimSourceAuthorization = {
  type: 'oauth-client-credentials',
  ...{ tokenEndpoint: 'https://login.example.com/token', clientId: 'attestry', clientSecret: 'the secret' },
};
const parse = (more: object) =>
  parseSource('s1', { ...request, ...more } as never, (url) => checkTargetUrl(url, false));
const faultsOf = (more: object) => {
  try {
    parse(more);
    return [];
  } catch (error) {
    return (error as AppError).details!.map(({ param, msg, value }) =>
      value === undefined ? [param, msg] : [param, msg, value],
    );
  }
};

describe('a request for a claims source [T410, T412]', () => {
  it('has defaults, and its addresses byte for byte', () => {
    const source = {
      ...{ id: 's1', name: 'Register', url: request.url, requestMethod: 'GET' },
      requestParameters: {},
    };
    expect(parse({})).toEqual({ source });
    expect(parse({ authorization: { type: 'api-key', value: 'a b' } }).authorization).toEqual({
      ...{ type: 'api-key', secret: 'a b' },
    });
    expect(parse({ authorization: { type: 'api-key', value: 'k' } })).toEqual({
      source,
      authorization: { type: 'api-key', secret: 'k' },
    });
    const { clientSecret: secret, ...oauth } = OAUTH;
    expect(parse({ authorization: OAUTH }).authorization).toEqual({
      ...oauth,
      secret,
      tokenEndpointAuthMethod: 'client_secret_basic',
    });
    const more = { scope: 'a b', audience: 'https://x.example', tokenEndpointAuthMethod: 'client_secret_post' };
    expect(parse({ authorization: { ...OAUTH, ...more } }).authorization).toEqual({ ...oauth, secret, ...more });
  });

  it.each([
    ['http://register.example.com/', 'must use https'],
    ['https://127.0.0.1/', 'must not be an IP address'],
    ['https://[::1]/', 'must not be an IP address'],
    ['https://register.localhost/', 'must have a public host name'],
    ['https://register.example.com/?a=1', 'must not have a query'],
    ['https://u:p@register.example.com/', 'must not contain credentials'],
    ['x', 'must be a valid URL'],
  ])('names outbound targets: not %s', (url, msg) => {
    expect(faultsOf({ url })).toEqual([['url', msg, ...(url.includes('@') ? [] : [url])]]);
    expect(faultsOf({ authorization: { ...OAUTH, tokenEndpoint: url } })).toEqual([
      ['authorization.tokenEndpoint', msg],
    ]);
  });

  const PATH =
    'must have a path such as claims.email, authenticationProvider.subjectId or credentialConfiguration.type in mapFrom';
  it.each([
    ['claims.email', undefined],
    ["claims['https://x.example/y']", undefined],
    ['authenticationProvider.subjectId', undefined],
    ['credentialConfiguration.id', undefined],
    ['credentialConfiguration.type', undefined],
    ['credentialConfiguration.format', undefined],
    ['credentialConfiguration.profile', undefined],
    ['credentialConfiguration.content', PATH],
    ['credentialConfiguration', PATH],
    ['claims', PATH],
    ['claims.https://x.example/y', "must have claims['https://x.example/y'] in mapFrom: a name with dots is quoted"],
    ['authenticationProvider.providerId', PATH],
    [1, PATH],
  ])('maps parameters from %j', (mapFrom, msg) =>
    expect(faultsOf({ requestParameters: { p: { mapFrom } } })).toEqual(msg ? [['requestParameters.p', msg]] : []),
  );

  it.each([
    [{}, 'must have mapFrom or defaultValue'],
    ['claims.email', 'must be an object'],
    [{ mapFrom: 'claims.a', required: true }, 'must have only the members mapFrom and defaultValue'],
    [{ defaultValue: null }, 'must not have a null defaultValue'],
  ])('does not take %j for a parameter', (mapping, msg) =>
    expect(faultsOf({ requestParameters: { p: mapping } })).toEqual([['requestParameters.p', msg]]),
  );
  it('has parameters with names', () =>
    expect(faultsOf({ requestParameters: { '': { defaultValue: 1 }, '\ud800': { defaultValue: 1 } } })).toEqual([
      ['requestParameters.', 'must have a name that is not empty and well-formed Unicode'],
      ['requestParameters.\ud800', 'must have a name that is not empty and well-formed Unicode'],
    ]));

  it.each([
    [{ type: 'api-key' }, [['authorization.value', 'is required for the type api-key']]],
    [
      { type: 'api-key', value: 'k', clientId: 'x', scope: 'y' },
      [
        ['authorization.clientId', 'must be absent for the type api-key'],
        ['authorization.scope', 'must be absent for the type api-key'],
      ],
    ],
    [
      { type: 'oauth-client-credentials', value: 'k' },
      [
        ...['tokenEndpoint', 'clientId', 'clientSecret'].map((member) => [
          `authorization.${member}`,
          'is required for the type oauth-client-credentials',
        ]),
        ['authorization.value', 'must be absent for the type oauth-client-credentials'],
      ],
    ],
    ...[' a', 'a ', 'a\r\nx-other: 1', 'a\n', 'ä'].map((value) => [
      { type: 'api-key', value },
      [['authorization.value', 'must have only printable ASCII characters, and no space at either end']],
    ]),
  ] as [object, string[][]][])('is authorized as its type says: %j', (authorization, faults) =>
    expect(faultsOf({ authorization })).toEqual(faults),
  );
});

describe('the stored secret of a claims source [T412]', () => {
  const stored: ConfiguredSource = { ...register, url: 'https://register.example.com/old' };
  const oauth: ConfiguredSource = {
    ...register,
    authorization: {
      type: 'oauth-client-credentials',
      ...{ tokenEndpoint: 'https://login.example.com/old', clientId: 'attestry', sealedSecret: 'sealed' },
      tokenEndpointAuthMethod: 'client_secret_basic',
    },
  };
  const apiKey = { authorization: { type: 'api-key', value: 'k' } };
  const check = (before: ConfiguredSource, more: object) => {
    try {
      checkSecretStays(before, parse(more));
      return undefined;
    } catch (error) {
      return (error as AppError).details!.map(({ param, msg }) => [param, msg]);
    }
  };
  const moved = (member: string) =>
    `must be the secret itself, not masked, because the origin of ${member} changed; the stored secret is only sent to the origin it was saved for`;

  it('is kept while it goes to the same origins', () => {
    expect(check(stored, apiKey)).toBe(undefined);
    expect(check(oauth, { authorization: OAUTH })).toBe(undefined);
    expect(check(stored, {})).toBe(undefined);
  });
  it('is given again for another origin or type', () => {
    const url = 'https://register.example.com:8443/claims';
    expect(check(stored, { ...apiKey, url })).toEqual([['authorization.value', moved('url')]]);
    expect(check(oauth, { authorization: OAUTH, url })).toEqual([['authorization.clientSecret', moved('url')]]);
    expect(check(oauth, { authorization: { ...OAUTH, tokenEndpoint: 'https://evil.example.com/old' } })).toEqual([
      ['authorization.clientSecret', moved('tokenEndpoint')],
    ]);
    const changed = 'must be the secret itself, not masked, because the type changed';
    expect(check(stored, { authorization: OAUTH })).toEqual([['authorization.clientSecret', changed]]);
    expect(check(oauth, apiKey)).toEqual([['authorization.value', changed]]);
    const { authorization: _, ...open } = stored;
    expect(check(open, apiKey)).toEqual([['authorization.value', changed]]);
  });
});
