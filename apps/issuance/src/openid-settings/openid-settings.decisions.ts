import { invalidBody, type EncryptionPolicy, type OpenIdConfiguration } from '@attestry/contracts';
import type { OpenIdSettings, OpenIdSettingsChanged } from './openid-settings.events.js';
import { openIdSettings } from './openid-settings.state.js';

/** A response is only encrypted for an encrypted request (OID4VCI 1.0 §8.2), so requiring one requires both. */
export const encryptionPolicy = ({ encryption = {} }: OpenIdSettings): EncryptionPolicy => {
  const { enabled = true, requestRequired = false, responseRequired = false } = encryption;
  return { enabled, requestRequired: requestRequired || responseRequired, responseRequired };
};

/** Settings with the defaults of the members that are not set. */
export const effectiveSettings = (settings: OpenIdSettings, { nodeEnv }: { nodeEnv: string }): OpenIdConfiguration => ({
  allowUnregisteredWallets: nodeEnv !== 'production',
  requirePushedAuthorizationRequests: false,
  dpopNonceRequired: false,
  refreshTokenDays: 30,
  deferredDays: 30,
  ...settings,
  encryption: encryptionPolicy(settings),
});

/** Only members that the change names; null resets one. @throws AppError 400 for settings that contradict each other */
export const changeSettings = (
  state: OpenIdSettings,
  change: OpenIdSettingsChanged['data'],
): OpenIdSettingsChanged[] => {
  const event: OpenIdSettingsChanged = { type: 'OpenIdSettingsChanged', data: change };
  const settings = openIdSettings.evolve(state, event);
  refuseContradictions(settings);
  // `evolve` keeps the order of members.
  return JSON.stringify(settings) === JSON.stringify(state) ? [] : [event];
};

/** Otherwise switching encryption off would silently end a requirement. */
const refuseContradictions = ({ encryption = {} }: OpenIdSettings): void => {
  if (encryption.enabled !== false) return;
  for (const member of ['requestRequired', 'responseRequired'] as const)
    if (encryption[member])
      throw invalidBody(`encryption.${member}`, 'must not be true while encryption.enabled is false', true);
};
