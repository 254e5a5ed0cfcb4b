import { HTTP_STATUS, type AppError, type ErrorKind, type Operation } from '@attestry/contracts';

export interface Rendered {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** `type` of management errors: the kind of fault in one word. */
const TYPE: Record<ErrorKind, string> = {
  invalid: 'ValidationError',
  unauthenticated: 'AuthenticationError',
  forbidden: 'AuthorizationError',
  notFound: 'NotFoundError',
  methodNotAllowed: 'MethodError',
  notAcceptable: 'NegotiationError',
  conflict: 'ConflictError',
  unprocessable: 'RepeatError',
  tooLarge: 'PayloadError',
  unsupportedMediaType: 'MediaTypeError',
  tooManyRequests: 'RateLimitError',
  internal: 'InternalError',
  unavailable: 'AvailabilityError',
};

/** OAuth codes for faults that have none of their own. RFC 6749 §5.2 and §4.1.2.1 */
const OAUTH_CODE: Partial<Record<ErrorKind, string>> = {
  internal: 'server_error',
  unavailable: 'temporarily_unavailable',
  tooManyRequests: 'temporarily_unavailable',
  unauthenticated: 'invalid_client',
};

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
const TEXT_TYPE = { 'content-type': 'text/plain; charset=utf-8' };
/** RFC 6749 §5.2: no characters outside %x20-21 / %x23-5B / %x5D-7E. */
const ascii = (text: string): string => text.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?');

/** The one place where an error becomes a body (decision 31). */
export const renderError = (error: AppError, shape: Operation['errors']): Rendered => {
  const status = HTTP_STATUS[error.kind];
  const headers = { ...error.headers };
  switch (shape) {
    case 'oauth': {
      const own = /^[a-z_]+$/.test(error.code);
      const code = own ? error.code : (OAUTH_CODE[error.kind] ?? 'invalid_request');
      const body = { error: code, error_description: ascii(error.message) };
      // Specification, Errors: a 429 has `message`.
      const told = error.kind === 'tooManyRequests' ? { ...body, message: error.message } : body;
      return { status, headers: { ...headers, ...JSON_TYPE }, body: JSON.stringify(told) };
    }
    case 'management':
      return {
        status,
        headers: { ...headers, ...JSON_TYPE },
        body: JSON.stringify({
          code: error.code,
          type: TYPE[error.kind],
          message: error.message,
          details: error.details ?? [],
        }),
      };
    case 'tenant':
      if (error.kind === 'unauthenticated' || error.kind === 'forbidden')
        return { status, headers: { ...headers, ...TEXT_TYPE }, body: error.message };
      return {
        status,
        headers: { ...headers, ...JSON_TYPE },
        body: JSON.stringify({
          code: error.code,
          message: error.message,
          ...(error.details && { details: error.details }),
        }),
      };
  }
};
