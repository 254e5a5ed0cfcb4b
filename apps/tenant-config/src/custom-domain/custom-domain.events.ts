/**
 * The tenant's custom domain, of which it has at most one. Each event that ends a verification contains the domain, so that the integration
 * event derives from it alone.
 */
export type CustomDomainEvent =
  | {
      type: 'CustomDomainCreated';
      data: {
        name: string;
        logoUrl: string;
        /** Lower case, no port. */
        domain: string;
        /** uuid; the content of the TXT record, not secret. */
        verificationToken: string;
        /** RFC 3339, UTC, milliseconds. */
        createdAt: string;
      };
    }
  | { type: 'CustomDomainBrandChanged'; data: { name: string; logoUrl: string } }
  /** Another, unverified domain replaces one that may have been verified. */
  | {
      type: 'CustomDomainReplaced';
      data: { domain: string; verificationToken: string; replaced: { domain: string; wasVerified: boolean } };
    }
  | { type: 'CustomDomainVerified'; data: { domain: string; verificationToken: string; verifiedAt: string } }
  /** The claim of the domain was lost to another tenant between claim and verification. */
  | { type: 'CustomDomainVerificationWithdrawn'; data: { domain: string } }
  | { type: 'CustomDomainDeleted'; data: { domain: string; wasVerified: boolean } };
