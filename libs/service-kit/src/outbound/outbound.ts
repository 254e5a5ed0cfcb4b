import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import type { OnApplicationShutdown } from '@nestjs/common';
import { asciiAddress, hasUserInformation, jsonSize } from '@attestry/contracts';
import { LRUCache } from 'lru-cache';
import { Agent, errors, request, type Dispatcher } from 'undici';
import ipaddr from 'ipaddr.js';
import type { InnerHosts } from './inner-hosts.js';
import { OutboundResolver } from './outbound-resolver.js';

/** The target is refused by rule; nothing was sent. */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused';
}

/** RFC 4291 §2.4, RFC 3513: what IANA assigns as global unicast. Outside it are, among others, the old `::a.b.c.d`. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** True only for addresses of the public internet; IPv4 mapped into IPv6 is judged as IPv4. */
export const isPublicAddress = (address: string): boolean => {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_UNICAST);
};

/**
 * Rules for the text of an outbound URL (specification notes, Outbound targets): https, no IP literal, no credentials, no query, no
 * fragment, a name with a dot that is not a private suffix. Returns the address byte for byte, or its ASCII form, or what is wrong with it.
 * @param isListed the operator named host and port, which then may have any name
 */
export const checkTargetUrl = (
  text: string,
  allowPrivate: boolean,
  isListed = false,
): { url: string } | { fault: string } => {
  if (!URL.canParse(text)) return { fault: 'must be a valid URL' };
  const url = new URL(text);
  if (hasUserInformation(text)) return { fault: 'must not contain credentials' };
  if (text.includes('?')) return { fault: 'must not have a query' };
  if (text.includes('#')) return { fault: 'must not have a fragment' };
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:')) return { fault: 'must use https' };
  if (!allowPrivate && !isListed) {
    const host = url.hostname.replace(/[[\]]|\.$/g, '');
    if (isIP(host)) return { fault: 'must not be an IP address' };
    if (!host.includes('.') || /\.(?:localhost|local|internal|invalid|test|example|onion|arpa)$/.test(host))
      return { fault: 'must have a public host name' };
  }
  return { url: asciiAddress(text) };
};

type LookupCallback = (error: Error | null, addresses: LookupAddress[]) => void;
type Lookup = (hostname: string, options: { all: true }, callback: LookupCallback) => void;
/** Addresses that a connection may use. */
interface AddressRule {
  filter(addresses: readonly LookupAddress[]): Promise<readonly LookupAddress[]>;
  /** Kind of the addresses, for the error of a host without one. */
  kind: string;
}

const ANY: AddressRule = { filter: async (addresses) => addresses, kind: 'address' };
const PUBLIC: AddressRule = {
  filter: async (addresses) => addresses.filter(({ address }) => isPublicAddress(address)),
  kind: 'public address',
};
const innerRule = (hosts: InnerHosts): AddressRule => ({
  filter: (addresses) => hosts.filter(addresses, isPublicAddress),
  kind: 'address that its entry in PROVIDER_HOSTS allows',
});

/** Longest duration of an exchange, whatever the caller requests, milliseconds. */
const LONGEST_MS = 30_000;

/**
 * A dispatcher whose every connection goes to an address that was checked: the look-up hands the socket only addresses
 * that passed, so a name cannot be rebound between check and use.
 */
const guardedAgent = ({ filter, kind }: AddressRule, lookup: Lookup): Agent =>
  new Agent({
    connect: {
      timeout: LONGEST_MS,
      // The look-up then has to return all addresses.
      autoSelectFamily: true,
      lookup: (hostname: string, options: object, callback: LookupCallback) => {
        lookup(hostname, { ...options, all: true }, (error, addresses) => {
          if (error) return callback(error, []);
          void filter(addresses).then(
            (allowed) =>
              allowed.length
                ? callback(null, [...allowed])
                : callback(new TargetRefused(`${hostname} has no ${kind}`), []),
            (failure: Error) => callback(failure, []),
          );
        });
      },
    },
    headersTimeout: LONGEST_MS,
    bodyTimeout: LONGEST_MS,
    connections: 32,
    keepAliveTimeout: 4000,
  });

