import { randomUUID } from 'node:crypto';
import { actorOf, type OperationContext, type ServiceName, type TenantContext } from '@attestry/contracts';
import type { EventContext } from '@attestry/event-store';

/** Metadata of the events an operation causes (ADR 0067). `tenantId` is needed where the context has no tenant. */
export function eventContext(context: OperationContext & { tenant: TenantContext }): EventContext;
export function eventContext(context: OperationContext, tenantId: string): EventContext;
export function eventContext(context: OperationContext, tenantId = context.tenant!.id): EventContext {
  return {
    tenantId,
    requestId: context.requestId,
    actor: actorOf(context.caller),
    operation: context.operation,
    correlationId: context.requestId,
    causationId: context.requestId,
    partitionKey: tenantId,
    ...(context.idempotentCall && {
      callId: context.idempotentCall.id,
      callBeganAt: context.idempotentCall.beganAt,
    }),
    ...(context.traceparent && { traceparent: context.traceparent }),
    ...(context.pendingRecord && { record: context.pendingRecord }),
  };
}

/** Metadata of the events that a service causes without an operation. `name` is that of the job, reaction or consumer. */
export const serviceContext = (
  name: `${ServiceName}.${string}`,
  tenantId: string,
  requestId: string = randomUUID(),
): EventContext => ({ tenantId, requestId, actor: `service:${name.slice(0, name.indexOf('.'))}`, operation: name });
