import { Agent, request } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import type { RawAnswer } from './answers.js';
import { asText, isPick, thingsNamedBy, type Call, type Pick } from './calls.js';
import type { DescribedOperation } from './described-operations.js';

/** A request that waits longer than this hangs; an operation's own deadline is 10 s. */
const HANG_MS = 20_000;
const UNKNOWN_ID = '3f0f2c59-6a27-4e80-b2a0-9b6f5f0c7d11';

export interface SentRequest {
  method: string;
  /** Path and query as sent. */
  url: string;
  headers: Record<string, string>;
  body?: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: 32 });

/** Sends it unchanged: `fetch` would normalize the path. @throws when no complete response arrives in time */
export const exchange = (port: number, host: string, { method, url, headers, body }: SentRequest): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const sent = request(
      { host: '127.0.0.1', port, method, path: url, agent, headers: { ...headers, ...length, host }, timeout: HANG_MS },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => (text += part));
        response.on('error', reject);
        response.on('end', () => {
          const names = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as const);
          resolve({ status: response.statusCode!, headers: Object.fromEntries(names), text });
        });
      },
    );
    sent.on('timeout', () => sent.destroy(new Error(`no answer to ${method} ${url} in ${HANG_MS} ms`)));
    sent.on('error', reject);
    sent.end(body);
  });

/** Ids of what calls have made, by the path they were made at. */
export class Things {
  private readonly ids = new Map<string, string[]>();

  add(collection: string, id: string): void {
    const known = this.ids.get(collection) ?? [];
    this.ids.set(collection, [...known, id].slice(-200));
  }

  /** Keeps what a call has made. */
  learn({ method, path }: DescribedOperation, { status, text }: RawAnswer): void {
    if (method !== 'POST' || status >= 300 || !text.startsWith('{')) return;
    const { did, clientId, id } = JSON.parse(text) as { did?: string; clientId?: string; id?: string };
    const name = did ?? clientId ?? id;
    if (name !== undefined) this.add(path, name);
  }

  /** An unused id, when there is none yet. */
  at(collection: string, { pick }: Pick): string {
    const known = this.ids.get(collection) ?? [];
    return known[pick % known.length] ?? UNKNOWN_ID;
  }

  /** The request of a call, with the ids of what there is in it. */
  requestOf(
    { path }: DescribedOperation,
    call: Call,
    tokens: Record<Call['credentials'], string | undefined>,
  ): SentRequest {
    const filled = path.replaceAll(/\{(\w+)\}/g, (part, name: string, offset: number) => {
      const value = call.params[name] ?? '';
      return encoded(isPick(value) ? this.at(path.slice(0, offset - 1), value) : value);
    });
    const query = call.query.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&');
    const url = `${filled}${call.tail}${query ? `${call.tail.includes('?') ? '&' : '?'}${query}` : ''}`;
    const authorization = tokens[call.credentials];
    const { contentType, body, key } = call;
    const text =
      body === undefined ? undefined : 'text' in body ? body.text : this.textOf(contentType ?? '', body.value);
    return {
      method: call.method,
      url,
      headers: {
        ...(authorization !== undefined && { authorization }),
        ...(contentType && { 'content-type': contentType }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(text !== undefined && { body: text }),
    };
  }

  private textOf(contentType: string, value: unknown): string {
    const filled = this.filled(value);
    if (contentType !== 'application/x-www-form-urlencoded') return JSON.stringify(filled) ?? '';
    return Object.entries((filled ?? {}) as object)
      .map(([name, one]) => `${encoded(name)}=${encoded(asText(one))}`)
      .join('&');
  }

  private filled(value: unknown, member = ''): unknown {
    const collection = thingsNamedBy(member);
    if (isPick(value) && collection) return this.at(collection, value);
    if (Array.isArray(value)) return value.map((one) => this.filled(one, member));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, this.filled(one, name)]));
  }
}

/** Percent-encoded; half of a surrogate pair, which has no UTF-8, as the bytes it would have. */
const encoded = (text: string): string =>
  text.isWellFormed()
    ? encodeURIComponent(text)
    : encodeURIComponent(text.toWellFormed()).replaceAll('%EF%BF%BD', '%ED%A0%80');

/** The domain log of an embedded platform, read beside it. */
export class DomainLog {
  private readonly db: DatabaseSync;

  constructor(dataDir: string) {
    this.db = new DatabaseSync(join(dataDir, 'events.db'), { readOnly: true });
  }

  head(): number {
    const { head } = this.db.prepare('SELECT coalesce(max(position), 0) AS head FROM events').get() as { head: number };
    return head;
  }

  /** Events after a position, each with the request that caused it. */
  after(position: number): { position: number; type: string; requestId: string }[] {
    const rows = this.db.prepare('SELECT position, type, metadata FROM events WHERE position > ? ORDER BY position');
    return (rows.all(position) as { position: number; type: string; metadata: string }[]).map(
      ({ metadata, ...row }) => ({
        ...row,
        requestId: (JSON.parse(metadata) as { requestId: string }).requestId,
      }),
    );
  }

  close(): void {
    this.db.close();
  }
}
