import type { NotificationEvent } from '@attestry/contracts';
import type { Aggregate } from '@attestry/event-store';
import type { CredentialNotified } from './credential-notification.events.js';

/** Kinds of reports that were received of a response. */
export type CredentialNotificationState = readonly NotificationEvent[];

export const credentialNotificationStream = (tenantId: string, notificationId: string): string =>
  `credentialNotification-${tenantId}+${notificationId}`;

export const credentialNotification: Aggregate<CredentialNotificationState, CredentialNotified> = {
  category: 'credentialNotification',
  initial: [],
  types: { CredentialNotified: 1 },
  evolve: (state, { data }) => [...state, data.event],
};
