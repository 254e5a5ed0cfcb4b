import { oauthError, shownName } from '@attestry/contracts';
import type { RequestedDetail } from './authorization-details.js';

/** Resource that a request to the authorization server names, to which it wants access. */
export interface Target {
  /** Values of `resource`. */
  resources?: readonly string[];
  details?: readonly RequestedDetail[];
}

/** Values of `resource`, which may be repeated (RFC 8707 §2); those without a value count as omitted. */
export const resourcesOf = (parameters: URLSearchParams): string[] => parameters.getAll('resource').filter(Boolean);

/**
 * RFC 8707 §2, OID4VCI 1.0 §5.1.1: `resource` and `locations` name the credential issuer.
 * @param issuer the identifier that a refusal names
 * @throws AppError `invalid_target`, `invalid_authorization_details`
 */
export const checkTarget = async (
  { resources = [], details = [] }: Target,
  issuer: string,
  isIssuer: (name: string) => Promise<boolean>,
): Promise<void> => {
  for (const resource of new Set(resources))
    if (!(await isIssuer(resource)))
      throw oauthError('invalid_target', `resource must be ${issuer}, not ${shownName(resource)}`, { check: CHECK });
  for (const location of new Set(details.flatMap(({ locations = [] }) => locations)))
    if (!(await isIssuer(location)))
      throw oauthError(
        'invalid_authorization_details',
        `locations must name ${issuer} only, not ${shownName(location)}`,
        { check: CHECK },
      );
};

const CHECK = 'check-target';
