import { AppError, type AuthenticationProviderRequest } from '@attestry/contracts';
import { given as givenOf } from '@attestry/event-store';
import {
  createAuthenticationProvider,
  deleteAuthenticationProvider,
  settingsOf,
  updateAuthenticationProvider,
} from './authentication-provider.decisions.js';
import type { AuthenticationProviderEvent } from './authentication-provider.events.js';
import { authenticationProvider, type AuthenticationProviderState } from './authentication-provider.state.js';
import { isMaskOf, mask } from './masked-secret.js';

const now = '2026-03-01T10:00:00.000Z';
const url = 'https://idp.example';
const request: AuthenticationProviderRequest = { url, clientId: 'c' };
const settings = settingsOf(request, { url, issuer: `${url}/` });
const given = (events: AuthenticationProviderEvent[]) =>
  givenOf<AuthenticationProviderState, AuthenticationProviderEvent>(authenticationProvider, events);
const created: AuthenticationProviderEvent = {
  type: 'AuthenticationProviderCreated',
  data: { providerId: 'p', ...settings, sealedSecret: 'sealed', createdAt: now },
};
const deleted: AuthenticationProviderEvent = { type: 'AuthenticationProviderDeleted', data: { providerId: 'p' } };

describe('an authentication provider', () => {
  it('has these defaults', () =>
    expect(settings).toEqual({
      url,
      issuer: `${url}/`,
      clientId: 'c',
      scope: ['openid', 'profile', 'email'],
      tokenEndpointAuthMethod: 'client_secret_basic',
      staticRequestParameters: {},
      forwardedRequestParameters: [],
      claimsToPersist: [],
    }));

  it('fits into an event', () => {
    const staticRequestParameters = Object.fromEntries(
      Array.from({ length: 1000 }, (_, n) => [`p${n}`, 'é'.repeat(500)]),
    );
    expect(() => settingsOf({ ...request, staticRequestParameters }, { url, issuer: url })).toThrow(
      'Payload Too Large',
    );
  });

  it('is created once', () => {
    const create = (state: AuthenticationProviderState) =>
      createAuthenticationProvider(state, { providerId: 'p', settings, sealedSecret: 'sealed' }, { now });
    given([]).when(create).then([created]);
    given([created]).when(create).then([]);
    given([created]).thenState({ status: 'living', providerId: 'p', ...settings, sealedSecret: 'sealed' });
  });

  it('keeps its secret unless a new one comes', () => {
    const other = settingsOf({ ...request, clientId: 'd', scope: ['openid'] }, { url, issuer: url });
    given([created])
      .when((state) => updateAuthenticationProvider(state, { settings: other }))
      .then([{ type: 'AuthenticationProviderChanged', data: { providerId: 'p', ...other } }]);
    given([created])
      .when((state) => updateAuthenticationProvider(state, { settings }))
      .then([]);
    given([created])
      .when((state) => updateAuthenticationProvider(state, { settings, sealedSecret: 'new' }))
      .then([{ type: 'AuthenticationProviderSecretReplaced', data: { providerId: 'p', sealedSecret: 'new' } }]);
    given([created, { type: 'AuthenticationProviderChanged', data: { providerId: 'p', ...other } }]).thenState({
      status: 'living',
      providerId: 'p',
      ...other,
      sealedSecret: 'sealed',
    });
  });

  it('is gone after deletion and unknown before creation', () => {
    given([created]).when(deleteAuthenticationProvider).then([deleted]);
    for (const events of [[], [created, deleted]]) {
      given(events).when(deleteAuthenticationProvider).thenThrows('NotFound');
      given(events)
        .when((state) => updateAuthenticationProvider(state, { settings }))
        .thenThrows('NotFound');
    }
  });
});

describe('a masked secret', () => {
  it('shows its last characters, and of a short one less', () => {
    expect(mask('0123456789abcdefghij')).toBe('**********fghij');
    expect(mask('0123456789abcdefghij'.repeat(5))).toBe('**********fghij');
    expect(mask('12345678')).toBe('**********78');
    expect(mask('abc')).toBe('**********');
  });

  it('is the stored one, or refused', () => {
    const secret = '0123456789abcdefghij';
    expect(isMaskOf(mask(secret), secret)).toBe(true);
    expect(isMaskOf('a new secret', secret)).toBe(false);
    expect(isMaskOf('***', secret)).toBe(false);
    for (const [text, stored] of [
      ['**********other', secret],
      [mask(secret), undefined],
    ] as const)
      try {
        isMaskOf(text, stored);
        throw new Error('was accepted');
      } catch (error) {
        expect((error as AppError).details).toEqual([
          { msg: expect.stringMatching(/^is masked/), param: 'clientSecret', location: 'body' },
        ]);
      }
  });
});
