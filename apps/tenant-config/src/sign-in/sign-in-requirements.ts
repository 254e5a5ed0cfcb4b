import { AUTHENTICATION_CLAIMS, readStepUp } from '@attestry/contracts';
import { fulfills } from '@attestry/service-kit';
import type { ProviderSettings } from '../authentication-provider/authentication-provider.events.js';

/** How much older than allowed an authentication may be, seconds: clocks differ, and `auth_time` has whole seconds. */
const TOLERANCE_SECONDS = 2;

/** A condition for a claim of a sign-in. */
export interface Requirement {
  /** Name in the record of a refused sign-in. */
  name: string;
  claim: string;
  /** @param value undefined or null where the claim has no value */
  isMet: (value: unknown) => boolean;
}

type RequiringSettings = Pick<ProviderSettings, 'staticRequestParameters' | 'requiredClaims'>;

const hasValue = (value: unknown): boolean => value !== undefined && value !== null;

/**
 * Requirements of the static parameters and `requiredClaims` of a provider on a sign-in (ADR 0112). Parameters that a wallet sent require
 * nothing.
 * @param begunAt milliseconds since the epoch
 */
export const requirementsOf = (
  { staticRequestParameters, requiredClaims }: RequiringSettings,
  begunAt: number,
): Requirement[] => {
  const { maxAge, acrValues, essentialAcr } = readStepUp(staticRequestParameters).stepUp;
  const requirements: Requirement[] = [];
  if (acrValues && !Object.hasOwn(requiredClaims, 'acr'))
    requirements.push({
      name: 'staticRequestParameters.acr_values',
      claim: 'acr',
      isMet: (value) => fulfills(value, acrValues),
    });
  if (essentialAcr)
    requirements.push({
      name: 'staticRequestParameters.claims.id_token.acr',
      claim: 'acr',
      isMet: (value) => (essentialAcr.values ? fulfills(value, essentialAcr.values) : hasValue(value)),
    });
  if (maxAge !== undefined) {
    // Since the sign-in began: people need time for it, and `prompt=login` may have been removed.
    const earliest = begunAt / 1000 - maxAge - TOLERANCE_SECONDS;
    requirements.push({
      name: 'staticRequestParameters.max_age',
      claim: 'auth_time',
      isMet: (value) => typeof value === 'number' && value >= earliest,
    });
  }
  for (const [claim, allowed] of Object.entries(requiredClaims))
    if (allowed.length > 0)
      requirements.push({
        name: `requiredClaims.${claim}`,
        claim,
        isMet: (value) => hasValue(value) && fulfills(value, allowed),
      });
  return requirements;
};

/** The claim is about the authentication: UserInfo cannot have it. */
export const isAuthenticationClaim = (name: string): boolean =>
  (AUTHENTICATION_CLAIMS as readonly string[]).includes(name);
