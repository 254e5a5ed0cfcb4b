import { Readable } from 'node:stream';
import { exportEvents, unavailable, type PageOf } from '@attestry/contracts';
import { checkRequest } from '@attestry/service-kit';
import { listFormatOf } from '../operation/list-formats.js';
import { streamPages, type SentList } from '../operation/stream-pages.js';
import type { Dependencies } from './dependencies.js';
import type { Admitted } from './exchange.js';
import { recordExport } from './record-access.js';
import { readRequest } from './read-request.js';
import { shareOf } from './reserve-call.js';

type Used = Pick<Dependencies, 'authenticate' | 'services' | 'pageTurns' | 'recorder' | 'clock' | 'logger'>;

/**
 * A list for as long as there are pages and the caller reads them; a caller that lost its rights gets no further page. Trailers have the
 * number of its entries and its digest (RFC 9530 §2): only a complete list has them.
 * @throws AppError as the first page threw it
 */
export const streamList = async (exchange: Admitted, deps: Used): Promise<void> => {
  const { authenticate, services, pageTurns, clock } = deps;
  const { plan, host, request, reply, context } = exchange;
  const { operation, timeoutMs } = plan;
  const wanted = readRequest(exchange);
  const fetchPage = async (cursor: string | undefined): Promise<PageOf<unknown>> => {
    const deadline = clock.now().getTime() + timeoutMs;
    if (cursor !== undefined) {
      const { authorization } = request.headers;
      const caller = plan.caller ?? (await authenticate.caller(operation, host, authorization, deadline));
      await authenticate.authorize(operation, host, caller, deadline);
    }
    const own = { ...context, deadline };
    const page = cursor === undefined ? {} : { cursor };
    const checked = checkRequest(operation, { ...wanted, page });
    return (await services.call(operation, checked, own, true)) as PageOf<unknown>;
  };
  const inTurn = async (cursor: string | undefined): Promise<PageOf<unknown>> => {
    const leave = await pageTurns.enter(shareOf(exchange));
    try {
      // The caller left while others had their turn.
      if (reply.raw.destroyed) throw unavailable();
      const work = fetchPage(cursor);
      exchange.work = work;
      return await work;
    } finally {
      leave();
    }
  };
  const format = listFormatOf(operation.http!, wanted.query);
  const isHead = request.method === 'HEAD';
  // Trailers need the chunked coding, which HTTP/1.0 does not have (RFC 9112 §7.1.2).
  const hasTrailers = !isHead && request.raw.httpVersion === '1.1';
  const onEnd = (sent: SentList): void => {
    const { count, sha256 } = sent;
    if (hasTrailers && sha256 !== undefined)
      reply.raw.addTrailers({ 'X-Count': String(count), 'Content-Digest': `sha-256=:${sha256}:` });
    if (operation.name === exportEvents.name) void recordExport(exchange, deps, sent);
  };
  const pages = await streamPages(inTurn, format, onEnd);
  exchange.answer = {
    status: operation.http!.success,
    headers: {
      'cache-control': 'no-store',
      'content-type': format.mediaType,
      ...(hasTrailers && { trailer: 'X-Count, Content-Digest' }),
    },
    body: isHead ? undefined : Readable.from(pages, { objectMode: false }),
  };
};
