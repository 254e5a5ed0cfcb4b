import { actorOf, unavailable, type OperationContext, type TenantContext } from '@attestry/contracts';
import type { EventContext } from '@attestry/event-store';

/** The tenant of a tenant-API operation. The gateway resolves it before it forwards; its absence is a fault of ours. */
export const tenantOf = (context: OperationContext): TenantContext => {
  if (!context.tenant)
    throw unavailable('Service temporarily unavailable', new Error(`${context.operation} without tenant`));
  return context.tenant;
};

/** Metadata of the events an operation causes (ADR 0007). `tenantId` is needed where the context has no tenant. */
export const eventContext = (context: OperationContext, tenantId = tenantOf(context).id): EventContext => ({
  tenantId,
  requestId: context.requestId,
  actor: actorOf(context.caller),
  operation: context.operation,
  correlationId: context.requestId,
  causationId: context.requestId,
  partitionKey: tenantId,
  ...(context.attempt && { attempt: context.attempt.id, attemptBeganAt: context.attempt.beganAt }),
  ...(context.traceparent && { traceparent: context.traceparent }),
});
