import { IsIn, IsString, Matches, MaxLength } from 'class-validator';
import { defineOperation, holderAccess } from '../operation.js';
import { Optional } from '../validators.js';
import { DpopHeaders } from './protocol.js';

/** Events that a wallet reports about the credentials of one response (OID4VCI 1.0 section 11.1). */
export const NOTIFICATION_EVENTS = ['credential_accepted', 'credential_failure', 'credential_deleted'] as const;
export type NotificationEvent = (typeof NOTIFICATION_EVENTS)[number];

/** Notification request (OID4VCI 1.0 section 11.1); issuance applies its maxima. */
export class NotificationRequest {
  /** Value of the response that had the credentials. */
  @IsString() @MaxLength(128) notification_id: string;
  @IsIn(NOTIFICATION_EVENTS) event: NotificationEvent;
  /** For developers, printable ASCII without `"` and `\`. It is checked and not stored. */
  @Optional() @IsString() @Matches(/^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/) @MaxLength(2048) event_description?: string;
}

export const recordNotification = defineOperation({
  name: 'issuance.record-notification',
  since: 'v2.1.0',
  summary: 'Notify the issuer of what became of issued credentials (OID4VCI section 11)',
  description:
    'The access token is one of the session that the credentials were issued in, sent as to the credential endpoint. For credentials of the deferred credential endpoint, a token that has expired is accepted until their deferral would have ended. A repeated notification has no further effect.',
  http: {
    method: 'POST',
    path: '/v1/openid/notification',
    success: 204,
    body: 'raw',
    accepts: { 'application/json': NotificationRequest },
    acceptsHeaders: DpopHeaders,
    maxBodyBytes: 16_384,
  },
  example: { notification_id: '3f0f2c59-6a27-4e80-b2a0-9b6f5f0c7d11', event: 'credential_accepted' as const },
  access: holderAccess,
  analytics: { prefix: 'OPENID_NOTIFICATION', category: 'openid', recordedBy: 'service' },
  errors: 'oauth',
  errorStatuses: [400, 401, 429],
});
