import { hash } from 'node:crypto';
import jsonld, { type DocumentLoader } from 'jsonld';
import { WELL_KNOWN_CONTEXTS } from './well-known.js';

export type { DocumentLoader };

/** Expands in safe mode: rejects when a claim, type or context would be dropped or read differently. */
export const expandSafely = (document: object, documentLoader: DocumentLoader): Promise<unknown[]> =>
  jsonld.expand(document, { documentLoader, safe: true });

/** SHA-256 of the RDFC-1.0 form. @throws what jsonld finds, see {@link isJsonLdFault} */
export const canonicalHash = async (document: object, documentLoader: DocumentLoader): Promise<Buffer> => {
  const canonical = await jsonld.canonize(document, {
    documentLoader,
    safe: true,
    base: null,
    // As verifiers do it, or literals with a direction would differ.
    rdfDirection: 'i18n-datatype',
    canonizeOptions: { algorithm: 'RDFC-1.0' },
  });
  return hash('sha256', canonical, 'buffer');
};

/** True when the document is to blame: in safe mode a value would be dropped or read as something else. */
export const isJsonLdFault = (error: unknown): boolean =>
  error instanceof Error && (error.name.startsWith('jsonld.') || /maximum deep iterations/i.test(error.message));

/** The address is none of {@link WELL_KNOWN_CONTEXTS}; nothing is ever fetched. */
export class UnknownContext extends Error {
  override readonly name = 'UnknownContext';
}

/** Well-known contexts from memory, and nothing else. */
export const wellKnownLoader: DocumentLoader = async (url) => {
  const document = WELL_KNOWN_CONTEXTS.get(url);
  if (!document) throw new UnknownContext(`${url} is not a bundled context`);
  return { contextUrl: null, documentUrl: url, document, tag: 'static' };
};
