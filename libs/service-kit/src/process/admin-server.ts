import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Health } from './health.js';
import type { Metrics } from '../metrics/metrics.js';

export interface AdminServerOptions {
  /** 0 selects a free port. */
  port: number;
  /** Address to bind to. */
  host: string;
  health: Health;
  metrics: Metrics;
  /** Time in which a request must arrive, milliseconds; default 10 s. */
  requestTimeoutMs?: number;
  /** Open connections at most; default 256. */
  maxConnections?: number;
}

interface Answer {
  status: number;
  type: string;
  body: string;
}

const json = (status: number, value: object): Answer => ({
  status,
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(value),
});

/**
 * Responses of `/health/live` and `/health/ready`.
 * @param detailed with the checks, only for the operator: their names and errors reveal internals
 */
export const healthAnswer = (path: '/health/live' | '/health/ready', health: Health, detailed = false): Answer => {
  if (path === '/health/live') return json(200, { status: 'live' });
  const { ready, checks } = health.report();
  return json(ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', ...(detailed && { checks }) });
};

/**
 * Health and metrics for the operator, on a separate port: none of it is public. No credentials are required, so the
 * network has to restrict access to the port.
 */
export class AdminServer {
  private constructor(
    private readonly server: Server,
    private readonly options: AdminServerOptions,
  ) {}

  /** Listens when it resolves. @throws the server's error when the port is in use */
  static async start(options: AdminServerOptions): Promise<AdminServer> {
    const { health, metrics } = options;
    metrics.observeProcess();
    metrics.onScrape(() => {
      const { ready, checks } = health.report();
      metrics.gauge('ready').set(ready ? 1 : 0);
      for (const { name: check, healthy } of checks) metrics.gauge('checkHealthy').set({ check }, healthy ? 1 : 0);
    });
    const { requestTimeoutMs = 10_000, maxConnections = 256 } = options;
    const server = createServer({
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1000, requestTimeoutMs),
    });
    server.maxConnections = maxConnections;
    const admin = new AdminServer(server, options);
    server.on('request', (request, response) => {
      admin.respond(request).then(
        (answer) => send(response, answer),
        (error: unknown) => send(response, json(500, { status: 'failed', error: (error as Error).name })),
      );
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port, options.host, resolve);
    });
    return admin;
  }

  get port(): number {
    return (this.server.address() as { port: number }).port;
  }

  async close(): Promise<void> {
    this.server.closeIdleConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private async respond({ method, url = '/' }: IncomingMessage): Promise<Answer> {
    const [path] = url.split('?', 1);
    if (path !== '/metrics' && path !== '/health/live' && path !== '/health/ready')
      return json(404, { status: 'not found' });
    if (method !== 'GET' && method !== 'HEAD') return json(405, { status: 'method not allowed' });
    if (path !== '/metrics') return healthAnswer(path, this.options.health, true);
    const { metrics } = this.options;
    return { status: 200, body: await metrics.text(), type: metrics.contentType };
  }
}

const send = (response: ServerResponse, { status, type, body }: Answer): void => {
  const headers = {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
  response.writeHead(status, { ...headers, ...(status === 405 && { allow: 'GET, HEAD' }) });
  // Node omits the body of a response to HEAD.
  response.end(body);
};
