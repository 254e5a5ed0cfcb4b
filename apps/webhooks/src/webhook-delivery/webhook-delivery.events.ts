import type { CredentialFormat, CredentialProfile, WebhookEventType } from '@attestry/contracts';

/** Part of an issued credential's event that is stored in plain text; the credential of the full event is stored sealed beside it. */
export interface CredentialPayload {
  format: CredentialFormat;
  userId: string;
  credentialProfile: CredentialProfile;
  credentialConfigurationId: string;
  credentialId: string;
}
/** Ids and words, never a personal value, because it is stored in plain text. */
export type DeliveryPayload = CredentialPayload | ({ userId?: never } & Readonly<Record<string, unknown>>);

export type CancelReason = 'webhook-disabled' | 'webhook-deleted' | 'credential-erased' | 'user-deleted';

/** Delivery of one event to one webhook. `deliveryKey` identifies it; `deliveryId` is different for each attempt. */
export type WebhookDeliveryEvent =
  | {
      type: 'DeliveryScheduled';
      data: {
        deliveryKey: string;
        webhookId: string;
        event: { id: string; type: WebhookEventType; timestamp: string };
        payload: DeliveryPayload;
        /**
         * The document that issuance returns for the session (ADR 0070), sealed under the data key `keyId`, purpose `delivery`, which is
         * destroyed with the last attempt (ADR 0058).
         */
        sealedCredential?: { keyId: string; sessionId: string };
        /** Keys of all deliveries that need this data key, this one included; the last to end destroys it. */
        sharedBy?: string[];
        /** Time of the first attempt. */
        attemptAt: string;
        /** The first attempt, which is sent with this event; without it one is started later. */
        deliveryId?: string;
      };
    }
  | {
      /** Stored before the request is sent, as a first attempt is in DeliveryScheduled: every request is in the stream. */
      type: 'DeliveryAttemptStarted';
      data: {
        deliveryKey: string;
        deliveryId: string;
        attempt: number;
        startedAt: string;
        /** Event type and webhook, for the list of attempts. */
        webhookId: string;
        event: ScheduledDelivery['event'];
        /** The attempt before it, when it has no recorded outcome. */
        instead?: string;
      };
    }
  | {
      type: 'DeliveryAttemptFailed';
      data: {
        deliveryKey: string;
        deliveryId: string;
        attempt: number;
        /** HTTP status of a response, otherwise `error` is the reason for its absence. */
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
  | {
      type: 'DeliveryCancelled';
      data: {
        deliveryKey: string;
        reason: CancelReason;
        /** The newest attempt, if there was one. */
        deliveryId?: string;
      };
    }
  | {
      /** A redelivery of an ended delivery was requested: same event, attempts from 1. */
      type: 'DeliveryRequeued';
      data: { deliveryKey: string; webhookId: string; userId?: string; keyId?: string; attemptAt: string };
    };

export type ScheduledDelivery = Extract<WebhookDeliveryEvent, { type: 'DeliveryScheduled' }>['data'];
