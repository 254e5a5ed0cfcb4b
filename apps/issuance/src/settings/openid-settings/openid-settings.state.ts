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

const changedWithin = <Settings extends object>(
  settings: Settings | undefined,
  change: SettingsChange<Settings> | null | undefined,
): Settings | undefined => {
  if (change === null) return undefined;
  const after = changed(settings ?? ({} as Settings), change ?? {});
  return Object.keys(after).length > 0 ? after : undefined;
};

const evolve = (state: OpenIdSettings, { data }: OpenIdSettingsChanged): OpenIdSettings => {
  const { encryption: before, interactionHook: hookBefore, ...settings } = state;
  const { encryption: change, interactionHook: hookChange, ...others } = data;
  const encryption = changedWithin(before, change);
  const interactionHook = changedWithin(hookBefore, hookChange);
  return {
    ...changed(settings, others),
    ...(encryption && { encryption }),
    ...(interactionHook && { interactionHook }),
  };
};

export const openIdSettings: Aggregate<OpenIdSettings, OpenIdSettingsChanged> = {
  category: 'openIdSettings',
  initial: {},
  types: { OpenIdSettingsChanged: 1 },
  evolve,
};
