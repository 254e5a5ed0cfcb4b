import type { Aggregate } from '@attestry/event-store';
import type { OpenIdSettings, OpenIdSettingsChanged } from './openid-settings.events.js';

export const openIdSettingsStream = (tenantId: string): string => `openIdSettings-${tenantId}`;

export const openIdSettings: Aggregate<OpenIdSettings, OpenIdSettingsChanged> = {
  category: 'openIdSettings',
  initial: {},
  types: { OpenIdSettingsChanged: 1 },
  evolve: (state, { data }) =>
    Object.fromEntries(Object.entries({ ...state, ...data }).filter(([, value]) => value !== null)),
};
