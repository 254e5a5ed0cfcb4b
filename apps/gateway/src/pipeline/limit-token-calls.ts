import { applyRate } from './apply-rate.js';
import type { Dependencies } from './dependencies.js';
import type { Admitted } from './exchange.js';
import { isTokenExchange } from './identify-subject.js';
import { readBody } from './read-body.js';

/**
 * The client id is in the body, so that its limit is checked after the body was read. Counts nothing.
 * @throws AppError 429, and those of a body that cannot be parsed
 */
export const limitTokenCalls = (exchange: Admitted, { rates }: Pick<Dependencies, 'rates'>): void | Promise<void> => {
  // It is counted for the person, whatever client it names without authentication.
  if (isTokenExchange(exchange)) return;
  const { client_id: id } = (readBody(exchange) ?? {}) as { client_id?: unknown };
  if (typeof id !== 'string') return;
  exchange.tokenClientId = id.slice(0, 128);
  return applyRate(exchange, rates.tokenCalls(exchange.tokenClientId));
};
