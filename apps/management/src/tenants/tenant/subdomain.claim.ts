import { invalidBody, RESERVED_SUBDOMAINS, SUBDOMAIN_FAULT, SUBDOMAIN_PATTERN, unavailable } from '@attestry/contracts';
import { nameClaim } from '@attestry/event-store';

/** The tenant that has a subdomain of an environment; it stays claimed when its tenant is deleted. `owner`: tenant id. */
export const subdomain = nameClaim({
  category: 'subdomain',
  claimed: 'SubdomainClaimed',
  released: 'SubdomainReleased',
  members: ['environmentId', 'subdomain'],
  refusal: (claimant, obstacle) =>
    obstacle === 'taken'
      ? invalidBody('subdomain', 'is already in use', claimant.subdomain)
      : unavailable('Another request is creating a tenant with this subdomain'),
});

/** @throws 400 on `subdomain` */
export const checkSubdomain = (name: string): void => {
  if (!SUBDOMAIN_PATTERN.test(name)) throw invalidBody('subdomain', SUBDOMAIN_FAULT, name);
  if (RESERVED_SUBDOMAINS.has(name)) {
    const msg = `is reserved: ${name} is, or could be mistaken for, a host of the platform, as are ${[...RESERVED_SUBDOMAINS].join(', ')}`;
    throw invalidBody('subdomain', msg, name);
  }
};
