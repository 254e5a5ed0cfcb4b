import type { FoundDocument } from '../documents/public-documents.js';
import { matches, prefersGzip } from '../documents/preconditions.js';
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
  const accepted = request.headers['accept-encoding'];
  // One with a tag of its own is compressed already, or random.
  const isEncodable = kept.isText && own['etag'] === undefined;
  const compressed =
    isEncodable && prefersGzip(accepted === undefined ? undefined : String(accepted))
      ? await deps.published.gzipOf(kept)
      : undefined;
  const body = compressed ?? kept.bytes;
  const etag = own['etag'] ?? `"${kept.digest}${compressed ? '.gzip' : ''}"`;
  const varies = [own['vary'], isEncodable ? 'Accept-Encoding' : undefined].filter((one) => one !== undefined);
  const headers = {
    ...(kind === 'text' ? plan.headers : plan.jsonHeaders),
    ...own,
    etag,
    ...(varies.length > 0 && { vary: varies.join(', ') }),
  };
  if (matches(request.headers['if-none-match'], etag)) {
    exchange.answer = { status: 304, headers: withoutContent(headers) };
    return;
  }
  if (request.method !== 'HEAD') {
    await deps.unread.reserve(address, reply.raw, body.length);
    await countBytes(exchange, deps, body.length);
  }
  exchange.answer = {
    status: plan.operation.http!.success,
    headers: { ...headers, ...(compressed && { 'content-encoding': 'gzip' }) },
    body,
  };
};

/** RFC 9110 §15.4.5: those of the 200 that guide caches, and none about the content. */
const withoutContent = (headers: FoundDocument['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('content-')));
