import type { Identified } from './exchange.js';

/** The operation's context beside its request. From here on the request is admitted: its body is read. */
export const openContext = (exchange: Identified): void => {
  const { plan, host, caller, requestId, deadline, observed, request } = exchange;
  const { traceparent } = observed;
  const { name, idempotent, publicUrl } = plan.operation;
  const key = idempotent && request.headers['idempotency-key'];
  exchange.context = {
    ...(host.tenant && { tenant: host.tenant }),
    caller: caller.kind === 'client' ? { kind: caller.kind, clientId: caller.clientId } : caller,
    requestId,
    operation: name,
    deadline,
    ...(traceparent !== undefined && { traceparent }),
    ...(publicUrl && { publicUrl: host.publicUrl }),
    ...(key !== undefined && { idempotencyKey: String(key) }),
  };
};
