import type { FastifyPluginAsync } from 'fastify';
import { encodeDocument } from '../documents/encode-document.js';
import { frontPage, unknownHostPage } from '../interface/front-page.js';
import type { InterfaceDocument } from '../interface/interface-documents.js';
import { countBytes, countPublicCall, refuse } from '../pipeline/apply-rate.js';
import type { Dependencies } from '../pipeline/dependencies.js';
import { methodNotAllowed } from '../pipeline/errors.js';
import type { Exchange } from '../pipeline/exchange.js';
import { exchangePlugin } from '../pipeline/exchange-hook.js';
import { sendAnswer } from '../pipeline/send-answer.js';
import { preflightAnswer } from '../request/cors-headers.js';

const ALLOWED = ['GET', 'HEAD'];

type Used = Pick<Dependencies, 'rates' | 'health' | 'unread' | 'published'>;

/** GET, HEAD and OPTIONS, counted as a public call. @throws AppError 405, 429 */
export const answerDocument = async (
  exchange: Exchange,
  deps: Used,
  { headers, kept }: InterfaceDocument,
  status = 200,
): Promise<void> => {
  const { method, headers: received } = exchange.request;
  if (method !== 'OPTIONS' && !ALLOWED.includes(method)) return refuse(exchange, deps, methodNotAllowed(ALLOWED));
  await countPublicCall(exchange, deps);
  if (method === 'OPTIONS') {
    const open = headers['access-control-allow-origin'] === undefined ? [] : ALLOWED;
    return void sendAnswer(exchange, deps, preflightAnswer(ALLOWED, open));
  }
  const answer = await encodeDocument(kept, headers, received, deps.published, status);
  if (method === 'GET' && answer.body) {
    await deps.unread.reserve(exchange.address, exchange.reply.raw, answer.body.length);
    await countBytes(exchange, deps, answer.body.length);
  }
  sendAnswer(exchange, deps, answer);
};

/** `/` of every host, for browsers also of unknown ones; `/openapi.json` and `/docs` of the management and the tenant API. */
export const interfaceDocuments = (deps: Used & Pick<Dependencies, 'config' | 'documents'>): FastifyPluginAsync => {
  const { config, documents } = deps;
  return exchangePlugin((exchange) => {
    const { host, path, request } = exchange;
    if (path !== '/' && path !== '/openapi.json' && !path.startsWith('/docs')) return;
    const { accept } = request.headers;
    if (host) {
      const document = path === '/' ? frontPage(host, config, accept) : documents.find(host, path);
      return document && answerDocument(exchange, deps, document);
    }
    if (path !== '/' || !ALLOWED.includes(request.method)) return;
    const page = unknownHostPage(config, accept);
    return page && answerDocument(exchange, deps, page, 404);
  });
};
