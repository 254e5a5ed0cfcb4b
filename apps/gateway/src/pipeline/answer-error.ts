import type { FastifyReply } from 'fastify';
import { hasBasicScheme } from '../operation/basic-credentials.js';
import { renderError } from '../operation/render-error.js';
import { isTokenCallFailure } from '../request/rate-limits.js';
import type { Dependencies } from './dependencies.js';
import { appErrorOf } from './errors.js';
import { logRefusal } from './log-refusal.js';
import { logUnavailable } from './log-unavailable.js';
import { isAdmitted, type Exchange } from './exchange.js';
import { recordRefusedAccess } from './record-access.js';
import { recordFailure } from './record-outcome.js';
import { sendAnswer } from './send-answer.js';

type Used = Pick<Dependencies, 'rates' | 'services' | 'recorder' | 'clock' | 'health' | 'unread' | 'logger'>;

/** Error of a step, or of reading the body → response in the error shape of the route. */
export const answerError = async (exchange: Exchange, deps: Used, error: unknown): Promise<FastifyReply> => {
  const { requestId, address, shape } = exchange;
  const failure = appErrorOf(error);
  if (failure.kind === 'internal' && failure !== error)
    deps.logger.error({ requestId, error: error instanceof Error ? error.stack : String(error) }, 'request failed');
  logRefusal(exchange, failure, deps.logger);
  logUnavailable(failure, isAdmitted(exchange) ? exchange.context : { requestId }, deps.logger);
  if (isAdmitted(exchange)) await recordFailure(exchange, deps, failure);
  await recordRefusedAccess(exchange, deps, failure);
  const { status, headers, body } = renderError(failure, shape.errors);
  if (isAdmitted(exchange) && exchange.plan.operation.rate === 'client-token' && isTokenCallFailure(status)) {
    exchange.rate = await deps.rates.countTokenFailure(address);
    // A client that used the header gets the scheme; one that sends its secret in the body has none (RFC 6749 §5.2).
    if (status === 401 && hasBasicScheme(exchange.request.headers.authorization))
      headers['www-authenticate'] = 'Basic realm="oauth", charset="UTF-8"';
  }
  exchange.rate ??= deps.rates.untouched();
  const all = { 'cache-control': 'no-store', ...headers, ...shape.corsHeaders };
  return sendAnswer(exchange, deps, { status, headers: all, body });
};
