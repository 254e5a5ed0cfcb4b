import { applyRate } from './apply-rate.js';
import type { Dependencies } from './dependencies.js';
import type { Routed } from './exchange.js';

/** An address with too many failed token calls is refused before its body is read (ADR 0046). Counts nothing. @throws AppError 429 */
export const limitTokenFailures = (exchange: Routed, { rates }: Pick<Dependencies, 'rates'>): void | Promise<void> =>
  applyRate(exchange, rates.tokenFailures(exchange.address));
