import { BlockList, isIPv6 } from 'node:net';
import { isTraceparent } from '@attestry/service-kit';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';

/** Addresses of TRUSTED_PROXIES; forwarded headers count only from these (ADR 0056). */
export class TrustedProxies {
  private readonly list = new BlockList();
  /** False when no proxy is trusted. */
  readonly any: boolean;

  constructor(ranges: readonly string[]) {
    this.any = ranges.length > 0;
    for (const range of ranges) {
      const [address, bits] = range.split('/') as [string, string?];
      const family = isIPv6(address) ? 'ipv6' : 'ipv4';
      if (bits === undefined) this.list.addAddress(address, family);
      else this.list.addSubnet(address, Number(bits), family);
    }
  }

  trusts(address: string): boolean {
    return this.list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  }
}

const known = new LRUCache<string, string>({ max: 10_000 });

/** IPv4 inside IPv6 is written as IPv4, so that one client has one address; '' for an invalid address. */
export const plain = (address: string): string => {
  let text = known.get(address);
  if (text === undefined) {
    text = ipaddr.isValid(address) ? ipaddr.process(address).toString() : '';
    if (address.length <= 64) known.set(address, text);
  }
  return text;
};

/** Rate limits count a whole /64 of IPv6 as one client: one subscriber has that much. */
export const rateKeyOf = (address: string): string =>
  address.includes(':') && isIPv6(address) ? ipaddr.IPv6.parse(address).parts.slice(0, 4).join(':') : address;

/**
 * The /48 of an IPv6 {@link rateKeyOf}, which is what one site has (RFC 6177 §2); `undefined` for IPv4.
 * @param rateKey as `rateKeyOf` returns it
 */
export const networkKeyOf = (rateKey: string): string | undefined => {
  const parts = rateKey.split(':');
  return parts.length === 4 ? parts.slice(0, 3).join(':') : undefined;
};

/** A /48 has the limits of this many addresses: it may be a company, but it has 65,536 networks that count as one address each. */
export const ADDRESSES_OF_NETWORK = 5;

/** A hop of `X-Forwarded-For` without its port: `192.0.2.1:443`, `[2001:db8::1]:443`, `[2001:db8::1]`. */
const withoutPort = (hop: string): string => {
  const [, ipv4, ipv6] = /^(?:([\d.]+):\d+|\[([^\]]*)\](?::\d+)?)$/.exec(hop) ?? [];
  return ipv4 ?? ipv6 ?? hop;
};

export interface Forwarded {
  address: string;
  host: string | undefined;
  /** Whether it came through a trusted proxy. */
  isForwarded: boolean;
  /** `X-Forwarded-Proto` of a trusted proxy; the last one, when there are several. */
  scheme?: string;
  /** W3C Trace Context; accepted only from a trusted proxy. */
  traceparent?: string;
}

/**
 * The client's address and the requested host. `X-Forwarded-For` is read from the right, past trusted proxies only,
 * up to a hop that is not an address: entries further left may come from the client. From other peers this header, `X-Forwarded-Host` and `traceparent` are ignored.
 */
export const forwarded = (
  socketAddress: string,
  headers: Record<string, string | string[] | undefined>,
  proxies: TrustedProxies,
): Forwarded => {
  let address = plain(socketAddress) || socketAddress;
  const host = typeof headers['host'] === 'string' ? headers['host'] : undefined;
  if (!proxies.any || !proxies.trusts(address)) return { address, host, isForwarded: false };
  const hops = String(headers['x-forwarded-for'] ?? '').split(',');
  for (const hop of hops.reverse()) {
    const text = plain(withoutPort(hop.trim()));
    if (text === '') break;
    address = text;
    if (!proxies.trusts(text)) break;
  }
  const forwardedHost = headers['x-forwarded-host'];
  const { traceparent } = headers;
  const scheme = String(headers['x-forwarded-proto'] ?? '')
    .split(',')
    .at(-1)!
    .trim()
    .toLowerCase();
  return {
    address,
    host: typeof forwardedHost === 'string' && forwardedHost ? forwardedHost : host,
    isForwarded: true,
    ...(scheme && { scheme }),
    ...(isTraceparent(traceparent) && { traceparent }),
  };
};
