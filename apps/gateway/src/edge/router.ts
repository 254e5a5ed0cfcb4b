import createRouter from 'find-my-way';
import type { Api, Operation } from '@attestry/contracts';

export interface Route {
  operation: Operation;
  params: Record<string, string>;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'] as const;
/** What is served at all: methods of operations, and OPTIONS of every path that has one. */
export const SERVED_METHODS: readonly string[] = [...METHODS, 'OPTIONS'];
type Method = (typeof METHODS)[number];
const MAX_PARAM_LENGTH = 2048;

/** The routes of one kind of host: a table made from declared operations, nothing else. */
export class Router {
  private readonly routes = createRouter({ maxParamLength: MAX_PARAM_LENGTH, caseSensitive: true });
  /** Paths declared with a leading `*`: matched by their ending, after all others. */
  private readonly endings: { method: string; ending: string; operation: Operation }[] = [];

  constructor(api: Api, operations: readonly Operation[]) {
    for (const operation of operations) {
      const http = operation.http;
      if (!http || !(http.hosts ?? ['tenant']).includes(api)) continue;
      for (const path of [http.path, ...(http.alsoAt ?? [])]) {
        if (path.startsWith('*')) this.endings.push({ method: http.method, ending: path.slice(1), operation });
        else this.routes.on(http.method, path, () => undefined, operation);
      }
    }
  }

  find(method: string, path: string): Route | undefined {
    // RFC 9110 §9.1: what answers GET answers HEAD; the server sends the same headers and no content.
    if (method === 'HEAD') return this.find('GET', path);
    const found = this.routes.find(method as Method, path);
    if (found) return { operation: found.store as Operation, params: found.params as Record<string, string> };
    const ending = this.endings.find((route) => route.method === method && path.endsWith(route.ending));
    return ending && { operation: ending.operation, params: {} };
  }

  /** Methods a known path has; empty for an unknown path. */
  allowed(path: string): string[] {
    return METHODS.filter((method) => this.find(method, path));
  }
}
