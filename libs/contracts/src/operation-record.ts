import type { BusParticipant } from './services.js';

/** Object of a record: the resource that the operation created, changed or read. */
export interface OperationObject {
  /** Singular noun of the resource, for example `did`, `tenant-client`, `session`. */
  type: string;
  id: string;
}

/**
 * A call of an operation and its outcome, in the metadata of the first event that the operation appends (ADR 0072). Tenant, request id,
 * caller, operation and the time of the outcome are those of the event. `GET /v1/events` shows it as START and outcome.
 */
export interface OperationRecord {
  prefix: string;
  category: string;
  /** RFC 3339, UTC, milliseconds. */
  startedAt: string;
  outcome: 'SUCCESS' | 'FAIL';
  /** Metadata of START: `{limit}`. Never values of the request. */
  start?: Record<string, unknown>;
  /** Metadata of the outcome: `{entriesCount, nextCursor}`, `{error: {status, code, message}}`, ids. Never values. */
  metadata?: Record<string, unknown>;
  /** Request, sealed by analytics; absent at logging level 1. */
  requestData?: string;
  /** Response, sealed by analytics; absent at logging level 1. */
  data?: string;
  object?: OperationObject;
  /**
   * A management call: it is listed in the platform's trail, and in that of the tenant of the event or `about` of the message.
   */
  isManagement?: true;
}

/** A record that no event carries: a query, a refusal, or an operation with effects outside its append. A message on the feed. */
export interface OperationRecordMessage extends OperationRecord {
  /** `PLATFORM_TENANT` for a management call and other operations without tenant. */
  tenantId: string;
  requestId: string;
  operation: string;
  clientId?: string;
  managementUserId?: string;
  /** RFC 3339, UTC, milliseconds. */
  endedAt: string;
  /** Tenant that a management call names, if it exists: the record is listed in its trail, too. */
  about?: string;
}

/**
 * START of an operation with effects outside its append. Its outcome is a record, in an event or a message, with the same tenant and
 * request id; without one by the deadline analytics closes it as FAIL.
 */
export type OperationStartMessage = Omit<OperationRecordMessage, 'outcome' | 'endedAt' | 'metadata' | 'data'> & {
  /** Milliseconds since the epoch. */
  deadline: number;
};

/**
 * State of a process that records operations: `started` before its first record, `alive` at least every 10 s, `closed` after its last. A
 * recorder that was not closed has lost what it had not sent (ADR 0073).
 */
export interface RecorderMessage {
  /** uuid, new for every start. */
  instance: string;
  participant: BusParticipant;
  state: 'started' | 'alive' | 'closed';
  /** RFC 3339, UTC, milliseconds. */
  at: string;
}

/** Data that the service cannot know, in the context of a command that the gateway records. */
export interface BegunRecord {
  /** RFC 3339, UTC, milliseconds. */
  startedAt: string;
  /** See {@link OperationRecord}; at most {@link MAX_REQUEST_DATA} characters. */
  requestData?: string;
}

/** Sealed texts of `MAX_LOGGED_BYTES`, once without and once with personal values. */
export const MAX_REQUEST_DATA = 65_536;

/** Most bytes of a message about operations, as JSON: several of them fit into one append. */
export const MAX_RECORD_BYTES = 256 * 1024;

/** The record of a call until an event holds it. */
export interface PendingRecord {
  /** The record as the event will hold it. */
  recordFor(stream: string, event: { readonly data: object }): OperationRecord;
  isStored: boolean;
}

export const RECORD_KINDS = ['record', 'started', 'recorder'] as const;
/** Each participant has a subject of its own, so that a service can record its own operations only. */
export const recordSubject = (kind: (typeof RECORD_KINDS)[number], participant: BusParticipant): string =>
  `operation.${participant}.${kind}`;
