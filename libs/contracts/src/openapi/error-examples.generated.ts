// Recorded by apps/gateway/src/operation/error-examples.spec.ts (RECORD_EXAMPLES=1). Do not edit.

/** Body of an error, by the name of its response. */
export const ERROR_EXAMPLES: Readonly<Record<string, unknown>> = {
  ManagementConflict: {
    code: 'Conflict',
    type: 'ConflictError',
    message: 'The first call with this Idempotency-Key is still in progress',
    details: [{ msg: 'belongs to a call that is still in progress', param: 'Idempotency-Key', location: 'headers' }],
  },
  ManagementForbidden: {
    code: 'Forbidden',
    type: 'AuthorizationError',
    message: 'The caller needs the role admin on the tenant',
    details: [],
  },
  ManagementHeadersTooLarge: {
    code: 'RequestHeaderFieldsTooLarge',
    type: 'HeaderError',
    message: 'Request Header Fields Too Large: all headers together must have at most 49152 bytes',
    details: [],
  },
  ManagementInternal: { code: 'InternalError', type: 'InternalError', message: 'Internal error', details: [] },
  ManagementInvalid: {
    code: 'BadRequest',
    type: 'ValidationError',
    message: 'Validation Error',
    details: [{ value: '', msg: 'must not be empty', param: 'name', location: 'body' }],
  },
  ManagementNotFound: { code: 'NotFound', type: 'NotFoundError', message: 'Resource Not Found', details: [] },
  ManagementTimeout: { code: 'RequestTimeout', type: 'TimeoutError', message: 'Request Timeout', details: [] },
  ManagementTooLarge: {
    code: 'PayloadTooLarge',
    type: 'PayloadError',
    message: 'Payload Too Large: the body must have at most 1048576 bytes',
    details: [],
  },
  ManagementTooManyRequests: {
    code: 'TooManyRequests',
    type: 'RateLimitError',
    message: 'Too Many Requests',
    details: [],
  },
  ManagementUnauthenticated: {
    code: 'Unauthorized',
    type: 'AuthenticationError',
    message: 'The request has no access token',
    details: [],
  },
  ManagementUnavailable: {
    code: 'ServiceUnavailable',
    type: 'AvailabilityError',
    message: 'Service temporarily unavailable',
    details: [],
  },
  ManagementUnprocessable: {
    code: 'UnprocessableContent',
    type: 'RepeatError',
    message: 'This Idempotency-Key was used for another request',
    details: [{ msg: 'was used for another request', param: 'Idempotency-Key', location: 'headers' }],
  },
  ManagementUnsupportedMediaType: {
    code: 'UnsupportedMediaType',
    type: 'MediaTypeError',
    message: 'Unsupported Media Type: expected application/json',
    details: [],
  },
  OAuthHeadersTooLarge: {
    error: 'invalid_request',
    error_description: 'Request Header Fields Too Large: all headers together must have at most 49152 bytes',
  },
  OAuthInternal: { error: 'server_error', error_description: 'Internal error' },
  OAuthInvalid: { error: 'invalid_request', error_description: 'grant_type is missing' },
  OAuthTimeout: { error: 'invalid_request', error_description: 'Request Timeout' },
  OAuthTooLarge: {
    error: 'invalid_request',
    error_description: 'Payload Too Large: the body must have at most 1048576 bytes',
  },
  OAuthTooManyRequests: {
    error: 'temporarily_unavailable',
    error_description: 'Too Many Requests',
    message: 'Too Many Requests',
  },
  OAuthUnauthenticated: { error: 'access_denied', error_description: 'Unauthorized' },
  OAuthUnavailable: { error: 'temporarily_unavailable', error_description: 'Service temporarily unavailable' },
  OAuthUnsupportedMediaType: {
    error: 'invalid_request',
    error_description: 'Unsupported Media Type: expected application/json',
  },
  TenantConflict: {
    code: 'Conflict',
    message: 'The first call with this Idempotency-Key is still in progress',
    details: [{ msg: 'belongs to a call that is still in progress', param: 'Idempotency-Key', location: 'headers' }],
  },
  TenantForbidden: { code: 'Forbidden', message: 'The caller needs the role admin on the tenant' },
  TenantGone: { code: 'Gone', message: 'The status list ended at 2026-01-15T09:30:00.000Z' },
  TenantHeadersTooLarge: {
    code: 'RequestHeaderFieldsTooLarge',
    message: 'Request Header Fields Too Large: all headers together must have at most 49152 bytes',
  },
  TenantInternal: { code: 'InternalError', message: 'Internal error' },
  TenantInvalid: {
    code: 'BadRequest',
    message: 'Validation Error',
    details: [{ value: '', msg: 'must not be empty', param: 'name', location: 'body' }],
  },
  TenantNotAcceptable: { code: 'NotAcceptable', message: 'Accept must allow application/statuslist+jwt' },
  TenantNotFound: { code: 'NotFound', message: 'Resource Not Found' },
  TenantNotImplemented: {
    code: 'NotImplemented',
    message: 'time must be from 1768469400 to 1768473000: earlier statuses are not kept',
  },
  TenantTimeout: { code: 'RequestTimeout', message: 'Request Timeout' },
  TenantTooLarge: { code: 'PayloadTooLarge', message: 'Payload Too Large: the body must have at most 1048576 bytes' },
  TenantTooManyRequests: { code: 'TooManyRequests', message: 'Too Many Requests' },
  TenantUnauthenticated: { code: 'Unauthorized', message: 'The request has no access token' },
  TenantUnavailable: { code: 'ServiceUnavailable', message: 'Service temporarily unavailable' },
  TenantUnprocessable: {
    code: 'UnprocessableContent',
    message: 'This Idempotency-Key was used for another request',
    details: [{ msg: 'was used for another request', param: 'Idempotency-Key', location: 'headers' }],
  },
  TenantUnsupportedMediaType: {
    code: 'UnsupportedMediaType',
    message: 'Unsupported Media Type: expected application/json',
  },
};
