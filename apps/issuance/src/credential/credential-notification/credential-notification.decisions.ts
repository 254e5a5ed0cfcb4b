import type { CredentialNotified } from './credential-notification.events.js';
import type { CredentialNotificationState } from './credential-notification.state.js';

/** Once of each kind: notifications are idempotent (OID4VCI 1.0 §11), and a wallet cannot make a stream grow. */
export const notifyCredentials = (
  state: CredentialNotificationState,
  data: CredentialNotified['data'],
): CredentialNotified[] => (state.includes(data.event) ? [] : [{ type: 'CredentialNotified', data }]);
