import type { FastifyReply } from 'fastify';
import type { Answer } from './answer.js';
import type { Dependencies } from './dependencies.js';
import type { Exchange } from './exchange.js';

type Used = Pick<Dependencies, 'health' | 'unread'>;

/** The headers that every answer has. */
export const addCommonHeaders = (
  { reply, requestId, plan, rate, isLenient }: Exchange,
  { health }: Pick<Used, 'health'>,
): void => {
  reply.header('x-request-id', requestId);
  if (isLenient) reply.header('preference-applied', 'handling=lenient');
  if (plan?.deprecation) reply.headers(plan.deprecation);
  // While draining, so that clients reconnect elsewhere before their connections are closed.
  if (health.isClosing) reply.header('connection', 'close');
  if (!rate) return;
  reply.header('x-ratelimit-limit', rate.limit);
  reply.header('x-ratelimit-remaining', rate.remaining);
  reply.header('x-ratelimit-reset', rate.reset);
};

export const sendAnswer = (exchange: Exchange, deps: Used, { status, headers, body }: Answer): FastifyReply => {
  const { request, reply, address } = exchange;
  addCommonHeaders(exchange, deps);
  // A stream counts nothing here: its bytes are counted as they wait.
  const bytes = typeof body === 'string' ? Buffer.byteLength(body) : Buffer.isBuffer(body) ? body.length : 0;
  deps.unread.add(address, reply.raw, request.method === 'HEAD' ? 0 : bytes);
  return reply.code(status).headers(headers).send(body);
};
