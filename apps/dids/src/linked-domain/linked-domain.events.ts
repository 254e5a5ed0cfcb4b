/** The custom domain that the tenant's DIDs are linked with, from the integration events of tenant-config. */
export type LinkedDomainEvent =
  /** `revision` of the custom domain's stream, by which redelivered events are recognized. */
  | { type: 'DomainLinked'; data: { domain: string; revision: number } }
  | { type: 'DomainUnlinked'; data: { domain: string; revision: number } };
