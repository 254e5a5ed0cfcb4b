import { HTTP_STATUS, oauthFault, type AppError, type ErrorKind, type Operation } from '@attestry/contracts';

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
  timeout: 'TimeoutError',
  conflict: 'ConflictError',
  gone: 'GoneError',
  unprocessable: 'RepeatError',
  tooLarge: 'PayloadError',
  unsupportedMediaType: 'MediaTypeError',
  tooManyRequests: 'RateLimitError',
  headersTooLarge: 'HeaderError',
  internal: 'InternalError',
  notImplemented: 'SupportError',
  unavailable: 'AvailabilityError',
};

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
/** The one place where an error becomes a body (architecture, One error value). */
export const renderError = (error: AppError, shape: Operation['errors']): Rendered => {
  const status = HTTP_STATUS[error.kind];
  const headers = { ...error.headers };
  switch (shape) {
    case 'oauth': {
      const body = oauthFault(error);
      // Specification, Errors: a 429 has `message`.
      const shown = error.kind === 'tooManyRequests' ? { ...body, message: error.message } : body;
      return { status, headers: { ...headers, ...JSON_TYPE }, body: JSON.stringify(shown) };
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

/**
 * The body of an error of a request whose host and path are unknown: it has the members of every error shape.
 * Members beyond its own are allowed in each.
 */
export const renderForAnyShape = (error: AppError): Rendered => {
  const rendered = (['oauth', 'tenant', 'management'] as const).map((shape) => renderError(error, shape));
  const body = Object.assign({}, ...rendered.map((one) => JSON.parse(one.body) as object)) as object;
  return { ...rendered[0]!, body: JSON.stringify(body) };
};
