import type { Caller } from '@attestry/contracts';
import type { IdentifiedCaller } from '../auth/authenticate.js';
import type { Identified } from './exchange.js';

/** The operation's context beside its request. From here on the request is admitted: its body is read. */
export const openContext = (exchange: Identified): void => {
  const { plan, host, caller, requestId, deadline, observed, request } = exchange;
  const { traceparent } = observed;
  const { name, idempotent, publicUrl } = plan.operation;
  const key = idempotent && request.headers['idempotency-key'];
  exchange.context = {
    ...(host.tenant && { tenant: host.tenant }),
    caller: withoutRoles(caller),
    requestId,
    operation: name,
    deadline,
    ...(traceparent !== undefined && { traceparent }),
    ...(publicUrl && { publicUrl: host.publicUrl }),
    ...(key !== undefined && { idempotencyKey: String(key) }),
  };
};

const withoutRoles = (caller: IdentifiedCaller): Caller => {
  if (caller.kind === 'client') return { kind: caller.kind, clientId: caller.clientId };
  return caller.kind === 'user' ? { kind: caller.kind, userId: caller.userId } : caller;
};
