import { withBasicCredentials } from '../operation/basic-credentials.js';
import { parseBody } from '../operation/parse-body.js';
import type { Admitted } from './exchange.js';

/** The parsed body. @throws AppError 400, 413, 415 */
export const readBody = (exchange: Admitted): unknown => {
  const { request, plan } = exchange;
  const { body: bytes, headers } = request as typeof request & { body: Buffer | undefined };
  if (!exchange.body) {
    const value = parseBody(plan.operation, headers['content-type'], bytes, plan.bodyKind);
    const isTokenCall = plan.operation.rate === 'client-token';
    exchange.body = { value: isTokenCall ? withBasicCredentials(value, headers.authorization) : value };
  }
  return exchange.body.value;
};
