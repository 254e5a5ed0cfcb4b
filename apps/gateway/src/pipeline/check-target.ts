import { checkPath } from '../operation/check-utf8.js';
import { originForm } from '../server/readable-url.js';
import { refuse } from './apply-rate.js';
import type { Dependencies } from './dependencies.js';
import { methodNotAllowed, unknownHost } from './errors.js';
import { pathOf, type Exchange } from './exchange.js';
import { SERVED_METHODS } from './served-methods.js';

type Used = Pick<Dependencies, 'routes' | 'rates'>;

/** Refuses what no route can have: an unknown method, an unknown host, a path that is not UTF-8. @throws AppError 405, 404, 400, in this order */
export const checkTarget = (exchange: Exchange, deps: Used): void | Promise<void> => {
  const { request, host, path } = exchange;
  if (!SERVED_METHODS.includes(request.method)) {
    const allowed = host ? deps.routes.byApi[host.api].allowed(path) : [];
    return refuse(exchange, deps, methodNotAllowed(allowed.length ? allowed : SERVED_METHODS));
  }
  if (!host) return refuse(exchange, deps, unknownHost());
  try {
    // The target as sent by the client: the server routes by a path that was made decodable.
    checkPath(request.originalUrl === request.url ? path : pathOf(originForm(request.originalUrl)));
  } catch (error) {
    return refuse(exchange, deps, error);
  }
};
