import type { NotificationEvent } from '@attestry/contracts';
import { given } from '@attestry/event-store';
import { notifyCredentials } from './credential-notification.decisions.js';
import type { CredentialNotified } from './credential-notification.events.js';
import { credentialNotification, type CredentialNotificationState } from './credential-notification.state.js';

const notified = (event: NotificationEvent, notifiedAt = '2026-05-01T10:00:00.000Z'): CredentialNotified => ({
  type: 'CredentialNotified',
  data: {
    ...{ notificationId: 'a1', event, sessionId: 's1', userId: 'u1', credentialConfigurationId: 'c1' },
    ...{ credentialIds: ['x'], notifiedAt },
  },
});

it('a notification of credentials is stored once of each kind [T396]', () => {
  const after = (...events: CredentialNotified[]) =>
    given<CredentialNotificationState, CredentialNotified>(credentialNotification, events);
  const [accepted, failure] = [notified('credential_accepted'), notified('credential_failure')];
  after()
    .when((state) => notifyCredentials(state, accepted.data))
    .then([accepted]);
  after(accepted)
    .when((state) => notifyCredentials(state, notified('credential_accepted', '2026-05-02T10:00:00.000Z').data))
    .then([]);
  after(accepted)
    .when((state) => notifyCredentials(state, failure.data))
    .then([failure]);
});
