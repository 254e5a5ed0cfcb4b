/** The custom domain that the tenant's DIDs vouch for: what dids keeps of the facts that tenant-config publishes. */
export type LinkedDomainEvent =
  /** `revision` of the custom domain's stream, by which repetitions are known. */
  | { type: 'DomainLinked'; data: { domain: string; revision: number } }
  | { type: 'DomainUnlinked'; data: { domain: string; revision: number } };
