/** A DID document of the tenant as it is served at an origin: with the service that names it. */
export const servedDocument = (
  document: Readonly<Record<string, unknown>>,
  origin: string,
): Record<string, unknown> => ({
  ...document,
  '@context': [...(document['@context'] as string[]), 'https://identity.foundation/.well-known/did-configuration/v1'],
  service: [{ id: `${document['id'] as string}#linked-domain`, type: 'LinkedDomains', serviceEndpoint: origin }],
});
