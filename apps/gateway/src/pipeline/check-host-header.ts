import { checkHost } from '../request/check-host.js';
import { refuse } from './apply-rate.js';
import type { Dependencies } from './dependencies.js';
import type { Exchange } from './exchange.js';

/** One valid host, the same one wherever the request names it (RFC 9112 §3.2). @throws AppError 400 */
export const checkHostHeader = (exchange: Exchange, deps: Pick<Dependencies, 'rates'>): void | Promise<void> => {
  const { request, isForwarded } = exchange;
  try {
    checkHost(request.raw, request.originalUrl, isForwarded);
  } catch (error) {
    return refuse(exchange, deps, error);
  }
};
