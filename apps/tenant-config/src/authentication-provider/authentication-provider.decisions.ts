import { invalidBody, notFound, tooLarge, type AuthenticationProviderRequest } from '@attestry/contracts';
import type { AuthenticationProviderEvent, ProviderSettings } from './authentication-provider.events.js';
import type { IntendedClient } from './provider-requirements.js';
import type { AuthenticationProviderState, ActiveProvider } from './authentication-provider.state.js';

/** Bytes as JSON: an event with its envelope has at most 1 MiB. */
const MAX_SETTINGS = 900_000;

const DEFAULT_SCOPE = ['openid', 'profile', 'email'];

const DEFAULT_METHOD = 'client_secret_basic';

export const intendedClient = (
  { tokenEndpointAuthMethod }: Pick<AuthenticationProviderRequest, 'tokenEndpointAuthMethod'>,
  hasSecret: boolean,
): IntendedClient => ({ tokenEndpointAuthMethod: tokenEndpointAuthMethod ?? DEFAULT_METHOD, hasSecret });

/** The request with its defaults; the addresses are those of the discovery document. @throws 413 */
export const settingsOf = (
  request: AuthenticationProviderRequest,
  { url, issuer, tokenEndpointOrigin }: { url: string; issuer: string; tokenEndpointOrigin: string },
): ProviderSettings => {
  const settings: ProviderSettings = {
    url,
    issuer,
    tokenEndpointOrigin,
    clientId: request.clientId,
    scope: request.scope ?? DEFAULT_SCOPE,
    tokenEndpointAuthMethod: request.tokenEndpointAuthMethod ?? DEFAULT_METHOD,
    staticRequestParameters: request.staticRequestParameters ?? {},
    forwardedRequestParameters: request.forwardedRequestParameters ?? [],
    claimsToPersist: request.claimsToPersist ?? [],
    requiredClaims: (request.requiredClaims ?? {}) as Record<string, unknown[]>,
  };
  if (Buffer.byteLength(JSON.stringify(settings)) > MAX_SETTINGS) throw tooLarge('the settings as JSON', MAX_SETTINGS);
  return settings;
};

/** @throws 404 when it does not exist or was deleted */
export const activeProvider = (state: AuthenticationProviderState): ActiveProvider => {
  if (state.status !== 'active') throw notFound();
  return state;
};

export const createAuthenticationProvider = (
  state: AuthenticationProviderState,
  command: { providerId: string; settings: ProviderSettings; sealedSecret?: string },
  facts: { now: string },
): AuthenticationProviderEvent[] => {
  if (state.status !== 'absent') return [];
  const { providerId, settings, sealedSecret } = command;
  const secret = sealedSecret === undefined ? {} : { sealedSecret };
  return [
    { type: 'AuthenticationProviderCreated', data: { providerId, ...settings, ...secret, createdAt: facts.now } },
  ];
};

/** JSON of the settings; members in the order of {@link settingsOf}. */
const text = ({ url, issuer, tokenEndpointOrigin, clientId, ...rest }: ProviderSettings): string =>
  JSON.stringify([
    url,
    issuer,
    tokenEndpointOrigin,
    clientId,
    rest.scope,
    rest.tokenEndpointAuthMethod,
    rest.staticRequestParameters,
    rest.forwardedRequestParameters,
    rest.claimsToPersist,
    rest.requiredClaims,
  ]);

const originOf = (url: string): string => new URL(url).origin;

interface ProviderAddress {
  url: string;
  tokenEndpointOrigin?: string;
}

/** Address with another origin, of those that the secret is sent to or that identify the provider. */
export const movedAddress = (before: ProviderAddress, after: ProviderAddress): string | undefined => {
  if (originOf(before.url) !== originOf(after.url)) return 'url';
  const [from, to] = [before.tokenEndpointOrigin, after.tokenEndpointOrigin];
  return from !== undefined && to !== undefined && from !== to ? 'the token endpoint of url' : undefined;
};

/**
 * The stored secret is sent only to the origins it was stored for: a caller who may change the address must not thereby receive the secret
 * (ADR 0050).
 * @throws 400 on `clientSecret`
 */
export const checkSecretStays = (
  current: ActiveProvider,
  next: ProviderAddress,
  { isSecretInClear }: { isSecretInClear: boolean },
): void => {
  const changed = current.sealedSecret === undefined || isSecretInClear ? undefined : movedAddress(current, next);
  if (changed !== undefined)
    throw invalidBody(
      'clientSecret',
      `must be the secret itself, neither masked nor omitted, because the origin of ${changed} changed; the stored secret is only sent to the origin it was saved for`,
    );
};

/**
 * Full replacement; without a new secret the stored one is kept, unless it would be sent to another origin (ADR 0050). Another issuer
 * starts a new identity space, also when it is a former one: subjects are unique within an issuer only, and the address may have changed
 * hands in between.
 * @throws 404; 400 as {@link checkSecretStays}
 * @throws 404; 400 as {@link checkSecretStays}
 */
export const updateAuthenticationProvider = (
  state: AuthenticationProviderState,
  { settings, sealedSecret }: { settings: ProviderSettings; sealedSecret?: string },
  facts: { identitySpaceId: string },
): AuthenticationProviderEvent[] => {
  const current = activeProvider(state);
  const { providerId } = current;
  checkSecretStays(current, settings, { isSecretInClear: sealedSecret !== undefined });
  const events: AuthenticationProviderEvent[] = [];
  if (text(settings) !== text(current))
    events.push({ type: 'AuthenticationProviderChanged', data: { providerId, ...settings } });
  if (sealedSecret !== undefined)
    events.push({ type: 'AuthenticationProviderSecretReplaced', data: { providerId, sealedSecret } });
  if (settings.url !== current.url)
    events.push({
      type: 'AuthenticationProviderIdentitySpaceStarted',
      data: { providerId, identitySpaceId: facts.identitySpaceId },
    });
  return events;
};

/** Pins the origin for a provider that was saved without one; no event when its settings changed meanwhile. */
export const pinTokenEndpoint = (
  state: AuthenticationProviderState,
  { url, tokenEndpointOrigin }: { url: string; tokenEndpointOrigin: string },
): AuthenticationProviderEvent[] =>
  state.status !== 'active' || state.url !== url || state.tokenEndpointOrigin !== undefined
    ? []
    : [
        {
          type: 'AuthenticationProviderTokenEndpointPinned',
          data: { providerId: state.providerId, tokenEndpointOrigin },
        },
      ];

/** @throws 404, also the second time */
export const deleteAuthenticationProvider = (state: AuthenticationProviderState): AuthenticationProviderEvent[] => [
  { type: 'AuthenticationProviderDeleted', data: { providerId: activeProvider(state).providerId } },
];
