/** Which tenant a verified domain belongs to, as a claim (ADR 0009): a tenant and the token it proved the domain with. */
export type VerifiedDomainEvent =
  | {
      type: 'VerifiedDomainClaimed';
      data: {
        domain: string;
        /** Tenant id. */
        owner: string;
        verificationToken: string;
        claimedAt: string;
      };
    }
  | { type: 'VerifiedDomainReleased'; data: { owner: string; verificationToken: string } };
