import {
  DID_KEY_TYPES,
  invalid,
  OPERATIONS,
  type CreateDidRequest,
  type DidKeyType,
  type ErrorDetail,
  type RegistrationStatus,
  type TenantContext,
} from '@attestry/contracts';
import { parseAddress } from '../did/did-web.js';

export type DidPlan =
  { method: 'key'; algorithm: DidKeyType } | { method: 'web'; did: string; registrationStatus: RegistrationStatus };

/** First path segments that the tenant host itself uses: a document below them could not be served. */
const PLATFORM_SEGMENTS = new Set([
  'health',
  ...OPERATIONS.flatMap(({ http }) =>
    http && (http.hosts ?? ['tenant']).includes('tenant')
      ? [http.path, ...(http.alsoAt ?? [])].map((path) => path.split('/')[1]!)
      : [],
  ).filter((segment) => segment !== 'did.json'),
]);

/** For the option of each method. */
const MISSING = {
  keyType: `is required: one of ${DID_KEY_TYPES.join(', ')}`,
  url: 'is required: a host, a host with a path, or an https URL',
};
const MAX_URL_LENGTH = 1024;
/** Longest rejected value that an error message repeats. */
const MAX_ECHO = 200;

/**
 * Validates the request.
 * @param isPlatformHost whether a host lies under the platform's own domains
 * @throws AppError 400 with a detail per fault
 */
export const checkOptions = (
  { method, options }: CreateDidRequest,
  tenant: TenantContext,
  isPlatformHost: (host: string) => boolean,
): DidPlan => {
  const names = Object.keys(options);
  const own = method === 'key' ? 'keyType' : 'url';
  if (names.length === 0) throw invalid({ msg: MISSING[own], param: `options.${own}`, location: 'body' });
  const faults: ErrorDetail[] = names
    .filter((name) => name !== own)
    .map((name) => ({
      msg: `is not an option of method ${method}, which has ${own}`,
      param: `options.${name.slice(0, MAX_ECHO)}`,
      location: 'body',
    }));
  const plan = method === 'key' ? planKey(options.keyType) : planWeb(options.url, tenant, isPlatformHost);
  if ('msg' in plan) faults.push(plan);
  if (faults.length > 0 || 'msg' in plan) throw invalid(...faults);
  return plan;
};

const fault = (param: string, msg: string, value: unknown): ErrorDetail => {
  const isEchoed = typeof value !== 'string' || value.length <= MAX_ECHO;
  return { ...(value !== undefined && isEchoed && { value }), msg, param, location: 'body' };
};

const planKey = (keyType: unknown = 'Ed25519'): DidPlan | ErrorDetail => {
  const algorithm = DID_KEY_TYPES.find((known) => known === keyType);
  return algorithm
    ? { method: 'key', algorithm }
    : fault('options.keyType', `must be one of: ${DID_KEY_TYPES.join(', ')}`, keyType);
};

const planWeb = (
  url: unknown,
  tenant: TenantContext,
  isPlatformHost: (host: string) => boolean,
): DidPlan | ErrorDetail => {
  if (url === undefined) return fault('options.url', MISSING.url, url);
  if (typeof url !== 'string') return fault('options.url', 'must be a string', url);
  if (url.length > MAX_URL_LENGTH)
    return fault('options.url', `must have at most ${MAX_URL_LENGTH} characters`, undefined);
  const address = parseAddress(url);
  if ('fault' in address) return fault('options.url', address.fault, url);
  const isOwnHost = address.host === tenant.host;
  // The owner of the host, now or later, would be impersonated (ADR 0051).
  if (!isOwnHost && isPlatformHost(address.host))
    return fault(
      'options.url',
      `must be the tenant's own host ${tenant.host} or a host outside the platform's domains`,
      url,
    );
  if (isOwnHost && PLATFORM_SEGMENTS.has(address.segments[0] ?? ''))
    return fault(
      'options.url',
      `must not begin with the path /${address.segments[0]}, at which the platform serves its own documents; reserved are ${[...PLATFORM_SEGMENTS].map((segment) => `/${segment}`).join(', ')}`,
      url,
    );
  // The tenant's own host serves the document at once; on other hosts the customer has yet to publish it.
  return { method: 'web', did: address.did, registrationStatus: isOwnHost ? 'COMPLETED' : 'PROCESSING' };
};
