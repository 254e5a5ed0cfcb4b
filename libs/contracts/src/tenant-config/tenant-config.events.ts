import { defineIntegrationEvent } from '../integration-event.js';

export interface CustomDomainChanged {
  tenantId: string;
  /** Lower case, no port. */
  domain: string;
  /** Of the custom domain's stream: grows with each change, so that a late repetition is known as such. */
  revision: number;
}
/** From now on the domain is an identity of this tenant. */
export const customDomainVerified = defineIntegrationEvent<CustomDomainChanged>('tenant-config.custom-domain-verified');
/** A verified domain was deleted or replaced: what was issued under it stops being valid. */
export const customDomainWithdrawn = defineIntegrationEvent<CustomDomainChanged>(
  'tenant-config.custom-domain-withdrawn',
);
