import { invalid, type EncryptionPolicy, type ErrorDetail, type OpenIdConfiguration } from '@attestry/contracts';
import { haipFaults, HAIP_SETTINGS, type HaipFacts } from '../haip/haip.decisions.js';
import type { OpenIdSettings, OpenIdSettingsChanged } from './openid-settings.events.js';
import { openIdSettings } from './openid-settings.state.js';

/** A response is only encrypted for an encrypted request (OID4VCI 1.0 §8.2), so requiring one requires both. */
export const encryptionPolicy = ({ encryption = {} }: OpenIdSettings): EncryptionPolicy => {
  const { enabled = true, requestRequired = false, responseRequired = false } = encryption;
  return { enabled, requestRequired: requestRequired || responseRequired, responseRequired };
};

/** Settings with the defaults of the members that are not set. */
export const effectiveSettings = (settings: OpenIdSettings, { nodeEnv }: { nodeEnv: string }): OpenIdConfiguration => ({
  profile: 'default',
  allowUnregisteredWallets: nodeEnv !== 'production',
  requirePushedAuthorizationRequests: false,
  dpopNonceRequired: false,
  refreshTokenDays: 30,
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
