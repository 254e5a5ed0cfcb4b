import { parseBody } from '../operation/parse-body.js';
import type { Admitted } from './exchange.js';

/** The parsed body. @throws AppError 400, 413, 415 */
export const readBody = (exchange: Admitted): unknown => {
  const { request, plan } = exchange;
  const { body: bytes, headers } = request as typeof request & { body: Buffer | undefined };
  exchange.body ??= { value: parseBody(plan.operation, headers['content-type'], bytes, plan.bodyKind) };
  return exchange.body.value;
};
