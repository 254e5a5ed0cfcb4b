import { mayHavePassword } from './addresses.js';

/**
 * The one error value of all services (architecture, One error value). Thrown once, sent over the bus unchanged, rendered once by the gateway
 * in the error shape the operation declares. `cause`, `check` and `claim` stay private: they go to the log, never to a caller.
 */

export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'notFound'
  | 'methodNotAllowed'
  | 'notAcceptable'
  | 'timeout'
  | 'conflict'
  | 'gone'
  | 'unprocessable'
  | 'tooLarge'
  | 'unsupportedMediaType'
  | 'tooManyRequests'
  | 'headersTooLarge'
  | 'internal'
  | 'notImplemented'
  | 'unavailable';

export const HTTP_STATUS: Record<ErrorKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  notFound: 404,
  methodNotAllowed: 405,
  notAcceptable: 406,
  timeout: 408,
  conflict: 409,
  gone: 410,
  unprocessable: 422,
  tooLarge: 413,
  unsupportedMediaType: 415,
  tooManyRequests: 429,
  headersTooLarge: 431,
  internal: 500,
  notImplemented: 501,
  unavailable: 503,
};

/** Codes of the tenant and management APIs (specification notes, Errors). OAuth endpoints use the codes of RFC 6749 and OID4VCI. */
const PLATFORM_CODE: Record<ErrorKind, string> = {
  invalid: 'BadRequest',
  unauthenticated: 'Unauthorized',
  forbidden: 'Forbidden',
  notFound: 'NotFound',
  methodNotAllowed: 'MethodNotAllowed',
  notAcceptable: 'NotAcceptable',
  timeout: 'RequestTimeout',
  conflict: 'Conflict',
  gone: 'Gone',
  unprocessable: 'UnprocessableContent',
  tooLarge: 'PayloadTooLarge',
  unsupportedMediaType: 'UnsupportedMediaType',
  tooManyRequests: 'TooManyRequests',
  headersTooLarge: 'RequestHeaderFieldsTooLarge',
  internal: 'InternalError',
  notImplemented: 'NotImplemented',
  unavailable: 'ServiceUnavailable',
};

/** One fault of a request. */
export interface ErrorDetail {
  /** The rejected value. Absent for secrets, addresses that may contain one, and long values. */
  value?: unknown;
  /** Error of the parameter, for example `must be at most 10 minutes`. */
  msg: string;
  /** Name of the parameter or member. */
  param: string;
  location: 'body' | 'params' | 'query' | 'headers';
}

export interface AppErrorOptions {
  code?: string;
  details?: ErrorDetail[];
  /** Name of the check that rejected the request, as its file is named; for the log. */
  check?: string;
  /** Name of the claim of a credential that rejected the request; for the log and the record of the call. */
  claim?: string;
  /** Members of `metadata` of the record of the call; other services receive them, callers never do. */
  recorded?: Record<string, unknown>;
  /** Logged, never sent to a caller. */
  cause?: unknown;
  /** Extra response headers, for example `Allow` or `WWW-Authenticate`. */
  headers?: Record<string, string>;
}

/** Whether a text in a JSON value may contain a password. */
const holdsPassword = (value: unknown): boolean =>
  typeof value === 'string'
    ? mayHavePassword(value)
    : typeof value === 'object' && value !== null && Object.values(value).some(holdsPassword);

/** Without the values of addresses that may contain a password; what has none is not copied. */
const shownDetails = (details: ErrorDetail[]): ErrorDetail[] =>
  details.some(({ value }) => holdsPassword(value))
    ? details.map(({ value, ...detail }) =>
        value === undefined || holdsPassword(value) ? detail : { value, ...detail },
      )
    : details;

