import {
  namedTenant,
  recordedMetadata,
  recordedObject,
  recordMessageOf,
  recordOf,
  type BegunRecord,
  type Operation,
  type OperationContext,
  type OperationRecord,
  type OperationRecordMessage,
  type OperationStartMessage,
  type PendingRecord,
} from '@attestry/contracts';

/** The record of one call in its service: in the first event that the call appends, or else a message of its own (ADR 0072). */
export class CallRecord implements PendingRecord {
  isStored = false;
  /** Members that the use case adds. */
  details: Pick<OperationRecord, 'metadata' | 'object'> & Partial<Pick<OperationRecord, 'outcome'>> = {};

  constructor(
    private readonly operation: Operation,
    private readonly context: OperationContext,
    private readonly begun: BegunRecord,
    private readonly params?: object | undefined,
  ) {}

  /** @param stream, event where it is stored; absent for a message */
  recordFor(stream?: string, event?: { data: object }): OperationRecord {
    const { operation, context, params, details } = this;
    const stored = stream !== undefined && event ? { stream, data: event.data } : undefined;
    const object = details.object ?? recordedObject(operation, context, { params, ...(stored && { stored }) });
    const metadata = stored && operation.analytics?.metadata && recordedMetadata(operation, stored.data);
    return recordOf(operation, this.begun, {
      ...(object && { object }),
      ...(metadata && { metadata }),
      ...details,
    });
  }

  /** Without an event. @param endedAt RFC 3339 @param result what the call returns, where it succeeded */
  messageOf(endedAt: string, result?: unknown): OperationRecordMessage {
    const { operation, context, params } = this;
    const about = namedTenant(operation, params, result);
    return recordMessageOf(operation, context, this.recordFor(), { endedAt, about });
  }

  /** For an operation with effects outside its append. */
  startMessage(): OperationStartMessage {
    const { operation, context, begun } = this;
    const {
      outcome: _,
      endedAt: __,
      ...start
    } = recordMessageOf(operation, context, this.recordFor(), {
      endedAt: begun.startedAt,
    });
    return { ...start, deadline: context.deadline };
  }
}
