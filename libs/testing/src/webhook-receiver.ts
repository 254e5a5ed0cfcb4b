import { createHash, createPublicKey, verify } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { verifySignature } from 'http-message-sig';
import type { JWK } from 'jose';
import { hostFetch } from './host-fetch.js';
import { waitUntil } from './wait-until.js';

/** How long an answer waits for the key set, and how long the judgement does, milliseconds. */
const MOST_FOR_KEYS_MS = 250;
const PATIENCE_MS = 10_000;

export interface WebhookBody {
  deliveryId: string;
  deliveryTimestamp: string;
  webhookId: string;
  event: { id: string; type: string; timestamp: string; payload: Record<string, unknown> };
}

export interface Delivery {
  path: string;
  headers: Record<string, string>;
  /** The body as received. */
  text: string;
  body: WebhookBody;
  /** Digest and signature are right. */
  verified: boolean;
  /** Why they are not. */
  fault?: string;
  /** The status of the response. */
  status: number;
  /** Milliseconds since the epoch, when its head had arrived. */
  receivedAt: number;
}

export interface WebhookReceiverOptions {
  /** Status of the nth delivery, counted from 1; default 200. `never` leaves the sender waiting. */
  respond?: (delivery: number) => number | 'never';
  port?: number;
  /** Name under which the sender reaches this machine; default 127.0.0.1. With a name it listens on all addresses. */
  host?: string;
}

/** The components that the signature must cover (specification notes, Signature of webhooks). */
const REQUIRED = ['@method', '@target-uri', 'content-type', 'content-digest'];
/** Seconds. */
const TOLERANCE = 300;

/** A local HTTP server that receives webhooks and verifies each one: RFC 9530 digest, RFC 9421 signature, published key. */
export class WebhookReceiver {
  readonly deliveries: Delivery[] = [];
  respond: (delivery: number) => number | 'never';
  private readonly host: string;
  private arrived = 0;
  private given = 0;

  private constructor(
    private readonly server: Server,
    private readonly keySetUrl: () => string,
    { respond = () => 200, host = '127.0.0.1' }: WebhookReceiverOptions,
  ) {
    this.respond = respond;
    this.host = host;
  }

  /** `keySetUrl`: where the sender publishes its keys (`<tenant>/v1/webhooks/jwks`). */
  static async start(
    keySetUrl: string | (() => string),
    options: WebhookReceiverOptions = {},
  ): Promise<WebhookReceiver> {
    const server = createServer();
    const urlOf = typeof keySetUrl === 'string' ? () => keySetUrl : keySetUrl;
    const receiver = new WebhookReceiver(server, urlOf, options);
    server.on('request', (request: IncomingMessage, response) => {
      receiver.take(request).then(
        (status) => {
          if (status === 'never') return;
          // A sender that follows this redirect sends the body to another target.
          const isRedirect = status >= 300 && status < 400;
          response.writeHead(status, isRedirect ? { location: `${receiver.url}/elsewhere` } : {}).end();
        },
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port ?? 0, options.host === undefined ? '127.0.0.1' : '0.0.0.0', resolve);
    });
    return receiver;
  }

  get port(): number {
    return (this.server.address() as { port: number }).port;
  }

  get url(): string {
    return `http://${this.host}:${this.port}/hook`;
  }

  /** The first delivery that fits, now or later. */
  waitFor(fits: (delivery: Delivery) => boolean = () => true, timeoutMs = 60_000): Promise<Delivery> {
    return waitUntil(() => this.deliveries.find(fits), { timeoutMs, what: 'a webhook' }) as Promise<Delivery>;
  }

  /** The next delivery that no call of this has given yet. */
  async next(timeoutMs?: number): Promise<Delivery> {
    const index = this.given++;
    return this.waitFor((delivery) => this.deliveries.indexOf(delivery) >= index, timeoutMs);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private async take(request: IncomingMessage): Promise<number | 'never'> {
    const receivedAt = Date.now();
    const status = this.respond(++this.arrived);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks);
    const text = raw.toString('utf8');
    const judged = this.judge(request, raw).then((fault) =>
      this.deliveries.push({
        path: request.url!,
        headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
        text,
        body: (text === '' ? {} : JSON.parse(text)) as WebhookBody,
        verified: fault === undefined,
        ...(fault !== undefined && { fault }),
        status: status === 'never' ? 0 : status,
        receivedAt,
      }),
    );
    // The sender of a platform that is starting may be ready before the publisher of the keys: the answer does not wait.
    await Promise.race([judged, pause(MOST_FOR_KEYS_MS, undefined, { ref: false })]);
    return status;
  }

  /** The faults of a delivery; retried while the key set is unavailable. */
  private async judge(request: IncomingMessage, raw: Buffer): Promise<string | undefined> {
    for (const end = Date.now() + PATIENCE_MS; ; await pause(250, undefined, { ref: false })) {
      const keys = { missed: false };
      try {
        checkDigest(request, raw);
        await this.checkSignature(request, keys);
        return undefined;
      } catch (error) {
        if (!keys.missed || Date.now() > end) return error instanceof Error ? error.message : String(error);
      }
    }
  }

  private async checkSignature(request: IncomingMessage, keys: { missed: boolean }): Promise<void> {
    const fields = [];
    for (let i = 0; i < request.rawHeaders.length; i += 2)
      fields.push({ name: request.rawHeaders[i]!, value: request.rawHeaders[i + 1]! });
    await verifySignature(
      {
        kind: 'request',
        method: request.method!,
        targetUri: `http://${request.headers.host}${request.url}`,
        fields,
      },
      {
        policy: {
          algorithms: ['ed25519'],
          requiredComponents: REQUIRED,
          requiredParameters: ['created', 'keyid'],
          maxAge: TOLERANCE,
          clockSkew: 5,
        },
        resolveVerifier: async ({ parameters: { keyid } }) => {
          const set = await this.published(keys);
          const key = keyOf(set, keyid);
          return { algorithm: 'ed25519', verify: (data, signature) => verify(null, data, key, signature) };
        },
      },
    );
  }

  private async published(keys: { missed: boolean }): Promise<JWK[]> {
    keys.missed = true;
    const response = await hostFetch(this.keySetUrl());
    if (response.status !== 200) throw new Error(`the key set answers ${response.status}`);
    keys.missed = false;
    return ((await response.json()) as { keys: JWK[] }).keys;
  }
}

const keyOf = (keys: readonly JWK[], keyid: string | undefined) => {
  const jwk = keys.find(({ kid }) => kid === keyid);
  if (!jwk) throw new Error(`the key set has no key ${keyid}`);
  return createPublicKey({ key: jwk as never, format: 'jwk' });
};

/** RFC 9530 §2: a dictionary of algorithm and byte sequence. */
const checkDigest = (request: IncomingMessage, raw: Buffer): void => {
  const header = String(request.headers['content-digest'] ?? '');
  const stated = /(?:^|,\s*)sha-256=:([A-Za-z0-9+/=]+):/.exec(header)?.[1];
  if (!stated) throw new Error(`content-digest has no sha-256: ${header}`);
  const computed = createHash('sha256').update(raw).digest('base64');
  if (computed !== stated) throw new Error('content-digest is not that of the body');
};
