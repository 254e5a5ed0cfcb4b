import type { OpenIdConfiguration } from '@attestry/contracts';
import type { OpenIdSettings, OpenIdSettingsChanged } from './openid-settings.events.js';

/** Settings with the defaults of the members that are not set. */
export const effectiveSettings = (settings: OpenIdSettings, { nodeEnv }: { nodeEnv: string }): OpenIdConfiguration => ({
  allowUnregisteredWallets: nodeEnv !== 'production',
  dpopNonceRequired: false,
  ...settings,
});

/** Members that change. `undefined` counts as absent, null resets. */
export const changeSettings = (
  settings: OpenIdSettings,
  wanted: OpenIdSettingsChanged['data'],
): OpenIdSettingsChanged[] => {
  const changed = Object.entries(wanted).filter(
    ([member, value]) => value !== undefined && value !== (settings[member as keyof OpenIdSettings] ?? null),
  );
  return changed.length ? [{ type: 'OpenIdSettingsChanged', data: Object.fromEntries(changed) }] : [];
};
