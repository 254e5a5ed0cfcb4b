import {
  operationSubject,
  PLATFORM_TENANT,
  type BusParticipant,
  type Operation,
  type OperationContext,
  type OperationEventMessage,
  type Outcome,
} from '@attestry/contracts';
import type { Clock, Ids } from '@attestry/event-store';
import { inTime, type MessageBus } from '@attestry/messaging';

export interface FailureSummary {
  status: number;
  code: string;
  message: string;
}

/** Time that is left for an outcome at the deadline, milliseconds. */
const LEAST_MS = 500;

/**
 * Writes `<PREFIX>_START`, `_SUCCESS` and `_FAIL` to the durable feed (ADR 0004). Each call resolves when the message is durable, and
 * rejects when it is not by the call's deadline, although it may still be written later. Metadata, and sealed `data`: never a value of the
 * request or the response in clear.
 */
export class OperationRecorder {
  constructor(
    private readonly bus: MessageBus,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly participant: BusParticipant,
  ) {}

  /** @param data sealed, see OperationEventMessage */
  start(
    operation: Operation,
    context: OperationContext,
    metadata: Record<string, unknown> = {},
    data?: string,
  ): Promise<void> {
    return this.record('START', operation, context, metadata, { data });
  }

  success(
    operation: Operation,
    context: OperationContext,
    metadata: Record<string, unknown> = {},
    more: Pick<OperationEventMessage, 'about' | 'data'> = {},
  ): Promise<void> {
    return this.record('SUCCESS', operation, context, metadata, more);
  }

  fail(operation: Operation, context: OperationContext, error: FailureSummary): Promise<void> {
    return this.record('FAIL', operation, context, { error });
  }

  private async record(
    outcome: Outcome,
    operation: Operation,
    context: OperationContext,
    metadata: Record<string, unknown>,
    { about, data }: Pick<OperationEventMessage, 'about' | 'data'> = {},
  ): Promise<void> {
    const analytics = operation.analytics;
    if (!analytics) return;
    const { caller } = context;
    const message: OperationEventMessage = {
      id: this.ids.uuid(),
      outcome,
      prefix: analytics.prefix,
      category: analytics.category,
      tenantId: context.tenant?.id ?? PLATFORM_TENANT,
      requestId: context.requestId,
      timestamp: this.clock.now().toISOString(),
      operation: operation.name,
      ...(outcome === 'START' && { deadline: context.deadline }),
      ...((caller.kind === 'client' || caller.kind === 'management') && { clientId: caller.clientId }),
      ...(caller.kind === 'user' && { managementUserId: caller.userId }),
      metadata,
      ...(data !== undefined && { data }),
      ...(about && { about }),
    };
    const ms = Math.max(LEAST_MS, context.deadline - Date.now());
    await inTime(
      this.bus.publish([{ id: message.id, subject: operationSubject(outcome, this.participant), data: message }]),
      ms,
      () => new Error(`not acknowledged within ${ms} ms`),
    );
  }
}
