/** Operation events: what `GET /v1/events` shows (ADR 0004). */

import type { BusParty } from './operation.js';

export const OUTCOMES = ['START', 'SUCCESS', 'FAIL'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Tenant id used for operations that belong to no tenant. */
export const PLATFORM_TENANT = 'platform';

/** A message on the feed, subject {@link operationSubject}. */
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
  /** What was asked or answered, sealed by analytics for this message; absent at logging level 1. */
  data?: string;
  /** On SUCCESS of a management call: the tenant it was about, and when it started; shown in that tenant's trail too. */
  about?: { tenantId: string; startedAt: string };
}

/**
 * `operation.<party>.<outcome in lower case>`: each party that records has subjects of its own, so that a service can be
 * believed about its own operations and about no others.
 */
export const operationSubject = (outcome: Outcome, party: BusParty): string =>
  `operation.${party}.${outcome.toLowerCase()}`;
export const OPERATION_SUBJECTS = 'operation.>';

/**
 * Sent by every service's publisher, one message per published batch: requests whose domain events are stored. From it
 * analytics closes a START whose outcome never came (ADR 0004).
 */
export interface RequestsCommitted {
  requests: { requestId: string; tenantId: string; operation: string }[];
}
export const REQUESTS_COMMITTED_SUBJECT = 'operation.committed';

/** Of analytics to itself: what is overdue is closed when this has come through the feed. */
export const OVERDUE_MARK_SUBJECT = 'operation.mark';
