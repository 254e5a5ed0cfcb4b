import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@attestry/contracts';
import { LRUCache } from 'lru-cache';

/** Time for one query to one server; it is retried once. */
const QUERY_MS = 2000;
const TRIES = 2;
/** Time for a look-up, however many servers are configured: c-ares tries each of them as often. */
const LOOKUP_MS = QUERY_MS * TRIES;
/** RFC 8305 §3: how long to wait for addresses of the other family. */
const OTHER_FAMILY_MS = 50;

const IN_FLIGHT = 8;
const WAITING = 256;
const WINDOW_MS = 60_000;
const BUDGET_MS = 30_000;

/** The look-ups of this tenant took 30 s of the last minute, or too many of them wait. Transient. */
export class DnsBudgetExceeded extends AppError {
  constructor(message: string, seconds: number) {
    super('unavailable', message, { headers: { 'retry-after': String(Math.max(1, Math.ceil(seconds))) } });
  }
}

/** Look-ups of a tenant in flight, and their time in this minute. */
class TenantLookups {
  /** Look-ups in flight, by name and type: connections opened concurrently share one. */
  readonly underWay = new Map<string, Promise<unknown>>();
  private readonly running = new Set<{ since: number }>();
  private readonly waiting: (() => void)[] = [];
  private slots = IN_FLIGHT;
  private windowStart = -Infinity;
  private spentMs = 0;

  async runLookup<T>(lookup: () => Promise<T>): Promise<T> {
    await this.slot();
    try {
      const now = performance.now();
      this.checkBudget(now);
      const entry = { since: now };
      this.running.add(entry);
      try {
        return await lookup();
      } finally {
        this.running.delete(entry);
        this.spentMs += performance.now() - entry.since;
      }
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.slots++;
    }
  }

  private async slot(): Promise<void> {
    if (this.slots > 0) {
      this.slots--;
      return;
    }
    if (this.waiting.length >= WAITING)
      throw new DnsBudgetExceeded('Too many DNS look-ups of this tenant are waiting', LOOKUP_MS / 1000);
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  /** Look-ups in flight count with their present duration. */
  private checkBudget(now: number): void {
    if (now - this.windowStart >= WINDOW_MS) {
      this.windowStart = now;
      this.spentMs = 0;
    }
    const running = [...this.running].reduce((sum, { since }) => sum + now - since, 0);
    if (this.spentMs + running >= BUDGET_MS)
      throw new DnsBudgetExceeded(
        'The DNS look-ups of this tenant took 30 seconds within a minute',
        (this.windowStart + WINDOW_MS - now) / 1000,
      );
  }
}

/** RFC 6761 §6.3: names of this machine, for which no server is queried. */
const isLocalhost = (host: string): boolean => /^(?:.+\.)?localhost\.?$/i.test(host);
const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** Tenants whose look-ups are remembered. */
const TENANTS = 10_000;

/**
 * DNS for names that tenants choose (ADR 0043): over its own sockets, never in libuv's four threads, which the whole process
 * shares; each tenant with at most 8 look-ups in flight and 30 s of look-ups a minute.
 */
export class OutboundResolver {
  private readonly tenants = new LRUCache<string, TenantLookups>({ max: TENANTS });

  /** @param servers as `dns.setServers` takes them; default: those of the system */
  constructor(private readonly servers?: readonly string[]) {}

  /** A and AAAA records. @throws DnsBudgetExceeded, or the error of DNS with its `code` */
  async addresses(tenantId: string, host: string): Promise<readonly LookupAddress[]> {
    return isLocalhost(host)
      ? LOOPBACK
      : this.lookup(tenantId, `A ${host}`, (resolver) => bothFamilies(resolver, host));
  }

  /** TXT records, each in its strings. @throws DnsBudgetExceeded, or the error of DNS with its `code` */
  txt(tenantId: string, name: string): Promise<string[][]> {
    return this.lookup(tenantId, `TXT ${name}`, (resolver) => resolver.resolveTxt(name));
  }

  private lookup<T>(tenantId: string, key: string, query: (resolver: Resolver) => Promise<T>): Promise<T> {
    let lookups = this.tenants.get(tenantId);
    if (!lookups) this.tenants.set(tenantId, (lookups = new TenantLookups()));
    const { underWay } = lookups;
    const known = underWay.get(key) as Promise<T> | undefined;
    if (known) return known;
    const made = lookups.runLookup(() => this.query(query)).finally(() => underWay.delete(key));
    underWay.set(key, made);
    return made;
  }

  private async query<T>(query: (resolver: Resolver) => Promise<T>): Promise<T> {
    // `tries` counts the first one. One resolver for each look-up, so that it can be cancelled, and reads the system's servers again.
    const resolver = new Resolver({ timeout: QUERY_MS, tries: TRIES, maxTimeout: QUERY_MS });
    if (this.servers) resolver.setServers(this.servers);
    const timer = setTimeout(() => resolver.cancel(), LOOKUP_MS);
    try {
      return await query(resolver);
    } finally {
      clearTimeout(timer);
      resolver.cancel();
    }
  }
}

const bothFamilies = async (resolver: Resolver, host: string): Promise<LookupAddress[]> => {
  const found: LookupAddress[] = [];
  const into = (family: 4 | 6) => (addresses: string[]) => {
    found.push(...addresses.map((address) => ({ address, family })));
  };
  const queries = [resolver.resolve4(host).then(into(4)), resolver.resolve6(host).then(into(6))];
  const ended = Promise.allSettled(queries);
  try {
    await Promise.any(queries);
  } catch (error) {
    throw (error as AggregateError).errors[0];
  }
  await Promise.race([ended, sleep(OTHER_FAMILY_MS, undefined, { ref: false })]);
  // A copy: a late response changes nothing.
  return found.toSorted((a, b) => a.family - b.family);
};
