import type { ResolvedHost } from '../request/hosts.js';
import { checkPublicCalls } from './apply-rate.js';
import type { Dependencies } from './dependencies.js';
import type { Exchange } from './exchange.js';

type Used = Pick<Dependencies, 'hosts' | 'routes' | 'rates'>;

/**
 * API and tenant that the Host header names; neither for an unknown host. A deleted tenant is named only for a path that outlives it.
 * @throws AppError 429 before a look-up for an address over its public limit; 503 when management cannot be reached
 */
export const resolveHost = (exchange: Exchange, deps: Used): void | Promise<void> => {
  const found = deps.hosts.resolve(exchange.hostHeader, exchange.deadline, () => {
    exchange.shape = deps.routes.expectedShape(exchange);
    return checkPublicCalls(exchange, deps);
  });
  if (found instanceof Promise)
    return found.then((host) => void (exchange.host = host?.ended ? endedHost(host, exchange, deps) : host));
  exchange.host = found?.ended ? endedHost(found, exchange, deps) : found;
};

/** Any other path of a deleted tenant is that of an unknown host. */
const endedHost = (host: ResolvedHost, { request: { method }, path }: Exchange, { routes }: Used) => {
  const route = routes.byApi.tenant.find(method === 'OPTIONS' ? 'GET' : method, path);
  return route?.plan.operation.http!.afterDeletion ? host : undefined;
};
