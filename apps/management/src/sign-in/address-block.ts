import { isIPv6 } from 'node:net';

/**
 * What an address is counted by: an IPv4 address itself, of IPv6 the /64, which is what one subscriber has (RFC 6177).
 * @param address as the socket or the trusted proxy names it; a zone or text that is no address is returned unchanged
 */
export const addressBlock = (address: string): string => {
  if (!isIPv6(address) || address.includes('%')) return address;
  const mapped = /^(?:::ffff:)(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  // An IPv4 address at the end stands for two groups.
  const length = (groups: string[]) => groups.reduce((sum, group) => sum + (group.includes('.') ? 2 : 1), 0);
  const zeros = tail === undefined ? 0 : 8 - length(left) - length(right);
  const groups = [...left, ...Array<string>(zeros).fill('0'), ...right];
  const block = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${block.join(':')}::/64`;
};
