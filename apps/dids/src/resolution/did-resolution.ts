import { Injectable } from '@nestjs/common';
import { Resolver, type DIDCache, type DIDDocument, type DIDResolutionResult, type DIDResolver } from 'did-resolver';
import { LRUCache } from 'lru-cache';
import { InvalidKey } from '@attestry/keys';
import { didJwkDocument, didKeyDocument } from './key-documents.js';
import { PublishedDocuments } from './published-documents.js';

/** How long a document is cached, milliseconds. */
const BELIEVED_MS = 60_000;
/** Bytes of all cached documents, as JSON. */
const CACHE_BYTES = 16 * 1024 * 1024;

const found = (document: Record<string, unknown>): DIDResolutionResult => ({
  didResolutionMetadata: { contentType: 'application/did+ld+json' },
  didDocument: document as unknown as DIDDocument,
  didDocumentMetadata: {},
});
const failed = (error: 'notFound' | 'invalidDid'): DIDResolutionResult => ({
  didResolutionMetadata: { error },
  didDocument: null,
  didDocumentMetadata: {},
});

/** A method whose document is derived from the DID itself. */
const derived = (documentOf: (did: string) => Record<string, unknown>) => async (did: string) => {
  try {
    return found(documentOf(did));
  } catch (error) {
    if (error instanceof InvalidKey) return failed('invalidDid');
    throw error;
  }
};

/** Resolves third-party DIDs: did:key and did:jwk without I/O, did:web over the network. */
@Injectable()
export class DidResolution {
  private readonly cached = new LRUCache<string, DIDResolutionResult>({ maxSize: CACHE_BYTES, ttl: BELIEVED_MS });
  private readonly resolver: Resolver;

  constructor(published: PublishedDocuments) {
    const cache: DIDCache = async ({ did, method }, resolve) => {
      const known = this.cached.get(did);
      if (known) return known;
      const result = await resolve();
      if (method === 'web' && result.didDocument)
        this.cached.set(did, result, { size: JSON.stringify(result.didDocument).length });
      return result;
    };
    const web: DIDResolver = async (did, _parsed, _resolver, { tenantId }) => {
      const document = await published.fetch(tenantId as string, did);
      return document ? found(document) : failed('notFound');
    };
    this.resolver = new Resolver({ web, key: derived(didKeyDocument), jwk: derived(didJwkDocument) }, { cache });
  }

  /** `undefined` for what cannot be resolved. */
  async resolve(tenantId: string, did: string): Promise<Record<string, unknown> | undefined> {
    const { didDocument } = await this.resolver.resolve(did, { tenantId });
    return didDocument ? (didDocument as unknown as Record<string, unknown>) : undefined;
  }
}
