import type { NotificationEvent } from '@attestry/contracts';

/** The first report of a kind by the wallet, about the credentials of one response (OID4VCI 1.0 §11). */
export interface CredentialNotified {
  type: 'CredentialNotified';
  data: {
    /** `answerId` of the credentials. */
    notificationId: string;
    event: NotificationEvent;
    sessionId: string;
    userId: string;
    credentialConfigurationId: string;
    credentialIds: string[];
    notifiedAt: string;
  };
}
