import type { FastifyReply, FastifyRequest } from 'fastify';
import { forwarded, rateKeyOf, type TrustedProxies } from '../request/client-address.js';
import { newRequestId } from '../request/request-id.js';
import { SECURE_HEADERS, SECURITY_HEADERS } from '../server/security-headers.js';
import type { Dependencies } from './dependencies.js';
import { pathOf, type Exchange } from './exchange.js';
import { shapeOf } from './plan.js';

const MANAGEMENT = shapeOf('management');
const TENANT = shapeOf('tenant');

/** Exchange of a request, from its connection and head: request id, address of the caller, shape of errors. */
export const openExchange = (
  request: FastifyRequest,
  reply: FastifyReply,
  proxies: TrustedProxies,
  { clock, config, hosts }: Pick<Dependencies, 'clock' | 'config' | 'hosts'>,
): Exchange => {
  const startedAt = clock.now().getTime();
  const socketAddress = request.socket.remoteAddress ?? '';
  const { address, host, isForwarded, scheme, traceparent } = forwarded(socketAddress, request.headers, proxies);
  reply.headers((scheme ?? config.publicScheme) === 'https' ? SECURE_HEADERS : SECURITY_HEADERS);
  return {
    request,
    reply,
    requestId: newRequestId(),
    startedAt,
    address: rateKeyOf(address),
    hostHeader: host,
    isForwarded,
    traceparent,
    path: pathOf(request.url),
    observed: {},
    deadline: startedAt + config.operationTimeoutMs,
    shape: hosts.apiOf(host) === 'management' ? MANAGEMENT : TENANT,
  };
};
