import { Readable } from 'node:stream';
import type { PageOf } from '@attestry/contracts';
import { checkRequest } from '@attestry/service-kit';
import { streamPages } from '../operation/stream-pages.js';
import type { Dependencies } from './dependencies.js';
import type { Admitted } from './exchange.js';
import { readRequest } from './read-request.js';

type Used = Pick<Dependencies, 'authenticate' | 'services' | 'clock'>;

/**
 * Lines of JSON for as long as there are pages and the caller reads them; a caller that lost its rights gets no further page.
 * @throws AppError as the first page threw it
 */
export const streamList = async (exchange: Admitted, { authenticate, services, clock }: Used): Promise<void> => {
  const { plan, host, request, context } = exchange;
  const { operation, timeoutMs } = plan;
  const wanted = readRequest(exchange);
  const pages = await streamPages(async (cursor) => {
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
  });
  exchange.answer = {
    status: operation.http!.success,
    headers: { 'cache-control': 'no-store', 'content-type': 'application/x-ndjson' },
    body: request.method === 'HEAD' ? undefined : Readable.from(pages, { objectMode: false }),
  };
};
