import type { LookupAddress } from 'node:dns';
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { ParsedSettings, ProviderHosts } from '../config/config.js';
import { engineConnections } from '../engines/engine-connections.js';

/** Services of cloud providers for the machine itself, with its credentials: AWS, Google Cloud, Oracle, Scaleway. Those of IPv4 are link-local. */
const CLOUD_METADATA = ['fd00:ec2::/32', 'fd20:ce::/32', 'fd00:c1::/32', 'fd00:42::/32'].map((range) =>
  ipaddr.IPv6.parseCIDR(range),
);

/**
 * True for addresses of private networks (RFC 1918, RFC 4193), which are neither loopback nor link-local nor shared; IPv4 mapped into IPv6 is
 * judged as IPv4.
 */
export const isInnerAddress = (address: string): boolean => {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.range() === 'private';
  return parsed.range() === 'uniqueLocal' && !CLOUD_METADATA.some((range) => parsed.match(range));
};

/** One spelling of each address. */
const normal = (address: string): string => ipaddr.process(address).toNormalizedString();

/** Addresses of engines are looked up again after this time, milliseconds. */
const FRESH_MS = 30_000;

type Lookup = (host: string, options: { all: true }) => Promise<readonly LookupAddress[]>;

/** Addresses of the engines that this process connects to, by the system's resolver, as their clients find them. */
export class EngineAddresses {
  private readonly known = new Map<string, readonly string[]>();
  private readAt = -Infinity;
  private reading: Promise<void> | undefined;

  constructor(
    private readonly settings: ParsedSettings,
    private readonly lookup: Lookup = systemLookup,
  ) {}

  /** @throws Error while an engine's host was never resolved */
  async current(): Promise<ReadonlySet<string>> {
    if (performance.now() - this.readAt >= FRESH_MS)
      await (this.reading ??= this.read().finally(() => (this.reading = undefined)));
    return new Set([...this.known.values()].flat());
  }

  private async read(): Promise<void> {
    const connections = await engineConnections(this.settings);
    const hosts = new Set(connections.flatMap((it) => ('hosts' in it ? it.hosts : [])));
    await Promise.all([...hosts].map((host) => this.resolve(host)));
    this.readAt = performance.now();
  }

  /** The last addresses count while the host cannot be resolved. */
  private async resolve(host: string): Promise<void> {
    try {
      const found = isIP(host) ? [host] : (await this.lookup(host, { all: true })).map(({ address }) => address);
      this.known.set(host, found.map(normal));
    } catch (error) {
      if (!this.known.has(host)) throw error;
    }
  }
}

/** Inner hosts that the operator allows for the providers of single tenants (`PROVIDER_HOSTS`, ADR 0114). */
export class InnerHosts {
  constructor(
    private readonly listed: ProviderHosts,
    private readonly engines: Pick<EngineAddresses, 'current'>,
  ) {}

  /** Whether this host and port is listed for the tenant. */
  isListed(tenantId: string, { protocol, hostname, port }: URL): boolean {
    const host = `${hostname}:${port || '443'}`;
    return protocol === 'https:' && Object.hasOwn(this.listed, host) && this.listed[host]!.includes(tenantId);
  }

  /** Whether a connection to an address of a listed host may be opened. */
  async filter(
    addresses: readonly LookupAddress[],
    isPublic: (address: string) => boolean,
  ): Promise<readonly LookupAddress[]> {
    const found = addresses.filter(({ address }) => isPublic(address) || isInnerAddress(address));
    if (found.length === 0) return found;
    const engines = await this.engines.current();
    return found.filter(({ address }) => !engines.has(normal(address)));
  }
}
