import type { Identified } from './exchange.js';

/** What the operation knows beside its request. From here on the request is admitted: its body is read. */
export const openContext = (exchange: Identified): void => {
  const { plan, host, caller, requestId, deadline, observed, request } = exchange;
  const { traceparent } = observed;
  const key = plan.operation.idempotent && request.headers['idempotency-key'];
  exchange.context = {
    ...(host.tenant && { tenant: host.tenant }),
    caller,
    requestId,
    operation: plan.operation.name,
    deadline,
    ...(traceparent !== undefined && { traceparent }),
    publicUrl: host.publicUrl,
    ...(key !== undefined && { idempotencyKey: String(key) }),
  };
};
