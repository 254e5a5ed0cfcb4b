import type { OperationContext } from '@attestry/contracts';
import type { Headers } from '@attestry/messaging';

/** The operation context as message headers, and back. Members a reader does not know are ignored. */
export const contextToHeaders = (context: OperationContext): Headers => ({
  'request-id': context.requestId,
  operation: context.operation,
  deadline: String(context.deadline),
  caller: JSON.stringify(context.caller),
  'public-url': context.publicUrl,
  ...(context.tenant && { tenant: JSON.stringify(context.tenant) }),
  ...(context.traceparent && { traceparent: context.traceparent }),
  ...(context.idempotencyKey !== undefined && { 'idempotency-key': context.idempotencyKey }),
});

export const contextFromHeaders = (headers: Headers): OperationContext => ({
  requestId: headers['request-id'] ?? '',
  operation: headers['operation'] ?? '',
  deadline: Number(headers['deadline'] ?? 0),
  caller: JSON.parse(headers['caller'] ?? '{"kind":"public"}') as OperationContext['caller'],
  publicUrl: headers['public-url'] ?? '',
  ...(headers['tenant'] !== undefined && { tenant: JSON.parse(headers['tenant']) as OperationContext['tenant'] }),
  ...(headers['traceparent'] !== undefined && { traceparent: headers['traceparent'] }),
  ...(headers['idempotency-key'] !== undefined && { idempotencyKey: headers['idempotency-key'] }),
});
