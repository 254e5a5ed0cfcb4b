import type { Aggregate } from '@attestry/event-store';
import type { OpenIdSettings, OpenIdSettingsChanged, SettingsChange } from './openid-settings.events.js';

export const openIdSettingsStream = (tenantId: string): string => `openIdSettings-${tenantId}`;

const changed = <Settings extends object>(settings: Settings, change: SettingsChange<Settings>): Settings =>
  Object.fromEntries(
    Object.entries({
      ...settings,
      // A member of a request that is undefined counts as absent.
      ...Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)),
    }).filter(([, value]) => value !== null),
  ) as Settings;

const evolve = (state: OpenIdSettings, { data }: OpenIdSettingsChanged): OpenIdSettings => {
  const { encryption: before, ...settings } = state;
  const { encryption: change, ...others } = data;
  const encryption = change === null ? {} : changed(before ?? {}, change ?? {});
  return { ...changed(settings, others), ...(Object.keys(encryption).length > 0 && { encryption }) };
};

export const openIdSettings: Aggregate<OpenIdSettings, OpenIdSettingsChanged> = {
  category: 'openIdSettings',
  initial: {},
  types: { OpenIdSettingsChanged: 1 },
  evolve,
};
