import type {
  OperationEventMessage,
  OperationRecordMessage,
  OperationStartMessage,
  RecorderMessage,
} from '@attestry/contracts';

/** Data of an event of the former shape, and of a START; ids and times are in the event's metadata. */
export interface OperationFact {
  prefix: string;
  category: string;
  operation: string;
  metadata: Record<string, unknown>;
  clientId?: string;
  managementUserId?: string;
  /** Request or response, sealed (architecture, No secrets in plain text); absent at logging level 1. */
  data?: string;
}

type Within<Message> = Omit<Message, 'tenantId' | 'requestId' | 'about'>;
export type RecordFact = Within<OperationRecordMessage>;
export type StartFact = Within<OperationStartMessage>;
export type RecorderFact = Omit<RecorderMessage, 'state' | 'at'> & { state: RecorderMessage['state'] | 'lost' };

/**
 * Events for operations whose record no domain event holds (ADR 0073). `RecordFact`, `StartFact` and `RecorderFact` have the members of the
 * messages in `libs/contracts/src/operation-record.ts`. `OperationStarted` and `OperationCommitted` were written by earlier releases only.
 */
export type OperationStreamEvent =
  /** START and outcome of an operation without an event of its own. */
  | { type: 'OperationRecorded'; data: RecordFact }
  /** START of an operation with effects outside its append. */
  | { type: 'OperationBegun'; data: StartFact }
  | { type: 'RecorderReported'; data: RecorderFact }
  /**
   * Written by analytics for a START without outcome, as `OperationSucceeded` where an earlier release reported the events as stored; otherwise only
   * by releases that recorded START and outcome separately.
   */
  | { type: 'OperationFailed'; data: OperationFact }
  | { type: 'OperationStarted'; data: OperationFact & { deadline: number } }
  | { type: 'OperationSucceeded'; data: OperationFact }
  /** Domain events of the request were stored, as publishers of earlier releases reported. */
  | { type: 'OperationCommitted'; data: { operation: string } };

export const OPERATION_EVENT_TYPES: Readonly<Record<OperationStreamEvent['type'], number>> = {
  OperationRecorded: 1,
  OperationBegun: 1,
  RecorderReported: 1,
  OperationStarted: 1,
  OperationSucceeded: 1,
  OperationFailed: 1,
  OperationCommitted: 1,
};

export const OPERATION_CATEGORY = 'operation';

/** One stream per tenant and month, so that retention deletes whole streams. */
export const operationStream = (tenantId: string, timestamp: string): string =>
  `${OPERATION_CATEGORY}-${tenantId}+${timestamp.slice(0, 7)}`;

/** A message of the previous release. */
export const eventOf = (message: OperationEventMessage): OperationStreamEvent => {
  const { prefix, category, operation, metadata, clientId, managementUserId, data } = message;
  const fact: OperationFact = {
    prefix,
    category,
    operation,
    metadata,
    ...(clientId !== undefined && { clientId }),
    ...(managementUserId !== undefined && { managementUserId }),
    ...(data !== undefined && { data }),
  };
  switch (message.outcome) {
    case 'START':
      return { type: 'OperationStarted', data: { ...fact, deadline: message.deadline ?? 0 } };
    case 'SUCCESS':
      return { type: 'OperationSucceeded', data: fact };
    case 'FAIL':
      return { type: 'OperationFailed', data: fact };
  }
};
