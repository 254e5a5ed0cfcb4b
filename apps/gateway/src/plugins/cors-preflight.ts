import type { FastifyPluginAsync } from 'fastify';
import { preflightAnswer } from '../request/cors-headers.js';
import { countPublicCall } from '../pipeline/apply-rate.js';
import { exchangePlugin } from '../pipeline/exchange-hook.js';
import { sendAnswer } from '../pipeline/send-answer.js';
import type { Services } from '../pipeline/services.js';

type Used = Pick<Services, 'routes' | 'rates' | 'health'>;

/** OPTIONS (RFC 9110 §9.3.7), and CORS preflight (Fetch standard) where pages of other origins may call. */
export const corsPreflight = (services: Used): FastifyPluginAsync =>
  exchangePlugin((exchange) => {
    const { request, host, path } = exchange;
    if (request.method !== 'OPTIONS') return;
    const router = services.routes.of(host!.api);
    const allowed = router.allowed(path);
    if (!allowed.length) return;
    const open = allowed.filter((method) => router.find(method, path)!.plan.allowsOrigins);
    return countPublicCall(exchange, services).then(
      () => void sendAnswer(exchange, services, preflightAnswer(allowed, open)),
    );
  });
