import createRouter from 'find-my-way';
import type { Operation } from '@attestry/contracts';
import type { HostKind } from '../request/hosts.js';
import { planOf, type Plan } from './plan.js';
import { OPERATION_METHODS } from './served-methods.js';

export interface Route {
  plan: Plan;
  params: Record<string, string>;
}

const MAX_PARAM_LENGTH = 2048;

/** Routes of a declared path: the plan of each method, and the names of the parameters in its declaration. */
type Methods = Map<string, { plan: Plan; names: readonly string[] }>;

/** The routes of one kind of host: a table generated from declared operations, nothing else. */
export class Router {
  /** Paths without their methods, so that a literal segment has precedence over a parameter for every method (RFC 9110 §15.5.6). */
  private readonly paths = createRouter({ maxParamLength: MAX_PARAM_LENGTH });
  /** Paths declared with a leading `*`: matched by their ending, after all others. */
  private readonly endings: { method: string; ending: string; plan: Plan }[] = [];

  constructor(kind: HostKind, operations: readonly Operation[], operationTimeoutMs: number) {
    const byShape = new Map<string, Methods>();
    for (const operation of operations) {
      const http = operation.http;
      const kinds: readonly HostKind[] = http?.hosts ?? ['tenant'];
      if (!http || !kinds.includes(kind)) continue;
      const plan = planOf(operation, operationTimeoutMs);
      for (const path of [http.path, ...(http.alsoAt ?? [])]) {
        if (path.startsWith('*')) this.endings.push({ method: http.method, ending: path.slice(1), plan });
        else {
          const names: string[] = [];
          // Two operations may call the same parameter differently.
          const shape = path.replace(/:(\w+)/g, (_all, name: string) => `:p${names.push(name)}`);
          const methods: Methods = byShape.get(shape) ?? new Map();
          if (methods.has(http.method)) throw new Error(`${http.method} ${path} is declared twice`);
          byShape.set(shape, methods.set(http.method, { plan, names }));
        }
      }
    }
    for (const [shape, methods] of byShape) this.paths.on('GET', shape, () => undefined, methods);
  }

  find(method: string, path: string): Route | undefined {
    // RFC 9110 §9.1: every route of GET also answers HEAD; the server sends the same headers and no content.
    if (method === 'HEAD') return this.find('GET', path);
    const found = this.paths.find('GET', path);
    const known = (found?.store as Methods | undefined)?.get(method);
    if (known) {
      const params: Record<string, string> = {};
      for (const [index, name] of known.names.entries()) params[name] = found!.params[`p${index + 1}`]!;
      return { plan: known.plan, params };
    }
    const ending = this.endings.find((route) => route.method === method && path.endsWith(route.ending));
    return ending && { plan: ending.plan, params: {} };
  }

  /** Methods a known path has; empty for an unknown path. */
  allowed(path: string): string[] {
    return OPERATION_METHODS.filter((method) => this.find(method, path));
  }
}
