import type { Aggregate } from '@attestry/event-store';
import type { OpenIdSettings, OpenIdSettingsChanged, SettingsChange } from './openid-settings.events.js';

export const openIdSettingsStream = (tenantId: string): string => `openIdSettings-${tenantId}`;

/** A member that is undefined is not part of a change. */
const named = (change: object): object =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));

const changed = <Settings extends object>(settings: Settings, change: SettingsChange<Settings>): Settings =>
  Object.fromEntries(
    Object.entries({ ...settings, ...named(change) }).filter(([, value]) => value !== null),
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
