/** Error codes of the IANA registry "OAuth Extensions Error" and of RFC 6749, RFC 6750 and OpenID Connect: no other text of a provider is recorded. */
const REGISTERED = new Set([
  ...['invalid_request', 'unauthorized_client', 'access_denied', 'unsupported_response_type', 'invalid_scope'],
  ...['server_error', 'temporarily_unavailable', 'invalid_client', 'invalid_grant', 'unsupported_grant_type'],
  ...['invalid_token', 'insufficient_scope', 'unsupported_token_type', 'invalid_target'],
  ...['interaction_required', 'login_required', 'account_selection_required', 'consent_required'],
  ...['invalid_request_uri', 'invalid_request_object', 'request_not_supported', 'request_uri_not_supported'],
  ...['registration_not_supported', 'unmet_authentication_requirements', 'insufficient_user_authentication'],
  ...['invalid_dpop_proof', 'use_dpop_nonce', 'invalid_authorization_details'],
  ...['authorization_pending', 'slow_down', 'expired_token'],
]);

export const registeredCode = (code: unknown): string | undefined =>
  typeof code === 'string' && REGISTERED.has(code) ? code : undefined;

const MAX_DESCRIPTION = 200;

/** Printable ASCII of a provider's text. */
const printable = (text: unknown): string | undefined =>
  typeof text === 'string' ? text.slice(0, MAX_DESCRIPTION).replace(/[^\x20-\x7e]/g, '?') : undefined;

/** An endpoint that the client authenticates at did not answer with success (RFC 6749 §5.2). */
export class ProviderRefused extends Error {
  override readonly name = 'ProviderRefused';

  constructor(
    readonly status: number,
    /** Registered. */
    readonly code?: string,
    /** `error` as printable ASCII, also if it is not registered. */
    readonly error?: string,
    /** May name an account: for the log only. */
    readonly description?: string,
  ) {
    super(['status', status, ...(code === undefined ? [] : [code])].join(' '));
  }

  /** The credentials of the client, not the code, are refused. */
  get isOfClient(): boolean {
    return this.status === 401 || this.code === 'invalid_client' || this.code === 'unauthorized_client';
  }
}

/** @param body text of the provider is read only from JSON with `error` */
export const refusedBy = (status: number, body: Uint8Array): ProviderRefused => {
  let answer: unknown;
  try {
    answer = JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return new ProviderRefused(status);
  }
  const { error, error_description: description } = (answer ?? {}) as Record<string, unknown>;
  return typeof error === 'string'
    ? new ProviderRefused(status, registeredCode(error), printable(error), printable(description))
    : new ProviderRefused(status);
};

/** For what the guard or the network refuses: a difference would describe networks that the tenant cannot reach. */
export const UNREACHABLE = 'the address is not allowed or cannot be reached';

/** The first error of a class among an error and its causes. */
export const causeOf = <T extends Error>(error: unknown, type: new (...values: never[]) => T): T | undefined => {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof type) return one;
  return undefined;
};

/** The key of the tenant's client could not sign: a fault of ours. Its cause is the reason. */
export class ClientKeyFailed extends Error {
  override readonly name = 'ClientKeyFailed';

  constructor(cause: unknown) {
    super("the client's key could not sign", { cause });
  }
}
