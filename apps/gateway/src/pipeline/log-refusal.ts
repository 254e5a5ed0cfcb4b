import type { AppError } from '@attestry/contracts';
import { refusalFields, requestFields, type Logger } from '@attestry/service-kit';
import { parse as parseQuery } from 'node:querystring';
import { isAdmitted, type Exchange } from './exchange.js';

/** Logged where they are found (`log-unavailable.ts`, `request failed`), or counted only: an attacker causes any number of them. */
const OTHERS: ReadonlySet<AppError['kind']> = new Set(['internal', 'unavailable', 'tooManyRequests']);

type RefusalLogger = Pick<Logger, 'info' | 'debug'> & Partial<Pick<Logger, 'isLevelEnabled'>>;

/**
 * One line for a refusal of the gateway itself; a service has logged its own, in its process. A caller that was not admitted may be anyone:
 * its line is of level `debug`, unless a check refused a token that the operator's provider signed.
 */
export const logRefusal = (exchange: Exchange, refusal: AppError, logger: RefusalLogger): void => {
  const { plan, requestId, checked, sent, params, body, request } = exchange;
  if (!plan || checked || OTHERS.has(refusal.kind)) return;
  const isKnown = isAdmitted(exchange);
  const isShown = isKnown || refusal.check !== undefined;
  if (!isShown && logger.isLevelEnabled?.('debug') === false) return;
  const query = parseQuery(request.url.slice(exchange.path.length + 1));
  const given = sent ?? { params: params ?? {}, query, body: body?.value };
  const context = isKnown ? exchange.context : { requestId, operation: plan.operation.name };
  const tenant = exchange.host?.tenant;
  const fields = { ...requestFields({ ...(tenant && { tenant }), ...context }), ...refusalFields(refusal, given) };
  if (isShown) logger.info(fields, 'operation refused');
  else logger.debug(fields, 'operation refused');
};
