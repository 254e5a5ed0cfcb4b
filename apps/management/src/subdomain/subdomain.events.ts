/** Which tenant has a subdomain of an environment, as a claim (ADR 0009). It stays claimed when its tenant is deleted. */
export type SubdomainEvent =
  | {
      type: 'SubdomainClaimed';
      data: { environmentId: string; subdomain: string; /** Tenant id. */ owner: string; claimedAt: string };
    }
  | { type: 'SubdomainReleased'; data: { owner: string } };
