import type { IncomingMessage } from 'node:http';
import { invalid, type AppError } from '@attestry/contracts';

/** RFC 9112 §3.2.2: scheme and authority of an absolute-form request target. */
const ABSOLUTE = /^(https?):\/\/([^/?#]*)/i;
/** RFC 9110 §7.2 and RFC 3986 §3.2.2: uri-host and port, not empty for http. */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9\-._~!$&'()*+,;=%]+)(?::\d*)?$/;
const DEFAULT_PORT: Record<string, string> = { http: ':80', https: ':443' };

type Head = Pick<IncomingMessage, 'rawHeaders' | 'httpVersion'>;

const valuesOf = ({ rawHeaders }: Head, name: string): string[] => {
  const values: string[] = [];
  for (let n = 0; n < rawHeaders.length; n += 2)
    if (rawHeaders[n]!.toLowerCase() === name) values.push(rawHeaders[n + 1]!);
  return values;
};

const refusal = (param: string, msg: string): AppError => invalid({ msg, param, location: 'headers' });

const canonical = (host: string, scheme: string): string => {
  const lower = host.toLowerCase();
  const port = DEFAULT_PORT[scheme]!;
  return lower.endsWith(port) ? lower.slice(0, -port.length) : lower.replace(/:$/, '');
};

/**
 * RFC 9112 §3.2: exactly one valid Host, and an absolute-form target that names the same one: two readers of the request must not find
 * two hosts in it. RFC 9112 §3.2.2 would let the target win; a request that names two hosts is refused instead.
 * @param target as received
 * @throws AppError 400
 */
export const checkHost = (head: Head, target: string, isForwarded: boolean): void => {
  const [host, ...more] = valuesOf(head, 'host');
  if (more.length) throw refusal('Host', 'must be sent once');
  if (host === undefined && head.httpVersion !== '1.0') throw refusal('Host', 'is required');
  if (host !== undefined && !HOST.test(host)) throw refusal('Host', 'must be a host name with an optional port');
  const [, scheme, authority] = ABSOLUTE.exec(target) ?? [];
  if (scheme !== undefined) {
    const usual = scheme.toLowerCase();
    if (host === undefined || canonical(authority!, usual) !== canonical(host, usual))
      throw refusal('Host', 'must be the host of the request target');
  }
  const forwarded = isForwarded ? valuesOf(head, 'x-forwarded-host') : [];
  if (forwarded.length > 1 || forwarded[0]?.includes(','))
    throw refusal('X-Forwarded-Host', 'must be sent once, with one host');
};
