import { AppError, MAX_BODY_BYTES, tooLarge } from '@attestry/contracts';
import type { RateState } from '../request/rate-limits.js';

// The errors of the pipeline itself; beside them its steps throw what they call throws.

/** `GET, HEAD or POST` */
const alternatives = (names: readonly string[]): string => names.join(', ').replace(/, (?=[^,]*$)/, ' or ');

export const methodNotAllowed = (allowed: readonly string[]): AppError =>
  new AppError('methodNotAllowed', `Method Not Allowed: use ${alternatives(allowed)}`, {
    headers: { allow: allowed.join(', ') },
  });

/** The same for a host of a deleted tenant and one that no tenant ever had; it names none. */
export const unknownHost = (): AppError =>
  new AppError(
    'notFound',
    'This host is not served: Host must name the management API, an authorization server, a tenant, or the verified custom domain of one',
  );

export const gone = (): AppError => new AppError('gone', 'Gone: the tenant was deleted, and its data was erased');

export const tooManyRequests = ({ reset }: RateState): AppError => {
  const seconds = Math.max(1, reset - Math.floor(Date.now() / 1000));
  return new AppError('tooManyRequests', 'Too Many Requests', { headers: { 'retry-after': String(seconds) } });
};

/** The error itself, or the AppError for an error of Node or Fastify about an unreadable body; `internal` for any other. */
export const appErrorOf = (error: unknown): AppError => {
  if (error instanceof AppError) return error;
  const { code = '', statusCode } = error as { code?: string; statusCode?: number };
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new AppError('timeout', 'Request Timeout');
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return tooLarge('the body', MAX_BODY_BYTES);
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE' || code === 'FST_ERR_CTP_EMPTY_TYPE')
    return new AppError('unsupportedMediaType', 'Unsupported Media Type');
  if (code.startsWith('FST_ERR_CTP_') || statusCode === 400) return new AppError('invalid', 'Malformed request');
  return new AppError('internal', 'Internal error');
};
