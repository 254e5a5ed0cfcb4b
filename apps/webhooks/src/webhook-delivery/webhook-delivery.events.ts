import type { CredentialFormat, CredentialProfile, WebhookEvent } from '@attestry/contracts';

/** Told in clear; the credential of the full event stays sealed beside it. */
export interface DeliveryPayload {
  format: CredentialFormat;
  userId: string;
  credentialProfile: CredentialProfile;
  credentialConfigurationId: string;
  credentialId: string;
}

export type CancelReason = 'webhook-disabled' | 'webhook-deleted' | 'credential-erased' | 'user-deleted';

/** One event on its way to one webhook. `deliveryKey` names it; `deliveryId` is new for each attempt. */
export type WebhookDeliveryEvent =
  | {
      type: 'DeliveryScheduled';
      data: {
        deliveryKey: string;
        webhookId: string;
        event: { id: string; type: WebhookEvent; timestamp: string };
        payload: DeliveryPayload;
        /** Under the data key `keyId`, purpose `delivery` (decision 27). */
        sealedCredential?: { keyId: string; sealed: string };
        /** Keys of all deliveries that need this data key, this one included; the last to end destroys it. */
        sharedBy?: string[];
        /** Of the first attempt. */
        attemptAt: string;
      };
    }
  | {
      /** Stands before the request is sent: every request that went out is in the stream. */
      type: 'DeliveryAttemptStarted';
      data: { deliveryKey: string; deliveryId: string; attempt: number; startedAt: string };
    }
  | {
      type: 'DeliveryAttemptFailed';
      data: {
        deliveryKey: string;
        deliveryId: string;
        attempt: number;
        /** HTTP status of an answer, otherwise `error` says why there was none. */
        status?: number;
        error?: string;
        /** Absent after the last attempt. */
        nextAttemptAt?: string;
      };
    }
  | {
      type: 'DeliverySucceeded';
      data: { deliveryKey: string; deliveryId: string; attempt: number; status: number };
    }
  | { type: 'DeliveryExhausted'; data: { deliveryKey: string; attempts: number } }
  | { type: 'DeliveryCancelled'; data: { deliveryKey: string; reason: CancelReason } };

export type ScheduledDelivery = Extract<WebhookDeliveryEvent, { type: 'DeliveryScheduled' }>['data'];
