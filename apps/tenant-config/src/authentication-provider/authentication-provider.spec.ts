import { AppError, type AuthenticationProviderRequest } from '@attestry/contracts';
import { given as givenOf } from '@attestry/event-store';
import {
  createAuthenticationProvider,
  deleteAuthenticationProvider,
  movedAddress,
  pinTokenEndpoint,
  settingsOf,
  updateAuthenticationProvider,
} from './authentication-provider.decisions.js';
import type { AuthenticationProviderEvent } from './authentication-provider.events.js';
import { authenticationProvider, type AuthenticationProviderState } from './authentication-provider.state.js';

const now = '2026-03-01T10:00:00.000Z';
const url = 'https://idp.example';
const request: AuthenticationProviderRequest = { url, clientId: 'c' };
const settings = settingsOf(request, { url, issuer: `${url}/`, tokenEndpointOrigin: url });
const given = (events: AuthenticationProviderEvent[]) =>
  givenOf<AuthenticationProviderState, AuthenticationProviderEvent>(authenticationProvider, events);
const created: AuthenticationProviderEvent = {
  type: 'AuthenticationProviderCreated',
  data: { providerId: 'p', ...settings, sealedSecret: 'sealed', createdAt: now },
};
const facts = { identitySpaceId: 's1' };
const deleted: AuthenticationProviderEvent = { type: 'AuthenticationProviderDeleted', data: { providerId: 'p' } };

