/** Operation events: what `GET /v1/events` shows. The messages are those of releases before records (ADR 0073); analytics still reads them. */

import type { BusParticipant } from './services.js';

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
  /** Data of the request or the response, encrypted by analytics for this message; absent at logging level 1. */
  data?: string;
  /** On SUCCESS of a management call: the tenant it was about, and when it started; also listed in that tenant's events. */
  about?: { tenantId: string; startedAt: string };
}

/**
 * `operation.<participant>.<outcome in lower case>`: each recording participant has subjects of its own, so that a service
 * can record outcomes of its own operations only.
 */
export const operationSubject = (outcome: Outcome, participant: BusParticipant): string =>
  `operation.${participant}.${outcome.toLowerCase()}`;
export const OPERATION_SUBJECTS = 'operation.>';
