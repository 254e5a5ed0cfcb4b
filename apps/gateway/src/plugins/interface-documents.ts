import type { FastifyPluginAsync } from 'fastify';
import { frontPage } from '../interface/front-page.js';
import type { InterfaceDocument } from '../interface/interface-documents.js';
import { countBytes, countPublicCall, refuse } from '../pipeline/apply-rate.js';
import type { Dependencies } from '../pipeline/dependencies.js';
import { methodNotAllowed } from '../pipeline/errors.js';
import type { Exchange } from '../pipeline/exchange.js';
import { exchangePlugin } from '../pipeline/exchange-hook.js';
import { sendAnswer } from '../pipeline/send-answer.js';
import { preflightAnswer } from '../request/cors-headers.js';

const ALLOWED = ['GET', 'HEAD'];

type Used = Pick<Dependencies, 'rates' | 'health' | 'unread'>;

/** GET, HEAD and OPTIONS, counted as a public call. @throws AppError 405, 429 */
export const answerDocument = async (
  exchange: Exchange,
  deps: Used,
  { headers, body }: InterfaceDocument,
): Promise<void> => {
  const { method, headers: received } = exchange.request;
  if (method !== 'OPTIONS' && !ALLOWED.includes(method)) return refuse(exchange, deps, methodNotAllowed(ALLOWED));
  await countPublicCall(exchange, deps);
  const open = headers['access-control-allow-origin'] === undefined ? [] : ALLOWED;
  const isKnown = received['if-none-match'] === headers['etag'];
  const document = isKnown ? { status: 304, headers } : { status: 200, headers, body };
  if (method === 'GET' && !isKnown) {
    await deps.unread.reserve(exchange.address, exchange.reply.raw, body.length);
    await countBytes(exchange, deps, body.length);
  }
  sendAnswer(exchange, deps, method === 'OPTIONS' ? preflightAnswer(ALLOWED, open) : document);
};

/** `/` of every host that is served; `/openapi.json` and `/docs` of the management and the tenant API. */
export const interfaceDocuments = (deps: Used & Pick<Dependencies, 'config' | 'documents'>): FastifyPluginAsync => {
  const { publicScheme, managementDomain } = deps.config;
  return exchangePlugin((exchange) => {
    const { host, path } = exchange;
    if (!host || (path !== '/' && path !== '/openapi.json' && !path.startsWith('/docs'))) return;
    const document =
      path === '/' ? frontPage(host, `${publicScheme}://${managementDomain}`) : deps.documents.find(host.api, path);
    if (document) return answerDocument(exchange, deps, document);
  });
};
