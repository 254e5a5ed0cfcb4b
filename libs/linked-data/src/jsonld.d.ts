/** The package has no types; these are the ones that the library uses. */
declare module 'jsonld' {
  interface RemoteDocument {
    contextUrl: null;
    documentUrl: string;
    document: object;
    /** `static`: the processor may keep the parsed context for other calls. */
    tag?: 'static';
  }
  type DocumentLoader = (url: string) => Promise<RemoteDocument>;
  interface Options {
    documentLoader: DocumentLoader;
    /** Rejects where data would be dropped. */
    safe: boolean;
  }
  /** Parsed contexts, by address or text. */
  type ResolvedContexts = Map<unknown, unknown>;
  interface CanonizeOptions extends Options {
    base: null;
    /** Default: one that caches contexts for all calls of the process. */
    contextResolver?: object;
    rdfDirection: 'i18n-datatype';
    canonizeOptions: { algorithm: 'RDFC-1.0' };
  }
  const jsonld: {
    expand(document: object, options: Options): Promise<unknown[]>;
    /** N-Quads. */
    canonize(document: object, options: CanonizeOptions): Promise<string>;
  };
  export type { DocumentLoader, RemoteDocument, ResolvedContexts };
  export default jsonld;
}

declare module 'jsonld/lib/ContextResolver.js' {
  import type { ResolvedContexts } from 'jsonld';
  export default class ContextResolver {
    constructor(options: { sharedCache: ResolvedContexts });
  }
}
