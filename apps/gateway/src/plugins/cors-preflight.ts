import type { FastifyPluginAsync } from 'fastify';
import { countPublicCall } from '../pipeline/apply-rate.js';
import type { Dependencies } from '../pipeline/dependencies.js';
import { exchangePlugin } from '../pipeline/exchange-hook.js';
import { sendAnswer } from '../pipeline/send-answer.js';
import { preflightAnswer } from '../request/cors-headers.js';

type Used = Pick<Dependencies, 'routes' | 'rates' | 'health' | 'unread'>;

/** OPTIONS (RFC 9110 §9.3.7), and CORS preflight (Fetch standard) where pages of other origins may call. */
export const corsPreflight = (deps: Used): FastifyPluginAsync =>
  exchangePlugin((exchange) => {
    const { request, host, path } = exchange;
    if (request.method !== 'OPTIONS') return;
    const router = deps.routes.byApi[host!.api];
    const allowed = router.allowed(path);
    if (!allowed.length) return;
    const open = allowed.filter((method) => router.find(method, path)!.plan.allowsOrigins);
    return countPublicCall(exchange, deps).then(() => void sendAnswer(exchange, deps, preflightAnswer(allowed, open)));
  });
