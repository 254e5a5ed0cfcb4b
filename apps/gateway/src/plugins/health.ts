import type { FastifyPluginAsync } from 'fastify';
import { healthAnswer } from '@attestry/service-kit';
import { checkHostHeader } from '../pipeline/check-host-header.js';
import type { Dependencies } from '../pipeline/dependencies.js';
import { exchangePlugin } from '../pipeline/exchange-hook.js';
import { sendAnswer } from '../pipeline/send-answer.js';

/** Liveness and readiness on the public port: on every host, for every method, without a limit. */
export const health = (deps: Pick<Dependencies, 'health' | 'unread' | 'rates'>): FastifyPluginAsync =>
  exchangePlugin((exchange) => {
    const { path } = exchange;
    if (path !== '/health/live' && path !== '/health/ready') return;
    const refused = checkHostHeader(exchange, deps);
    if (refused) return refused;
    exchange.rate = deps.rates.untouched();
    exchange.observed.uncounted = true;
    const { status, type, body } = healthAnswer(path, deps.health);
    sendAnswer(exchange, deps, { status, headers: { 'content-type': type, 'cache-control': 'no-store' }, body });
  });
