import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WebhookBody } from '@attestry/testing';

export interface Received {
  path: string;
  body: WebhookBody;
  /** The status of the response. */
  status: number;
}

/** How often an event is refused before it is taken: 0, 1 or 2 times, by the end of its id, whose beginning is a time. */
const refusals = (eventId: string): number => Number.parseInt(eventId.slice(-4), 16) % 3;

/**
 * A webhook target that refuses the first attempts of two events out of three. It verifies no signature, which would need
 * the platform's key set while the platform is down: webhooks.e2e.spec.ts does.
 */
export class WebhookSink {
  readonly received: Received[] = [];
  private readonly seen = new Map<string, number>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<WebhookSink> {
    const server = createServer();
    const sink = new WebhookSink(server);
    server.on('request', (request, response) => {
      sink.take(request).then(
        (status) => response.writeHead(status).end(),
        // The platform was killed during the request: no caller waits for a response.
        () => response.destroy(),
      );
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return sink;
  }

  url(path: string): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${path}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private async take(request: IncomingMessage): Promise<number> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as WebhookBody;
    const key = `${body.webhookId} ${body.event.type} ${body.event.id}`;
    const before = this.seen.get(key) ?? 0;
    this.seen.set(key, before + 1);
    const status = before < refusals(body.event.id) ? 503 : 200;
    this.received.push({ path: request.url!, body, status });
    return status;
  }
}
