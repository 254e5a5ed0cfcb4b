import { parse as parseQuery } from 'node:querystring';
import { mediaTypeOf, type OperationRequest, type RawRequest } from '@attestry/contracts';
import { checkIdempotencyKey } from '@attestry/service-kit';
import { checkQuery, decodeBody } from '../operation/check-utf8.js';
import { prefersLenient } from '../request/prefers-lenient.js';
import type { Admitted } from './exchange.js';
import { readBody } from './read-body.js';

const rawOf = ({ request: { method, url, headers: received, body } }: Admitted): RawRequest => {
  const headers: Record<string, string> = {};
  for (const name of Object.keys(received)) {
    const value = received[name]!;
    headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return { method, url, headers, text: decodeBody(body as Buffer | undefined, mediaTypeOf(received['content-type'])) };
};

/** The operation's request, parsed and not yet checked against its shape. @throws AppError 400, 413, 415 */
export const readRequest = (exchange: Admitted): OperationRequest => {
  const { plan, params, context, request } = exchange;
  if (context.idempotencyKey !== undefined) checkIdempotencyKey(context.idempotencyKey);
  const search = request.url.slice(exchange.path.length + 1);
  if (search) checkQuery(search);
  const query = { ...parseQuery(search) };
  if (plan.bodyKind === 'raw') return { params, query, body: {}, raw: rawOf(exchange) };
  exchange.isLenient = plan.refusesUnknown && prefersLenient(request.headers['prefer']);
  const isStrict = plan.refusesUnknown && !exchange.isLenient;
  return { params, query, body: readBody(exchange), ...(isStrict && { strict: true }) };
};
