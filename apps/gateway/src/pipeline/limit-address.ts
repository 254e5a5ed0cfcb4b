import { applyRate } from './apply-rate.js';
import type { Dependencies } from './dependencies.js';
import type { Routed } from './exchange.js';

/** Calls whose credentials the gateway does not read are counted by address, those of wallets by tenant too. @throws AppError 429 */
export const limitAddress = (exchange: Routed, { rates }: Pick<Dependencies, 'rates'>): void | Promise<void> => {
  const { address, host, plan } = exchange;
  const rate = plan.operation.rate as 'public' | 'wallet' | 'push';
  return applyRate(exchange, rates.count(rate, { address, tenantId: host.tenant?.id }));
};
