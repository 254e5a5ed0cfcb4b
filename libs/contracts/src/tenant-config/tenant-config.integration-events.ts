import { defineIntegrationEvent } from '../integration-event.js';

export interface CustomDomainChanged {
  tenantId: string;
  /** Domain in lower case, without a port. */
  domain: string;
  /** Revision of the custom domain's stream. It grows with each change, so that late redeliveries are detected. */
  revision: number;
}
/** The tenant has verified the domain and may use it as its identity. */
export const customDomainVerified = defineIntegrationEvent<CustomDomainChanged>('tenant-config.custom-domain-verified');
/** Repeats {@link customDomainVerified}. Published by release 0.2.0 only, which may run beside this one (ADR 0102). */
export const issuerDomainVerified = defineIntegrationEvent<CustomDomainChanged>('tenant-config.issuer-domain-verified');
/** A verified domain was deleted or replaced, or another tenant has verified it: DIDs under it can no longer issue. */
export const customDomainWithdrawn = defineIntegrationEvent<CustomDomainChanged>(
  'tenant-config.custom-domain-withdrawn',
);
