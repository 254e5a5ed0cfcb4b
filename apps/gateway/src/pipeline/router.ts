import createRouter, { type HTTPMethod } from 'find-my-way';
import type { Operation } from '@attestry/contracts';
import type { HostKind } from '../request/hosts.js';
import { planOf, type Plan } from './plan.js';
import { OPERATION_METHODS } from './served-methods.js';

export interface Route {
  plan: Plan;
  params: Record<string, string>;
}

const MAX_PARAM_LENGTH = 2048;

/** The routes of one kind of host: a table generated from declared operations, nothing else. */
export class Router {
  private readonly routes = createRouter({ maxParamLength: MAX_PARAM_LENGTH });
  /** Paths declared with a leading `*`: matched by their ending, after all others. */
  private readonly endings: { method: string; ending: string; plan: Plan }[] = [];

  constructor(kind: HostKind, operations: readonly Operation[], operationTimeoutMs: number) {
    for (const operation of operations) {
      const http = operation.http;
      const kinds: readonly HostKind[] = http?.hosts ?? ['tenant'];
      if (!http || !kinds.includes(kind)) continue;
      const plan = planOf(operation, operationTimeoutMs);
      for (const path of [http.path, ...(http.alsoAt ?? [])]) {
        if (path.startsWith('*')) this.endings.push({ method: http.method, ending: path.slice(1), plan });
        else this.routes.on(http.method, path, () => undefined, plan);
      }
    }
  }

  find(method: string, path: string): Route | undefined {
    // RFC 9110 §9.1: every route of GET also answers HEAD; the server sends the same headers and no content.
    if (method === 'HEAD') return this.find('GET', path);
    const found = this.routes.find(method as HTTPMethod, path);
    if (found) return { plan: found.store as Plan, params: found.params as Record<string, string> };
    const ending = this.endings.find((route) => route.method === method && path.endsWith(route.ending));
    return ending && { plan: ending.plan, params: {} };
  }

  /** Methods a known path has; empty for an unknown path. */
  allowed(path: string): string[] {
    return OPERATION_METHODS.filter((method) => this.find(method, path));
  }
}
