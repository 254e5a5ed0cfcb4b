import type { FastifyPluginAsync } from 'fastify';
import { healthAnswer } from '@attestry/service-kit';
import { checkHostHeader } from '../pipeline/check-host-header.js';
import { exchangePlugin } from '../pipeline/exchange-hook.js';
import { sendAnswer } from '../pipeline/send-answer.js';
import type { Services } from '../pipeline/services.js';

/** Liveness and readiness on the public port: on every host, for every method, without a limit. */
export const health = (services: Pick<Services, 'health' | 'rates'>): FastifyPluginAsync =>
  exchangePlugin((exchange) => {
    const { path } = exchange;
    if (path !== '/health/live' && path !== '/health/ready') return;
    const refused = checkHostHeader(exchange, services);
    if (refused) return refused;
    exchange.rate = services.rates.untouched();
    exchange.observed.uncounted = true;
    const { status, type, body } = healthAnswer(path, services.health);
    sendAnswer(exchange, services, { status, headers: { 'content-type': type, 'cache-control': 'no-store' }, body });
  });
