import { issueMemberToken } from '@attestry/contracts';
import { callService } from './call-service.js';
import type { Dependencies } from './dependencies.js';
import type { Admitted } from './exchange.js';

/** A token exchange is answered for its person; any other token call is the service's. @throws AppError */
export const issueTokenCall = async (exchange: Admitted, deps: Pick<Dependencies, 'services'>): Promise<void> => {
  const { subject, host, context } = exchange;
  if (!subject) return callService(exchange, deps);
  const { userId, audience, expiresAt, grantId } = subject;
  const body = {
    userId,
    audience,
    publicUrl: host.publicUrl,
    subjectExpiresAt: Math.floor(expiresAt / 1000),
    ...(grantId !== undefined && { grantId }),
  };
  const { requestId, operation, deadline, traceparent } = context;
  const asking = { requestId, operation, deadline, ...(traceparent !== undefined && { traceparent }) };
  exchange.work = deps.services.call(issueMemberToken, { body }, asking);
  exchange.result = await exchange.work;
};
