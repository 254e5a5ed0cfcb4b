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

  recordFor(stream: string, { data }: { data: object }): OperationRecord {
    return this.complete({ stream, data });
  }

  /** Without an event. @param endedAt RFC 3339 @param result what the call returns, where it succeeded */
  messageOf(endedAt: string, result?: unknown): OperationRecordMessage {
    const { operation, context, params } = this;
    const about = namedTenant(operation, params, result);
    return recordMessageOf(operation, context, this.complete(), { endedAt, about });
  }

  /** For an operation with effects outside its append. */
  startMessage(): OperationStartMessage {
    const { operation, context, begun } = this;
    const {
      outcome: _,
      endedAt: __,
      ...start
    } = recordMessageOf(operation, context, this.complete(), {
      endedAt: begun.startedAt,
    });
    return { ...start, deadline: context.deadline };
  }

  private complete(stored?: { stream: string; data: object }): OperationRecord {
    const { operation, context, params } = this;
    const object = recordedObject(operation, context, { params, ...(stored && { stored }) });
    const metadata = stored && recordedMetadata(operation, stored.data);
    return recordOf(operation, this.begun, {
      ...(object && { object }),
      ...(metadata && { metadata }),
      ...this.details,
    });
  }
}
