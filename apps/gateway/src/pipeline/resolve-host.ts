import { checkPublicCalls } from './apply-rate.js';
import type { Dependencies } from './dependencies.js';
import type { Exchange } from './exchange.js';

type Used = Pick<Dependencies, 'hosts' | 'routes' | 'rates'>;

/**
 * Which API the Host header names, and which tenant; neither for an unknown host.
 * @throws AppError 429 before a look-up for an address over its public limit; 503 when management cannot be reached
 */
export const resolveHost = (exchange: Exchange, deps: Used): void | Promise<void> => {
  const found = deps.hosts.resolve(exchange.hostHeader, exchange.deadline, () => {
    exchange.shape = deps.routes.expectedShape(exchange);
    return checkPublicCalls(exchange, deps);
  });
  if (found instanceof Promise) return found.then((host) => void (exchange.host = host));
  exchange.host = found;
};