export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: string;
  readonly details: ErrorDetail[] | undefined;
  readonly check: string | undefined;
  readonly claim: string | undefined;
  readonly recorded: Record<string, unknown> | undefined;
  readonly headers: Record<string, string> | undefined;

  constructor(
    readonly kind: ErrorKind,
    message: string,
    options: AppErrorOptions = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code ?? PLATFORM_CODE[kind];
    this.details = options.details && shownDetails(options.details);
    this.check = options.check;
    this.claim = options.claim;
    this.recorded = options.recorded;
    this.headers = options.headers;
  }

  /** The same error with further response headers. */
  withHeaders(headers: Record<string, string>): AppError {
    return new AppError(this.kind, this.message, {
      code: this.code,
      ...(this.details && { details: this.details }),
      ...(this.check !== undefined && { check: this.check }),
      ...(this.claim !== undefined && { claim: this.claim }),
      ...(this.recorded && { recorded: this.recorded }),
      cause: this.cause,
      headers: { ...this.headers, ...headers },
    });
  }

  /** The bus carries no cause, check or claim. */
  toWire(): WireAppError {
    return {
      kind: this.kind,
      code: this.code,
      message: this.message,
      ...(this.details && { details: this.details }),
      ...(this.headers && { headers: this.headers }),
      ...(this.recorded && { recorded: this.recorded }),
    };
  }

  static fromWire(wire: WireAppError): AppError {
    return new AppError(wire.kind, wire.message, {
      code: wire.code,
      ...(wire.details && { details: wire.details }),
      ...(wire.headers && { headers: wire.headers }),
      ...(wire.recorded && { recorded: wire.recorded }),
    });
  }
}

export interface WireAppError {
  kind: ErrorKind;
  code: string;
  message: string;
  details?: ErrorDetail[];
  headers?: Record<string, string>;
  recorded?: Record<string, unknown>;
}

/** Maximum number of details of an error. */
export const MAX_DETAILS = 100;

/** 400 `Validation Error` with one detail per fault, {@link MAX_DETAILS} at most. */
export const invalid = (...details: ErrorDetail[]): AppError =>
  new AppError('invalid', 'Validation Error', { details: details.slice(0, MAX_DETAILS) });

/** 400 with one fault of the body. */
export const invalidBody = (param: string, msg: string, value?: unknown): AppError =>
  invalid({ ...(value === undefined ? {} : { value }), msg, param, location: 'body' });

/** 413. @param what is too large @param most bytes that it may have */
export const tooLarge = (what: string, most: number): AppError =>
  new AppError('tooLarge', `Payload Too Large: ${what} must have at most ${most} bytes`);

/** Maximum size of all header fields of a request, bytes. */
export const MAX_HEADER_BYTES = 49_152;

/** 431 */
export const headersTooLarge = (): AppError =>
  new AppError(
    'headersTooLarge',
    `Request Header Fields Too Large: all headers together must have at most ${MAX_HEADER_BYTES} bytes`,
  );

export const notFound = (): AppError => new AppError('notFound', 'Resource Not Found');

/** RFC 6749 §5.2 and RFC 6750 §3: no characters outside %x20-21 / %x23-5B / %x5D-7E. */
const descriptionText = (text: string): string => text.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?');

/** The challenge of a refused access token, with the reason (RFC 6750 §3). */
export const bearerChallenge = (
  error: 'invalid_token' | 'insufficient_scope' | 'insufficient_user_authentication',
  reason: string,
) => ({
  'www-authenticate': `Bearer error="${error}", error_description="${descriptionText(reason)}"`,
});
/** The challenge for an access token that is bound to a key, and for its proof (RFC 9449 §7.1). */
export const dpopChallenge = (
  error: 'invalid_token' | 'insufficient_scope' | 'invalid_dpop_proof' | 'use_dpop_nonce',
  reason: string,
) => ({
  'www-authenticate': `DPoP error="${error}", error_description="${descriptionText(reason)}", algs="ES256"`,
});
/** 403 with the same reason in the challenge and in the message (ADR 0106). */
export const forbidden = (reason: string): AppError =>
  new AppError('forbidden', descriptionText(reason), { headers: bearerChallenge('insufficient_scope', reason) });
/** 401 for an access token that is refused; the reason as in {@link forbidden}. @param check for the log */
export const invalidToken = (reason: string, check?: string): AppError =>
  new AppError('unauthenticated', descriptionText(reason), {
    headers: bearerChallenge('invalid_token', reason),
    ...(check !== undefined && { check }),
  });
