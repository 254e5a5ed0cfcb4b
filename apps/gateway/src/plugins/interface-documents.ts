import type { FastifyPluginAsync } from 'fastify';
import { preflightAnswer } from '../request/cors-headers.js';
import { countPublicCall, refuse } from '../pipeline/apply-rate.js';
import { methodNotAllowed } from '../pipeline/errors.js';
import { exchangePlugin } from '../pipeline/exchange-hook.js';
import { sendAnswer } from '../pipeline/send-answer.js';
import type { Services } from '../pipeline/services.js';

const ALLOWED = ['GET', 'HEAD'];

/** `/openapi.json` and `/docs` of the management and the tenant API. */
export const interfaceDocuments = (services: Pick<Services, 'documents' | 'rates' | 'health'>): FastifyPluginAsync =>
  exchangePlugin(async (exchange) => {
    const { host, path, request } = exchange;
    const document = host && services.documents.find(host.api, path);
    if (!document) return;
    const { headers, body } = document;
    const { method } = request;
    if (method !== 'OPTIONS' && !ALLOWED.includes(method)) return refuse(exchange, services, methodNotAllowed(ALLOWED));
    await countPublicCall(exchange, services);
    const open = headers['access-control-allow-origin'] === undefined ? [] : ALLOWED;
    const isKnown = request.headers['if-none-match'] === headers['etag'];
    const answer = isKnown ? { status: 304, headers } : { status: 200, headers, body };
    sendAnswer(exchange, services, method === 'OPTIONS' ? preflightAnswer(ALLOWED, open) : answer);
  });
