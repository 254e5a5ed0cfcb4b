import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { Agent, fetch, type Dispatcher } from 'undici';
import ipaddr from 'ipaddr.js';

/** The target is refused by rule; nothing was sent. */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused';
}

/** True only for addresses of the public internet; mapped and translated IPv4 inside IPv6 is judged as IPv4. */
export const isPublicAddress = (address: string): boolean => {
  if (!ipaddr.isValid(address)) return false;
  return ipaddr.process(address).range() === 'unicast';
};

/**
 * Rules for the text of an outbound URL (decision 5, facts 0): https, no IP literal, no credentials, no query, no
 * fragment, a name with a dot that is not a private suffix. Returns the ASCII form, or what is wrong with it.
 */
export const checkTargetUrl = (text: string, allowPrivate: boolean): { url: string } | { fault: string } => {
  if (!URL.canParse(text)) return { fault: 'must be a valid URL' };
  const url = new URL(text);
  if (url.username || url.password) return { fault: 'must not carry credentials' };
  if (url.search || text.includes('?')) return { fault: 'must not have a query' };
  if (url.hash || text.includes('#')) return { fault: 'must not have a fragment' };
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:')) return { fault: 'must use https' };
  if (!allowPrivate) {
    const host = url.hostname.replace(/^\[|\]$|\.$/g, '');
    if (isIP(host)) return { fault: 'must not be an IP address' };
    if (!host.includes('.') || /\.(?:localhost|local|internal|invalid|test|example|onion|home\.arpa|arpa)$/.test(host))
      return { fault: 'must have a public host name' };
  }
  return { url: url.href };
};

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/**
 * A dispatcher whose every connection goes to an address that was checked: the look-up hands the socket only addresses
 * that passed, so a name cannot be rebound between check and use. Redirects are not followed.
 */
export const guardedAgent = (allowPrivate: boolean, timeoutMs: number): Agent =>
  new Agent({
    connect: {
      timeout: timeoutMs,
      lookup: (hostname: string, options: object, callback: LookupCallback) => {
        dnsLookup(hostname, { ...options, all: true }, (error, addresses) => {
          if (error) return callback(error, []);
          const allowed = allowPrivate ? addresses : addresses.filter(({ address }) => isPublicAddress(address));
          if (!allowed.length) return callback(new TargetRefused(`${hostname} has no public address`), []);
          if ((options as { all?: boolean }).all) callback(null, allowed);
          else callback(null, allowed[0]!.address, allowed[0]!.family);
        });
      },
    },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connections: 32,
    keepAliveTimeout: 4000,
  });

export interface OutboundRequest {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Of the whole exchange, milliseconds. */
  timeoutMs: number;
  /** Most bytes read of the answer. */
  maxBytes: number;
}

export interface OutboundAnswer {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array;
}

/** HTTP to addresses that tenants name: guarded against SSRF at connection time, limited in time and size. */
export class Outbound {
  private readonly agent: Dispatcher;

  constructor(
    private readonly allowPrivate: boolean,
    timeoutMs = 5000,
  ) {
    this.agent = guardedAgent(allowPrivate, timeoutMs);
  }

  /** What {@link checkTargetUrl} says of a URL under this platform's rules. */
  check(text: string): { url: string } | { fault: string } {
    return checkTargetUrl(text, this.allowPrivate);
  }

  /** @throws TargetRefused, or the error of the connection, time-out or size limit */
  async send(url: string, request: OutboundRequest): Promise<OutboundAnswer> {
    const target = new URL(url);
    if (!this.allowPrivate) {
      if (target.protocol !== 'https:') throw new TargetRefused('https only');
      // A literal never reaches the look-up, so it is judged here.
      if (isIP(target.hostname.replace(/^\[|\]$/g, ''))) throw new TargetRefused('no IP literals');
    }
    const response = await fetch(target, {
      method: request.method ?? 'GET',
      headers: request.headers ?? {},
      body: request.body ?? null,
      redirect: 'manual',
      dispatcher: this.agent,
      signal: AbortSignal.timeout(request.timeoutMs),
    });
    const chunks: Uint8Array[] = [];
    let size = 0;
    if (response.body)
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
        size += chunk.byteLength;
        if (size > request.maxBytes) {
          await response.body.cancel().catch((error: unknown) => {
            throw new Error('answer too large', { cause: error });
          });
          throw new Error(`answer is larger than ${request.maxBytes} bytes`);
        }
        chunks.push(chunk);
      }
    return { status: response.status, headers: Object.fromEntries(response.headers), body: Buffer.concat(chunks) };
  }

  async close(): Promise<void> {
    await this.agent.close();
  }
}
