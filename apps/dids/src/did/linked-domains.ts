import { DID_CONFIGURATION_V1 } from '@attestry/linked-data';

type Document = Readonly<Record<string, unknown>>;

const isLinkedDomains = (service: unknown): boolean => (service as { type?: unknown } | null)?.type === 'LinkedDomains';

/**
 * A document as it is served, with the origin at which its DID configuration is (DIF Well Known DID Configuration, Linked Domain Service
 * Endpoint): a withdrawn domain serves neither. The endpoint is text, because the context of the DIF does not define `origins`.
 */
export const withLinkedDomain = (document: Document, origin: string): Record<string, unknown> => ({
  ...document,
  '@context': [...(document['@context'] as string[]), DID_CONFIGURATION_V1],
  service: [{ id: `${document['id'] as string}#linked-domain`, type: 'LinkedDomains', serviceEndpoint: origin }],
});

/** A published document without what its host may add: services of this type, and their context. */
export const withoutLinkedDomains = (document: Document): Record<string, unknown> => {
  const { service, ...others } = document;
  const contexts = others['@context'];
  const kept = Array.isArray(service) ? service.filter((one) => !isLinkedDomains(one)) : service;
  return {
    ...others,
    ...(Array.isArray(contexts) && { '@context': contexts.filter((one) => one !== DID_CONFIGURATION_V1) }),
    ...(kept !== undefined && !(Array.isArray(kept) && kept.length === 0) && { service: kept }),
  };
};
