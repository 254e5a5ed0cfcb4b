/** Operation events: what `GET /v1/events` shows (facts 9.1, decisions 11 and 12). */

export type Outcome = 'START' | 'SUCCESS' | 'FAIL';

/** Tenant id used for operations that belong to no tenant. */
export const PLATFORM_TENANT = 'platform';

/** A message on the feed, subject `operation.<outcome in lower case>`. */
export interface OperationEventMessage {
  /** uuid */
  id: string;
  outcome: Outcome;
  prefix: string;
  category: string;
  /** {@link PLATFORM_TENANT} when the operation has none. */
  tenantId: string;
  requestId: string;
  /** RFC 3339, milliseconds. */
  timestamp: string;
  operation: string;
  /** Milliseconds since the epoch; on START: when an outcome is due. */
  deadline?: number;
  clientId?: string;
  managementUserId?: string;
  /** Metadata only (logging level 1): `{limit}`, `{entriesCount, nextCursor}`, `{error: {status, code, message}}`; never values. */
  metadata: Record<string, unknown>;
  /** On SUCCESS of a management call: the tenant it was about, and when it started; shown in that tenant's trail too. */
  about?: { tenantId: string; startedAt: string };
}

export const operationSubject = (outcome: Outcome): string => `operation.${outcome.toLowerCase()}`;
export const OPERATION_SUBJECTS = 'operation.>';

/**
 * Sent by every service's publisher, one message per published batch: requests whose domain events are stored. From it
 * analytics closes a START whose outcome never came (decision 12).
 */
export interface RequestsCommitted {
  requests: { requestId: string; tenantId: string; operation: string }[];
}
export const REQUESTS_COMMITTED_SUBJECT = 'operation.committed';
