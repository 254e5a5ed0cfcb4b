/** Custom domains that a tenant has verified, and those that it has lost, from the integration events of tenant-config. */
export type WithdrawnDomainsEvent =
  /** `revision` of the custom domain's stream, by which redelivered events are recognized. */
  | {
      type: 'IssuerDomainWithdrawn';
      data: {
        domain: string;
        revision: number;
        /** Configurations that issued under the domain (ADR 0053); absent in older events. */
        activeConfigurations?: number;
      };
    }
  /** Verified, for the first time or after it was withdrawn. */
  | { type: 'IssuerDomainVerified'; data: { domain: string; revision: number } };
