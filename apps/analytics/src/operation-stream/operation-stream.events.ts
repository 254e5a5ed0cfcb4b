import type { OperationRecordMessage, OperationStartMessage, RecorderMessage } from '@attestry/contracts';

/** Outcome of an operation that reported none; ids and times are in the event's metadata. */
export interface ClosingFact {
  prefix: string;
  category: string;
  operation: string;
  metadata: Record<string, unknown>;
  clientId?: string;
  managementUserId?: string;
}

type Within<Message> = Omit<Message, 'tenantId' | 'requestId' | 'about'>;
export type RecordFact = Within<OperationRecordMessage>;
export type StartFact = Within<OperationStartMessage>;
export type RecorderFact = Omit<RecorderMessage, 'state' | 'at'> & { state: RecorderMessage['state'] | 'lost' };

/**
 * Events for operations whose record no domain event holds (ADR 0073). `RecordFact`, `StartFact` and `RecorderFact` have the members of the
 * messages in `libs/contracts/src/operation-record.ts`.
 */
export type OperationStreamEvent =
  /** START and outcome of an operation without an event of its own. */
  | { type: 'OperationRecorded'; data: RecordFact }
  /** START of an operation with effects outside its append. */
  | { type: 'OperationBegun'; data: StartFact }
  | { type: 'RecorderReported'; data: RecorderFact }
  /** Outcome FAIL of an `OperationBegun` without one, by analytics. */
  | { type: 'OperationClosed'; data: ClosingFact };

export const OPERATION_EVENT_TYPES: Readonly<Record<OperationStreamEvent['type'], number>> = {
  OperationRecorded: 1,
  OperationBegun: 1,
  RecorderReported: 1,
  OperationClosed: 1,
};

export const OPERATION_CATEGORY = 'operation';

/** One stream per tenant and month, so that retention deletes whole streams. */
export const operationStream = (tenantId: string, timestamp: string): string =>
  `${OPERATION_CATEGORY}-${tenantId}+${timestamp.slice(0, 7)}`;
