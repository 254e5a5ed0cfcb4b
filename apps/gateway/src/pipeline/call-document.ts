import type { Dependencies } from './dependencies.js';
import type { Admitted } from './exchange.js';

/** Request headers that decide which document is returned, and which answer. */
const READ_HEADERS = ['accept', 'accept-language', 'if-none-match'] as const;

type Used = Pick<Dependencies, 'services' | 'published'>;

/** Requests for the same document share a call that begins after they arrived (ADR 0097). @throws AppError */
export const callDocument = async (exchange: Admitted, { services, published }: Used): Promise<void> => {
  const { plan, context, host, path, request, checked } = exchange;
  const address = [plan.operation.name, context.tenant?.id, host.publicUrl, path].join(' ');
  const headers = READ_HEADERS.map((name) => request.headers[name] ?? '');
  const found = await published.find(address, [request.url, ...headers].join('\n'), (document) =>
    services.call(plan.operation, checked!, { ...context, document }, true),
  );
  if ('document' in found) exchange.document = found.document;
  else exchange.result = found.result;
};
