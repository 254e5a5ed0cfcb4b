import { AppError, invalidBody, notFound, type CustomDomainRequest } from '@attestry/contracts';
import type { CustomDomainEvent } from './custom-domain.events.js';
import type { ConfiguredDomain, CustomDomainState } from './custom-domain.state.js';

/** @throws 404 when none is configured */
export const configured = (state: CustomDomainState): ConfiguredDomain => {
  if (state.status === 'absent') throw notFound();
  return state;
};

/** @throws 400 when the tenant has one already */
export const createCustomDomain = (
  state: CustomDomainState,
  command: CustomDomainRequest,
  facts: { verificationToken: string; now: string },
): CustomDomainEvent[] => {
  if (state.status === 'configured')
    throw invalidBody('domain', 'the tenant already has a custom domain; update or delete it');
  const { name, logoUrl, domain } = command;
  const { verificationToken, now } = facts;
  return [{ type: 'CustomDomainCreated', data: { name, logoUrl, domain, verificationToken, createdAt: now } }];
};

/** Full replacement. Name and logo keep the verification; another domain gets a new token and is not verified. @throws 404 */
export const updateCustomDomain = (
  state: CustomDomainState,
  { name, logoUrl, domain }: CustomDomainRequest,
  { verificationToken }: { verificationToken: string },
): CustomDomainEvent[] => {
  const current = configured(state);
  const events: CustomDomainEvent[] = [];
  if (name !== current.name || logoUrl !== current.logoUrl)
    events.push({ type: 'CustomDomainBrandChanged', data: { name, logoUrl } });
  if (domain !== current.domain) {
    const replaced = { domain: current.domain, wasVerified: current.verifiedAt !== undefined };
    events.push({ type: 'CustomDomainReplaced', data: { domain, verificationToken, replaced } });
  }
  return events;
};

/** 400 of a verification, with what the caller can correct. */
export const verificationFailed = (domain: string, msg: string): AppError =>
  new AppError('invalid', 'Verification failed', {
    details: [{ value: domain, msg, param: 'domain', location: 'body' }],
  });

/** Without the error of DNS: it may be that of a network that the caller cannot reach. */
export const LOOKUP_FAULT = 'the TXT records of the domain could not be looked up; try again in a moment';

/** Why the values of the TXT records at the domain do not prove control of it. */
export const tokenFault = (values: readonly string[], verificationToken: string): string | undefined => {
  if (values.length === 0)
    return 'the domain has no TXT record; publish one at the domain itself whose whole value is verificationToken';
  if (!values.includes(verificationToken))
    return 'the domain has TXT records, but none whose whole value is verificationToken';
  return undefined;
};

/**
 * @param proven token of the TXT record; invalid when the domain was replaced meanwhile
 * @throws 404, 400
 */
export const verifyCustomDomain = (
  state: CustomDomainState,
  proven: { domain: string; verificationToken: string },
  { now }: { now: string },
): CustomDomainEvent[] => {
  const { domain, verificationToken, verifiedAt } = configured(state);
  if (verificationToken !== proven.verificationToken)
    throw verificationFailed(domain, 'the custom domain was changed during the verification');
  if (verifiedAt !== undefined) return [];
  return [{ type: 'CustomDomainVerified', data: { domain, verificationToken, verifiedAt: now } }];
};

/** When another tenant took the claim over before the verification was stored (ADR 0009). */
export const withdrawVerification = (
  state: CustomDomainState,
  { verificationToken }: { verificationToken: string },
): CustomDomainEvent[] =>
  state.status === 'configured' && state.verificationToken === verificationToken && state.verifiedAt !== undefined
    ? [{ type: 'CustomDomainVerificationWithdrawn', data: { domain: state.domain } }]
    : [];

/** @throws 404, also the second time */
export const deleteCustomDomain = (state: CustomDomainState): CustomDomainEvent[] => {
  const { domain, verifiedAt } = configured(state);
  return [{ type: 'CustomDomainDeleted', data: { domain, wasVerified: verifiedAt !== undefined } }];
};

/** For the holder of a domain that another tenant's verification takes over: as if deleted, with the superseded token (ADR 0051). */
export const displaceVerified = (
  state: CustomDomainState,
  { verificationToken }: { verificationToken: string },
): CustomDomainEvent[] =>
  state.status === 'configured' && state.verificationToken === verificationToken && state.verifiedAt !== undefined
    ? deleteCustomDomain(state)
    : [];

/** Deleting the tenant deletes its custom domain. */
export const endWithTenant = (state: CustomDomainState): CustomDomainEvent[] =>
  state.status === 'configured' ? deleteCustomDomain(state) : [];
