import { Inject, Injectable } from '@nestjs/common';
import type { Api, Operation } from '@attestry/contracts';
import { compileShapes, PlatformConfig } from '@attestry/service-kit';
import { SERVED_OPERATIONS } from '../interface/served-operations.js';
import { Hosts } from '../request/hosts.js';
import type { Exchange } from './exchange.js';
import type { AnswerShape } from './plan.js';
import { Router } from './router.js';

/** The plans of all operations, made at boot, by kind of host. */
@Injectable()
export class Routes {
  private readonly routers: Readonly<Record<Api, Router>>;

  constructor(
    private readonly hosts: Hosts,
    config: PlatformConfig,
    @Inject(SERVED_OPERATIONS) served: readonly Operation[],
  ) {
    compileShapes(served);
    const routerOf = (api: Api) => new Router(api, served, config.operationTimeoutMs);
    this.routers = {
      management: routerOf('management'),
      auth: routerOf('auth'),
      tenant: routerOf('tenant'),
      'custom-domain': routerOf('custom-domain'),
      contexts: routerOf('contexts'),
    };
  }

  routerOf(api: Api): Router {
    return this.routers[api];
  }

  /** The shape of errors before the host is looked up: that of the path on the kind of host that the request names. */
  expectedShape({ hostHeader, request, path, shape }: Exchange): AnswerShape {
    return this.routerOf(this.hosts.apiOf(hostHeader)).find(request.method, path)?.plan ?? shape;
  }
}
