import { encodeDocument } from '../documents/encode-document.js';
import { countBytes } from './apply-rate.js';
import type { Dependencies } from './dependencies.js';
import type { Admitted } from './exchange.js';
import { renderResult } from './render-result.js';

type Used = Pick<Dependencies, 'published' | 'rates' | 'unread'>;

/** A public document in the encoding that the client prefers, or a 304. @throws AppError 429 */
export const renderDocument = async (exchange: Admitted, deps: Used): Promise<void> => {
  const { document, plan, request, reply, address } = exchange;
  if (!document) return renderResult(exchange);
  const { kept, kind, headers: own } = document;
  const headers = { ...(kind === 'text' ? plan.headers : plan.jsonHeaders), ...own };
  const answer = await encodeDocument(kept, headers, request.headers, deps.published, plan.operation.http!.success);
  if (answer.body && request.method !== 'HEAD') {
    await deps.unread.reserve(address, reply.raw, answer.body.length);
    await countBytes(exchange, deps, answer.body.length);
  }
  exchange.answer = answer;
};
