import type { HttpAnswer } from '@attestry/contracts';
import type { Admitted } from './exchange.js';

/** Result of the service → status, headers and body. */
export const renderResult = (exchange: Admitted): void => {
  const { plan, result } = exchange;
  const own: HttpAnswer['$http'] = (result as HttpAnswer | null | undefined)?.$http ?? { body: result };
  const { status = plan.operation.http!.success, headers, base64 } = own;
  if (base64 !== undefined) {
    const body = Buffer.from(base64, 'base64');
    exchange.answer = { status, headers: { ...plan.jsonHeaders, ...headers }, body };
    return;
  }
  const body = status === 204 ? undefined : (own.body ?? undefined);
  const isText = body === undefined || typeof body === 'string';
  exchange.answer = {
    status,
    headers: { ...(isText ? plan.headers : plan.jsonHeaders), ...headers },
    body: isText ? body : JSON.stringify(body),
  };
};
