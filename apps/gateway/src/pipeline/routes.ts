import { Inject, Injectable } from '@nestjs/common';
import type { Operation } from '@attestry/contracts';
import { compileShapes, PlatformConfig } from '@attestry/service-kit';
import { SERVED_OPERATIONS } from '../interface/served-operations.js';
import { Hosts, type HostKind } from '../request/hosts.js';
import type { Exchange } from './exchange.js';
import type { AnswerShape } from './plan.js';
import { Router } from './router.js';
import { UnknownPaths } from './unknown-paths.js';

/** The plans of all operations, made at boot, by kind of host. */
@Injectable()
export class Routes {
  readonly byApi: Readonly<Record<HostKind, Router>>;
  readonly unknown: UnknownPaths;

  constructor(
    private readonly hosts: Hosts,
    config: PlatformConfig,
    @Inject(SERVED_OPERATIONS) served: readonly Operation[],
  ) {
    compileShapes(served);
    this.unknown = new UnknownPaths(served, config);
    const routerOf = (api: HostKind) => new Router(api, served, config.operationTimeoutMs);
    this.byApi = {
      management: routerOf('management'),
      auth: routerOf('auth'),
      tenant: routerOf('tenant'),
      'custom-domain': routerOf('custom-domain'),
      contexts: routerOf('contexts'),
      platform: routerOf('platform'),
    };
  }

  /** The shape of errors before the host is looked up: that of the path on the kind of host that the request names. */
  expectedShape({ hostHeader, request, path, shape }: Exchange): AnswerShape {
    return this.byApi[this.hosts.apiOf(hostHeader)].find(request.method, path)?.plan ?? shape;
  }
}
