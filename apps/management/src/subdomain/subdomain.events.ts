/** Who has a subdomain of an environment (decision 8). It stays claimed when its tenant is deleted. */
export type SubdomainEvent =
  | {
      type: 'SubdomainClaimed';
      data: { environmentId: string; subdomain: string; /** Tenant id. */ owner: string; claimedAt: string };
    }
  | { type: 'SubdomainReleased'; data: { owner: string } };
