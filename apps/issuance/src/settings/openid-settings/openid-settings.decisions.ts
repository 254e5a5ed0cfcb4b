import {
  invalid,
  invalidBody,
  type EncryptionPolicy,
  type ErrorDetail,
  type InteractionHook,
  type OpenIdConfiguration,
  type OpenIdConfigurationRequest,
} from '@attestry/contracts';
import { haipFaults, HAIP_SETTINGS, type HaipFacts } from '../haip/haip.decisions.js';
import type { InteractionHookSettings, OpenIdSettings, OpenIdSettingsChanged } from './openid-settings.events.js';
import { openIdSettings } from './openid-settings.state.js';

/** A response is only encrypted for an encrypted request (OID4VCI 1.0 §8.2), so requiring one requires both. */
export const encryptionPolicy = ({ encryption = {} }: OpenIdSettings): EncryptionPolicy => {
  const { enabled = true, requestRequired = false, responseRequired = false } = encryption;
  return { enabled, requestRequired: requestRequired || responseRequired, responseRequired };
};

/** Without the secret. */
export const effectiveHook = ({
  url,
  claims = [],
  sessionTimeoutInSec = 1200,
  disabled = false,
}: InteractionHookSettings): Omit<InteractionHook, 'secret'> => ({ url, claims, sessionTimeoutInSec, disabled });

/** Settings with the defaults of the members that are not set. */
export const effectiveSettings = (
  { interactionHook: _, issuerDomain, ...settings }: OpenIdSettings,
  { nodeEnv }: { nodeEnv: string },
): OpenIdConfiguration => ({
  profile: 'default',
  allowUnregisteredWallets: nodeEnv !== 'production',
  requirePushedAuthorizationRequests: false,
  dpopNonceRequired: false,
  strictClaimsSources: false,
  strictClaims: false,
  refreshTokenDays: 30,
  deferredDays: 30,
  issuerName: issuerDomain === undefined ? 'host' : 'domain',
  advertiseScopes: true,
  ...settings,
  ...(settings.profile === 'haip' && HAIP_SETTINGS),
  encryption: encryptionPolicy(settings),
});

/**
 * Only members that the change names; null resets one.
 * @param facts of a change that names `profile`
 * @throws AppError 400 with a detail for each contradiction
 */
export const changeSettings = (
  state: OpenIdSettings,
  change: OpenIdSettingsChanged['data'],
  facts?: HaipFacts,
): OpenIdSettingsChanged[] => {
  const event: OpenIdSettingsChanged = { type: 'OpenIdSettingsChanged', data: change };
  const settings = openIdSettings.evolve(state, event);
  const faults = [...encryptionFaults(settings), ...haipFaults(settings, facts)];
  if (faults.length > 0) throw invalid(...faults);
  // `evolve` keeps the order of members.
  return JSON.stringify(settings) === JSON.stringify(state) ? [] : [event];
};

/** Ends the name of an issuer that has lost its domain; that of another domain remains. */
export const resetIssuerName = (
  state: OpenIdSettings,
  { withdrawn }: { withdrawn: string },
): OpenIdSettingsChanged[] => (state.issuerDomain === withdrawn ? changeSettings(state, { issuerDomain: null }) : []);

/** Otherwise switching encryption off would silently end a requirement. */
const encryptionFaults = ({ encryption = {} }: OpenIdSettings): ErrorDetail[] =>
  (['requestRequired', 'responseRequired'] as const)
    .filter((member) => encryption.enabled === false && encryption[member])
    .map((member) => ({
      value: true,
      msg: 'must not be true while encryption.enabled is false',
      param: `encryption.${member}`,
      location: 'body',
    }));

/** A key that was made for the hook, in case it needs one. */
export type MadeSecret = Pick<InteractionHookSettings, 'sealedSecret' | 'secretKeyId'>;
/** A change as it is requested: the secret is `null` for a new one, and otherwise the masked form of the stored one. */
export type RequestedHook = NonNullable<OpenIdConfigurationRequest['interactionHook']>;

/** Whether the hook gets a new secret: the first one, or in place of the stored one. */
export const needsSecret = (
  { interactionHook }: OpenIdSettings,
  requested: RequestedHook | null | undefined,
): boolean =>
  requested !== undefined && requested !== null && (interactionHook === undefined || requested.secret === null);

/**
 * The members of the hook that change.
 * @param made used where {@link needsSecret} holds
 * @throws AppError 400
 */
export const changeOfHook = (
  state: OpenIdSettings,
  requested: RequestedHook | null | undefined,
  made: MadeSecret | undefined,
): OpenIdSettingsChanged['data']['interactionHook'] => {
  if (requested === undefined || requested === null) return requested;
  const { secret: _, ...members } = requested;
  if (!state.interactionHook && Object.values(requested).every((member) => member === undefined)) return undefined;
  if (!state.interactionHook && members.url === undefined)
    throw invalidBody('interactionHook.url', 'is required when the hook is made');
  if (!needsSecret(state, requested)) return members;
  if (!made) throw new Error('a secret is needed and was not made');
  const { sealedSecret, secretKeyId } = made;
  return { ...members, sealedSecret, secretKeyId };
};