/** Calls for the operator, to configured addresses: with the system's resolver, like connections to engines. */
export const OPERATOR = Symbol('operator');

export interface OutboundRequest {
  /** Tenant: its calls share connections and the time of their DNS look-ups with no other tenant. */
  tenantId: string | typeof OPERATOR;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Time for the whole exchange, the response's body included, milliseconds; at most 30,000. */
  timeoutMs: number;
  /** Most bytes read of the response. */
  maxBytes: number;
  /** Only the status is returned, at once: the body is discarded, and cut at `maxBytes` and `timeoutMs`. */
  statusOnly?: boolean;
}

export interface OutboundAnswer {
  status: number;
  /** Empty with `statusOnly`, like the body. */
  headers: Record<string, string>;
  body: Uint8Array;
}

/** Limits of JSON from a target: levels as in request bodies, so that recursive functions do not fail. */
const ANSWER_LIMITS = { values: 100_000, depth: 64 };

/** JSON in UTF-8. @throws TypeError or SyntaxError for anything else, or for more than 100,000 values or 64 levels */
export const parseAnswer = (body: Uint8Array): unknown => {
  const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  if (jsonSize(value, ANSWER_LIMITS).exceeds) throw new SyntaxError('too many values or levels');
  return value;
};

/** The response is larger than the caller reads. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

/** Tenants, and their listed hosts, whose connections are kept open. */
const TENANTS = 1000;

/** HTTP to addresses that tenants name: guarded against SSRF at connection time, limited in time and size. */
export class Outbound implements OnApplicationShutdown {
  /**
   * Each tenant has its own connections: the look-up that opened a connection, and the budget it used, then never depend on another tenant.
   */
  private readonly agents = new LRUCache<string, Agent>({ max: TENANTS, dispose: (agent) => void agent.close() });
  private closed = false;
  private operatorAgent: Agent | undefined;

  /**
   * @param resolver whose answers are checked
   * @param providers rules for calls to authentication providers: hosts that may have addresses of private networks, and ports beside 443
   */
  constructor(
    private readonly allowPrivate: boolean,
    private readonly resolver: Pick<OutboundResolver, 'addresses'> = new OutboundResolver(),
    private readonly providers?: { innerHosts: InnerHosts; ports: readonly number[] },
  ) {}

  /**
   * Result of {@link checkTargetUrl} for a URL under this platform's rules.
   * @param tenantId whose listed hosts may have any name
   */
  checkUrl(text: string, tenantId?: string): { url: string } | { fault: string } {
    return checkTargetUrl(text, this.allowPrivate, tenantId !== undefined && this.isListed(tenantId, text));
  }

  /** Whether the operator listed host and port of a URL for the tenant. */
  isListed(tenantId: string, url: string): boolean {
    return URL.canParse(url) && this.providers?.innerHosts.isListed(tenantId, new URL(url)) === true;
  }

  /** Fault of the port of a provider's URL. Where private targets are allowed, providers listen on arbitrary ports. No URL has no port. */
  faultOfPort(tenantId: string, url: unknown): string | undefined {
    if (this.allowPrivate || typeof url !== 'string' || !URL.canParse(url)) return undefined;
    const { port } = new URL(url);
    const { ports = [] } = this.providers ?? {};
    if (port === '' || ports.includes(Number(port)) || this.isListed(tenantId, url)) return undefined;
    const allowed = [...new Set([443, ...ports])];
    return `must use ${allowed.length > 1 ? 'one of the ports' : 'the port'} that the operator allows (OUTBOUND_PORTS): ${allowed.join(', ')}`;
  }

