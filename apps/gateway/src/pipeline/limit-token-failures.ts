import { applyRate } from './apply-rate.js';
import type { Routed } from './exchange.js';
import type { Services } from './services.js';

/** An address with too many failed token calls is refused before its body is read (ADR 0046). Counts nothing. @throws AppError 429 */
export const limitTokenFailures = async (exchange: Routed, { rates }: Pick<Services, 'rates'>): Promise<void> =>
  applyRate(exchange, await rates.tokenFailures(exchange.address));
