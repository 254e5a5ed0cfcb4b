import type { OperationEventMessage } from '@attestry/contracts';

/** Data of an operation event; the event's id is its id, times and ids are in the metadata. */
export interface OperationFact {
  prefix: string;
  category: string;
  operation: string;
  metadata: Record<string, unknown>;
  clientId?: string;
  managementUserId?: string;
  /** Request or response, sealed (rule 10 of the architecture); absent at logging level 1. */
  data?: string;
}

export type OperationStreamEvent =
  | { type: 'OperationStarted'; data: OperationFact & { deadline: number } }
  | { type: 'OperationSucceeded'; data: OperationFact }
  | { type: 'OperationFailed'; data: OperationFact }
  /** Domain events of the request are stored, but its outcome is not yet known (ADR 0004). */
  | { type: 'OperationCommitted'; data: { operation: string } };

export const OPERATION_EVENT_TYPES: Readonly<Record<OperationStreamEvent['type'], number>> = {
  OperationStarted: 1,
  OperationSucceeded: 1,
  OperationFailed: 1,
  OperationCommitted: 1,
};

export const OPERATION_CATEGORY = 'operation';

/** One stream per tenant and month, so that retention deletes whole streams. */
export const operationStream = (tenantId: string, timestamp: string): string =>
  `${OPERATION_CATEGORY}-${tenantId}+${timestamp.slice(0, 7)}`;

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