  /**
   * Redirects are not followed: their status is the response.
   * @throws TargetRefused, AnswerTooLarge, a `TimeoutError`, or the error of the connection
   */
  async send(url: string, options: OutboundRequest): Promise<OutboundAnswer> {
    const target = new URL(url);
    if (!this.allowPrivate) {
      if (target.protocol !== 'https:') throw new TargetRefused('https only');
      // A literal never reaches the look-up, so it is checked here.
      if (isIP(target.hostname.replace(/[[\]]/g, ''))) throw new TargetRefused('no IP literals');
    }
    if (options.statusOnly) return { status: await this.status(target, options), headers: {}, body: new Uint8Array() };
    const response = await request(target, {
      method: options.method ?? 'GET',
      headers: options.headers ?? {},
      body: options.body ?? null,
      dispatcher: this.agentOf(options.tenantId, target),
      signal: AbortSignal.timeout(options.timeoutMs),
    });
    const answer = { status: response.statusCode, headers: joined(response.headers) };
    const chunks: Uint8Array[] = [];
    let size = 0;
    // Leaving the loop by an error destroys the body, and with it the connection.
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > options.maxBytes) throw new AnswerTooLarge(`response is larger than ${options.maxBytes} bytes`);
      chunks.push(chunk);
    }
    return { ...answer, body: Buffer.concat(chunks) };
  }

  /** The body is discarded after this resolves, so that the connection can be reused. */
  private status(
    target: URL,
    { tenantId, method = 'GET', headers = {}, body, ...limits }: OutboundRequest,
  ): Promise<number> {
    return new Promise((resolve, reject) => {
      let exchange: Dispatcher.DispatchController | undefined;
      let timedOut: DOMException | undefined;
      let read = 0;
      const timer = setTimeout(() => {
        timedOut = new DOMException('The exchange took too long', 'TimeoutError');
        exchange?.abort(timedOut);
        reject(timedOut);
      }, limits.timeoutMs);
      this.agentOf(tenantId, target).dispatch(
        { origin: target.origin, path: target.pathname + target.search, method, headers, body: body ?? null },
        {
          onRequestStart: (controller) => {
            exchange = controller;
            // It waited for a connection until the time-out.
            if (timedOut) controller.abort(timedOut);
          },
          onResponseStart: (_controller, status) => {
            if (status >= 200) resolve(status);
          },
          onResponseData: (controller, chunk) => {
            read += chunk.byteLength;
            if (read > limits.maxBytes) controller.abort(new AnswerTooLarge('response is larger than the limit'));
          },
          onResponseEnd: () => clearTimeout(timer),
          onResponseError: (_controller, error) => {
            clearTimeout(timer);
            reject(error);
          },
        },
      );
    });
  }

  private agentOf(tenantId: string | typeof OPERATOR, target: URL): Dispatcher {
    if (this.closed) throw new errors.ClientClosedError();
    const rule = this.allowPrivate ? ANY : PUBLIC;
    if (tenantId === OPERATOR) return (this.operatorAgent ??= guardedAgent(rule, dnsLookup));
    // A look-up knows no port: a listed host and port has connections of its own, and the host has others for all other ports.
    const isListed = !this.allowPrivate && this.providers?.innerHosts.isListed(tenantId, target) === true;
    const key = isListed ? `${tenantId} ${target.host}` : tenantId;
    let agent = this.agents.get(key);
    if (!agent) {
      agent = guardedAgent(isListed ? innerRule(this.providers!.innerHosts) : rule, (host, _options, callback) => {
        this.resolver.addresses(tenantId, host).then(
          (addresses) => callback(null, [...addresses]),
          (error: Error) => callback(error, []),
        );
      });
      this.agents.set(key, agent);
    }
    return agent;
  }

  /** Waits for the exchanges in progress. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.all(
      [...this.agents.values(), ...(this.operatorAgent ? [this.operatorAgent] : [])].map((agent) => agent.close()),
    );
  }

  /** Called by Nest for every provider, values included, after the senders have stopped. */
  onApplicationShutdown(): Promise<void> {
    return this.close();
  }
}

/** Repeated headers are joined as RFC 9110 §5.3 allows. */
const joined = (headers: Record<string, string | string[] | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value!]),
  );
