import { AUTHENTICATION_CLAIMS, readStepUp, type Warning } from '@attestry/contracts';
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

/** Not of a provider that an earlier release stored: until its next PUT its static parameters require nothing either (ADR 0112). */
const hasRequirements = (settings: RequiringSettings): settings is Required<RequiringSettings> =>
  settings.requiredClaims !== undefined;

const hasValue = (value: unknown): boolean => value !== undefined && value !== null;

/**
 * Requirements of the static parameters and `requiredClaims` of a provider on a sign-in (ADR 0112). Parameters that a wallet sent require
 * nothing.
 * @param begunAt milliseconds since the epoch
 */
export const requirementsOf = (settings: RequiringSettings, begunAt: number): Requirement[] => {
  if (!hasRequirements(settings)) return [];
  const { staticRequestParameters, requiredClaims } = settings;
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

/** Warnings about what a provider that an earlier release stored would require if it was saved. */
export const warningsOf = (settings: RequiringSettings): Warning[] => {
  if (hasRequirements(settings)) return [];
  const { stepUp, fault } = readStepUp(settings.staticRequestParameters);
  const names = [
    ...(stepUp.acrValues ? ['acr_values'] : []),
    ...(stepUp.essentialAcr ? ['acr in claims'] : []),
    ...(stepUp.maxAge !== undefined ? ['max_age'] : []),
  ];
  const param = 'staticRequestParameters';
  return [
    ...(names.length > 0
      ? [{ param, msg: `${names.join(', ')}: not required of the ID token until the provider is saved again` }]
      : []),
    ...(fault === undefined ? [] : [{ param, msg: `${fault}: the next PUT is refused` }]),
  ];
};
