import jsonld, { type DocumentLoader } from 'jsonld';

export type { DocumentLoader };

/** Expands in safe mode: rejects when a claim, type or context would be dropped or read differently. */
export const expandSafely = (document: object, documentLoader: DocumentLoader): Promise<unknown[]> =>
  jsonld.expand(document, { documentLoader, safe: true });
