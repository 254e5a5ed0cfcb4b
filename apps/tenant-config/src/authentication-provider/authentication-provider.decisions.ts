import { AppError, notFound, type AuthenticationProviderRequest } from '@attestry/contracts';
import type { AuthenticationProviderEvent, ProviderSettings } from './authentication-provider.events.js';
import type { AuthenticationProviderState, LivingProvider } from './authentication-provider.state.js';

/** Bytes as JSON: an event with its envelope has at most 1 MiB. */
const MAX_SETTINGS = 900_000;

const DEFAULT_SCOPE = ['openid', 'profile', 'email'];

/** The request with its defaults; the address and issuer are what the discovery document confirmed. @throws 413 */
export const settingsOf = (
  request: AuthenticationProviderRequest,
  { url, issuer }: { url: string; issuer: string },
): ProviderSettings => {
  const settings: ProviderSettings = {
    url,
    issuer,
    clientId: request.clientId,
    scope: request.scope ?? DEFAULT_SCOPE,
    tokenEndpointAuthMethod: request.tokenEndpointAuthMethod ?? 'client_secret_basic',
    staticRequestParameters: request.staticRequestParameters ?? {},
    forwardedRequestParameters: request.forwardedRequestParameters ?? [],
    claimsToPersist: request.claimsToPersist ?? [],
  };
  if (Buffer.byteLength(JSON.stringify(settings)) > MAX_SETTINGS) throw new AppError('tooLarge', 'Payload Too Large');
  return settings;
};

/** @throws 404 when it does not exist or was deleted */
export const living = (state: AuthenticationProviderState): LivingProvider => {
  if (state.status !== 'living') throw notFound();
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

/** As JSON has it; members in the order {@link settingsOf} gives them. */
const text = ({ url, issuer, clientId, ...rest }: ProviderSettings): string =>
  JSON.stringify([
    url,
    issuer,
    clientId,
    rest.scope,
    rest.tokenEndpointAuthMethod,
    rest.staticRequestParameters,
    rest.forwardedRequestParameters,
    rest.claimsToPersist,
  ]);

/** Full replacement; without a new secret the stored one stays (decision 33). @throws 404 */
export const updateAuthenticationProvider = (
  state: AuthenticationProviderState,
  { settings, sealedSecret }: { settings: ProviderSettings; sealedSecret?: string },
): AuthenticationProviderEvent[] => {
  const current = living(state);
  const { providerId } = current;
  const events: AuthenticationProviderEvent[] = [];
  if (text(settings) !== text(current))
    events.push({ type: 'AuthenticationProviderChanged', data: { providerId, ...settings } });
  if (sealedSecret !== undefined)
    events.push({ type: 'AuthenticationProviderSecretReplaced', data: { providerId, sealedSecret } });
  return events;
};

/** @throws 404, also the second time */
export const deleteAuthenticationProvider = (state: AuthenticationProviderState): AuthenticationProviderEvent[] => [
  { type: 'AuthenticationProviderDeleted', data: { providerId: living(state).providerId } },
];