/**
 * 401 for an access token of a person whose sign-in does not suffice (RFC 9470 §3).
 * @param acrValues with which another sign-in would; none where another claim is required
 */
export const insufficientUserAuthentication = (
  reason: string,
  check: string,
  acrValues: readonly string[],
): AppError => {
  const challenge = bearerChallenge('insufficient_user_authentication', reason)['www-authenticate'];
  return new AppError('unauthenticated', descriptionText(reason), {
    headers: {
      'www-authenticate': acrValues.length ? `${challenge}, acr_values="${acrValues.join(' ')}"` : challenge,
    },
    check,
  });
};
/** 401 for a request without credentials: its challenge has no error (RFC 6750 §3.1). */
export const unauthenticated = (): AppError =>
  new AppError('unauthenticated', 'The request has no access token', { headers: { 'www-authenticate': 'Bearer' } });

export const conflict = (message: string, details?: ErrorDetail[]): AppError =>
  new AppError('conflict', message, details ? { details } : {});
export const unavailable = (message = 'Service temporarily unavailable', cause?: unknown): AppError =>
  new AppError('unavailable', message, { cause });

/** Error codes of RFC 6749 §4.1.2.1 and §5.2, RFC 6750 §3.1, RFC 7009 §2.2.1, RFC 8707 §2, RFC 9101 §6, RFC 9396 §5, RFC 9449 §5 and §8, OID4VCI §6.3 and §8.3.1.2. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_token_type'
  | 'unsupported_response_type'
  | 'request_not_supported'
  | 'invalid_request_uri'
  | 'invalid_target'
  | 'invalid_scope'
  | 'invalid_authorization_details'
  | 'invalid_dpop_proof'
  | 'use_dpop_nonce'
  | 'use_fresh_attestation'
  | 'use_attestation_challenge'
  | 'invalid_token'
  | 'insufficient_scope'
  | 'invalid_credential_request'
  | 'unknown_credential_configuration'
  | 'unknown_credential_identifier'
  | 'invalid_proof'
  | 'invalid_nonce'
  | 'invalid_encryption_parameters'
  | 'credential_request_denied'
  | 'invalid_transaction_id'
  | 'invalid_notification_id'
  | 'invalid_notification_request'
  | 'access_denied'
  | 'server_error'
  | 'temporarily_unavailable';

const OAUTH_KIND: Partial<Record<OAuthErrorCode, ErrorKind>> = {
  invalid_client: 'unauthenticated',
  invalid_token: 'unauthenticated',
  access_denied: 'unauthenticated',
  insufficient_scope: 'forbidden',
  server_error: 'internal',
  temporarily_unavailable: 'unavailable',
};

/** OAuth codes for faults that have none of their own. RFC 6749 §5.2 and §4.1.2.1 */
const CODE_OF_KIND: Partial<Record<ErrorKind, OAuthErrorCode>> = {
  internal: 'server_error',
  unavailable: 'temporarily_unavailable',
  tooManyRequests: 'temporarily_unavailable',
  unauthenticated: 'invalid_client',
};

/** OAuth errors have no member for details: the first detail becomes the description. */
const descriptionOf = ({ kind, message, details: [first] = [] }: AppError): string =>
  kind === 'invalid' && first ? `${first.param} ${first.msg}` : message;

/** The OAuth form of any error, for a body or a redirect URI. */
export const oauthFault = (fault: AppError): { error: string; error_description: string } => ({
  error: /^[a-z_]+$/.test(fault.code) ? fault.code : (CODE_OF_KIND[fault.kind] ?? 'invalid_request'),
  error_description: descriptionText(descriptionOf(fault)),
});

/** An error in OAuth shape; `description` is ASCII and public, `check` names the check that rejected the request, for the log. */
export const oauthError = (
  code: OAuthErrorCode,
  description: string,
  options: Omit<AppErrorOptions, 'code' | 'details'> = {},
): AppError => new AppError(OAUTH_KIND[code] ?? 'invalid', description, { ...options, code });
