import { hash } from 'node:crypto';
import { isMainThread, workerData } from 'node:worker_threads';
import jsonld from 'jsonld';
import type { DocumentLoader, ResolvedContexts } from 'jsonld';
import ContextResolver from 'jsonld/lib/ContextResolver.js';

// Runs in a worker thread, from source too, where Node only strips types: no imports of other source files.

export type Contexts = readonly (readonly [url: string, document: object])[];

/** Input of a thread: documents and the contexts they name. No keys; the caller signs. */
export interface CanonicalizationTask {
  documents: readonly object[];
  /** Beside those that every thread has. */
  contexts: Contexts;
}

/** SHA-256 of the RDFC-1.0 form of each document, or the error. Errors lose their class between threads. */
export type CanonicalizationResult = { hashes: Uint8Array[] } | { fault: { code: string; message: string } };

/** The address is none of the given contexts; contexts are never fetched. */
class UnknownContext extends Error {
  override readonly name = 'UnknownContext';
}

/** `shared` documents are the same at each call: the processor caches the parsed ones. */
const contextLoader =
  (shared: ReadonlyMap<string, object>, contexts: ReadonlyMap<string, object>): DocumentLoader =>
  async (url) => {
    const document = shared.get(url);
    if (document) return { contextUrl: null, documentUrl: url, document, tag: 'static' };
    const own = contexts.get(url);
    if (!own) throw new UnknownContext(`context ${url} is not available`);
    return { contextUrl: null, documentUrl: url, document: own };
  };

const canonicalForm = (
  document: object,
  documentLoader: DocumentLoader,
  resolved?: ResolvedContexts,
): Promise<string> =>
  jsonld.canonize(document, {
    documentLoader,
    ...(resolved && { contextResolver: new ContextResolver({ sharedCache: resolved }) }),
    safe: true,
    base: null,
    // As verifiers do, or literals with a direction would differ.
    rdfDirection: 'i18n-datatype',
    canonizeOptions: { algorithm: 'RDFC-1.0' },
  });

/** The RDFC-1.0 form of a document without contexts of a tenant. */
export const canonicalFormOf = (document: object, shared: ReadonlyMap<string, object>): Promise<string> =>
  canonicalForm(document, contextLoader(shared, new Map()));

/** The fault of a document: in safe mode a value would be dropped or read as something else. `undefined` for other errors. */
const faultOf = (error: unknown): { code: string; message: string } | undefined => {
  if (!(error instanceof Error)) return undefined;
  if (/maximum deep iterations/i.test(error.message)) return { code: 'ambiguous blank nodes', message: error.message };
  // A context that refers to itself in its own way.
  if (error instanceof RangeError) return { code: 'nested too deep', message: error.message };
  // The processor assumes the type of some keywords' values.
  if (error instanceof TypeError) return { code: 'invalid context', message: error.message };
  if (!error.name.startsWith('jsonld.')) return undefined;
  const { details } = error as { details?: { code?: string; event?: { code?: string } } };
  return { code: details?.event?.code ?? details?.code ?? error.message, message: error.message };
};

/**
 * @param contexts beside the shared ones. The parsed ones are cached for this call only: the same text can mean something else when a
 * context that it imports has another version
 */
export const hashDocuments = async (
  documents: readonly object[],
  shared: ReadonlyMap<string, object>,
  contexts: ReadonlyMap<string, object>,
): Promise<CanonicalizationResult> => {
  const loader = contextLoader(shared, contexts);
  const resolved: ResolvedContexts | undefined = contexts.size > 0 ? new Map() : undefined;
  try {
    const hashes: Uint8Array[] = [];
    for (const document of documents)
      hashes.push(hash('sha256', await canonicalForm(document, loader, resolved), 'buffer'));
    return { hashes };
  } catch (error) {
    const fault = faultOf(error);
    if (!fault) throw error;
    return { fault };
  }
};

/** Empty where this module is imported by the thread that starts workers. */
const shared = new Map(isMainThread ? [] : (workerData as Contexts));

/** The task of a worker thread; see canonicalization.ts. */
export default ({ documents, contexts }: CanonicalizationTask): Promise<CanonicalizationResult> =>
  hashDocuments(documents, shared, new Map(contexts));
