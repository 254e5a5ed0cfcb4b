import { refuse } from './apply-rate.js';
import type { Dependencies } from './dependencies.js';
import { gone, methodNotAllowed } from './errors.js';
import type { Hosted } from './exchange.js';

type Used = Pick<Dependencies, 'routes' | 'rates'>;

/** Kind of host, method and path → plan. @throws AppError 405 with the methods of the path; 404 when it has none; 410 when its tenant was purged */
export const findRoute = (exchange: Hosted, deps: Used): void | Promise<void> => {
  const { request, host, path, startedAt } = exchange;
  const router = deps.routes.byApi[host.api];
  const route = router.find(request.method, path);
  if (!route) {
    const allowed = router.allowed(path);
    return refuse(
      exchange,
      deps,
      allowed.length ? methodNotAllowed(allowed) : deps.routes.unknown.notFound(host, path),
    );
  }
  const { plan, params } = route;
  exchange.plan = plan;
  exchange.params = params;
  exchange.caller = plan.caller;
  exchange.shape = plan;
  exchange.deadline = startedAt + plan.timeoutMs;
  if (host.ended === 'purged') return refuse(exchange, deps, gone());
};