describe('an authentication provider', () => {
  it('has the specified defaults', () =>
    expect(settings).toEqual({
      url,
      issuer: `${url}/`,
      tokenEndpointOrigin: url,
      clientId: 'c',
      scope: ['openid', 'profile', 'email'],
      tokenEndpointAuthMethod: 'client_secret_basic',
      staticRequestParameters: {},
      forwardedRequestParameters: [],
      claimsToPersist: [],
      requiredClaims: {},
    }));

  it('fits into an event', () => {
    const staticRequestParameters = Object.fromEntries(
      Array.from({ length: 1000 }, (_, n) => [`p${n}`, 'é'.repeat(500)]),
    );
    expect(() =>
      settingsOf({ ...request, staticRequestParameters }, { url, issuer: url, tokenEndpointOrigin: url }),
    ).toThrow('Payload Too Large');
  });

  it('is created once', () => {
    const create = (state: AuthenticationProviderState) =>
      createAuthenticationProvider(state, { providerId: 'p', settings, sealedSecret: 'sealed' }, { now });
    given([]).when(create).then([created]);
    given([created]).when(create).then([]);
    given([created]).thenState({ status: 'active', providerId: 'p', ...settings, sealedSecret: 'sealed' });
  });

  it('keeps its secret unless an update contains a new one', () => {
    const other = settingsOf(
      { ...request, clientId: 'd', scope: ['openid'] },
      { url, issuer: url, tokenEndpointOrigin: url },
    );
    given([created])
      .when((state) => updateAuthenticationProvider(state, { settings: other }, facts))
      .then([{ type: 'AuthenticationProviderChanged', data: { providerId: 'p', ...other } }]);
    given([created])
      .when((state) => updateAuthenticationProvider(state, { settings }, facts))
      .then([]);
    given([created])
      .when((state) => updateAuthenticationProvider(state, { settings, sealedSecret: 'new' }, facts))
      .then([{ type: 'AuthenticationProviderSecretReplaced', data: { providerId: 'p', sealedSecret: 'new' } }]);
    given([created, { type: 'AuthenticationProviderChanged', data: { providerId: 'p', ...other } }]).thenState({
      status: 'active',
      providerId: 'p',
      ...other,
      sealedSecret: 'sealed',
    });
  });

  describe('with another address', () => {
    const moved = (to: string, tokenEndpointOrigin = to) =>
      settingsOf(request, { url: to, issuer: to, tokenEndpointOrigin });
    const space: AuthenticationProviderEvent = {
      type: 'AuthenticationProviderIdentitySpaceStarted',
      data: { providerId: 'p', identitySpaceId: 's1' },
    };
    const changedTo = (next: ReturnType<typeof moved>): AuthenticationProviderEvent => ({
      type: 'AuthenticationProviderChanged',
      data: { providerId: 'p', ...next },
    });
    const replaced: AuthenticationProviderEvent = {
      type: 'AuthenticationProviderSecretReplaced',
      data: { providerId: 'p', sealedSecret: 'new' },
    };
    const update = (next: ReturnType<typeof moved>, sealedSecret?: string) => (state: AuthenticationProviderState) =>
      updateAuthenticationProvider(state, { settings: next, ...(sealedSecret && { sealedSecret }) }, facts);

    it.each([
      ['another host', 'https://evil.example', 'https://evil.example'],
      ['a subdomain of its host', 'https://x.idp.example', url],
      ['another port', 'https://idp.example:8443', url],
      ['a token endpoint on another host', url, 'https://evil.example'],
      ['another path with a token endpoint on another host', `${url}/realm`, 'https://evil.example'],
    ])('does not send its stored secret to %s', (_what, to, tokenEndpointOrigin) => {
      given([created])
        .when((state) => {
          try {
            return update(moved(to, tokenEndpointOrigin))(state);
          } catch (error) {
            expect((error as AppError).details).toEqual([
              { msg: expect.stringMatching(/^must be the secret itself/), param: 'clientSecret', location: 'body' },
            ]);
            throw error;
          }
        })
        .thenThrows('BadRequest');
    });

    it('starts an identity space with the secret in plain text, also on a change back', () => {
      const there = moved('https://other.example');
      given([created])
        .when(update(there, 'new'))
        .then([changedTo(there), replaced, space]);
      given([created, changedTo(there), replaced, space])
        .when((state) =>
          updateAuthenticationProvider(state, { settings, sealedSecret: 'new' }, { identitySpaceId: 's2' }),
        )
        .then([
          changedTo(settings),
          replaced,
          { type: 'AuthenticationProviderIdentitySpaceStarted', data: { providerId: 'p', identitySpaceId: 's2' } },
        ]);
      given([created, changedTo(there), replaced, space]).thenState({
        status: 'active',
        providerId: 'p',
        ...there,
        sealedSecret: 'new',
        identitySpaceId: 's1',
      });
    });

    it('starts one for another port, with the secret in plain text [T768]', () => {
      const there = moved(`${url}:8443`);
      given([created])
        .when(update(there, 'new'))
        .then([changedTo(there), replaced, space]);
    });

    it('starts one for another issuer of the same origin, which keeps the secret', () => {
      const realm = moved(`${url}/realm`, url);
      given([created])
        .when(update(realm))
        .then([changedTo(realm), space]);
    });

    it('can change without a secret when none is stored', () => {
      const { sealedSecret: _, ...open } = created.data as Extract<
        AuthenticationProviderEvent,
        { type: 'AuthenticationProviderCreated' }
      >['data'];
      const there = moved('https://other.example');
      given([{ type: 'AuthenticationProviderCreated', data: open }])
        .when(update(there))
        .then([changedTo(there), space]);
    });
  });

  it('that was saved without the origin of its token endpoint gets one, once, for its address', () => {
    const { tokenEndpointOrigin: _, ...before } = settings;
    const old: AuthenticationProviderEvent = {
      type: 'AuthenticationProviderCreated',
      data: { providerId: 'p', ...before, createdAt: now },
    };
    const pinned: AuthenticationProviderEvent = {
      type: 'AuthenticationProviderTokenEndpointPinned',
      data: { providerId: 'p', tokenEndpointOrigin: url },
    };
    const pin = (at: string) => (state: AuthenticationProviderState) =>
      pinTokenEndpoint(state, { url: at, tokenEndpointOrigin: url });
    given([old]).when(pin(url)).then([pinned]);
    given([old]).when(pin('https://other.example')).then([]);
    given([old, pinned]).when(pin(url)).then([]);
    given([created]).when(pin(url)).then([]);
    given([old, deleted]).when(pin(url)).then([]);
  });

  it('does not exist before its creation and after its deletion', () => {
    given([created]).when(deleteAuthenticationProvider).then([deleted]);
    for (const events of [[], [created, deleted]]) {
      given(events).when(deleteAuthenticationProvider).thenThrows('NotFound');
      given(events)
        .when((state) => updateAuthenticationProvider(state, { settings }, facts))
        .thenThrows('NotFound');
    }
  });
});

describe('the settings of an authentication provider', () => {
  it('have at most 900,000 bytes as JSON', () => {
    const sized = (length: number) =>
      settingsOf(
        { ...request, staticRequestParameters: { p: 'x'.repeat(length) } },
        { url, issuer: url, tokenEndpointOrigin: url },
      );
    const most = 900_000 - JSON.stringify(sized(0)).length;
    expect(JSON.stringify(sized(most))).toHaveLength(900_000);
    const message = 'Payload Too Large: the settings as JSON must have at most 900000 bytes';
    expect(() => sized(most + 1)).toThrow(expect.objectContaining({ kind: 'tooLarge', message }));
  });
});

describe('the address with another origin', () => {
  it.each([
    [{ url }, { url: `${url}/realm` }, undefined],
    [{ url }, { url: 'https://other.example' }, 'url'],
    [{ url, tokenEndpointOrigin: url }, { url, tokenEndpointOrigin: url }, undefined],
    [
      { url, tokenEndpointOrigin: url },
      { url, tokenEndpointOrigin: 'https://other.example' },
      'the token endpoint of url',
    ],
    [{ url }, { url, tokenEndpointOrigin: url }, undefined],
    [{ url, tokenEndpointOrigin: url }, { url }, undefined],
  ])('after a change from %j to %j is %j', (before, after, moved) => expect(movedAddress(before, after)).toBe(moved));
});
