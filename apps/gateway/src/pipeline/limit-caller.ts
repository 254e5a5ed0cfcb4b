import type { Caller } from '@attestry/contracts';
import { applyRate } from './apply-rate.js';
import type { Dependencies } from './dependencies.js';
import type { Identified } from './exchange.js';

export const clientIdOf = (caller: Caller): string | undefined => {
  if (caller.kind === 'client' || caller.kind === 'management') return caller.clientId;
  return caller.kind === 'user' ? `user:${caller.userId}` : undefined;
};

/** Calls with credentials are counted by client or user, never by the address they come from. @throws AppError 429 */
export const limitCaller = (exchange: Identified, { rates }: Pick<Dependencies, 'rates'>): void | Promise<void> => {
  const { address, host, caller } = exchange;
  const subject = { address, tenantId: host.tenant?.id, clientId: clientIdOf(caller) };
  return applyRate(exchange, rates.count('api', subject));
};
