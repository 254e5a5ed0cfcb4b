import { MAX_BODY_BYTES } from '@attestry/contracts';
import { declaredLength } from '../request/limit-body.js';
import type { Dependencies } from './dependencies.js';
import type { Exchange } from './exchange.js';

type Used = Pick<Dependencies, 'inFlight' | 'routes' | 'unread'>;

/**
 * Reserves a part of its address's share for the request until it is answered; none for an address that does not read its answers.
 * @throws AppError 429, in the shape of the route that the request names
 */
export const limitInFlight = (exchange: Exchange, { inFlight, routes, unread }: Used): void | Promise<void> => {
  const { request, reply, address } = exchange;
  const length = declaredLength(request.headers);
  const refuse = (error: unknown): never => {
    exchange.shape = routes.expectedShape(exchange);
    // Otherwise the rest of the body would be read only to be discarded.
    if (length > 0 || request.headers['transfer-encoding'] !== undefined) reply.header('connection', 'close');
    throw error;
  };
  try {
    // A longer body is a 413, and not read.
    exchange.inFlight = inFlight.reserve(address, length > MAX_BODY_BYTES ? 0 : length);
  } catch (error) {
    refuse(error);
  }
  const { release } = exchange.inFlight!;
  reply.raw.once('finish', release).once('close', release);
  if (unread.mayBeOver) return unread.check(address)?.catch(refuse);
};
