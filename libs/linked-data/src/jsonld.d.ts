/** The package brings no types; declared here is what the library uses. */
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
  interface CanonizeOptions extends Options {
    base: null;
    rdfDirection: 'i18n-datatype';
    canonizeOptions: { algorithm: 'RDFC-1.0' };
  }
  const jsonld: {
    expand(document: object, options: Options): Promise<unknown[]>;
    /** N-Quads. */
    canonize(document: object, options: CanonizeOptions): Promise<string>;
  };
  export type { DocumentLoader, RemoteDocument };
  export default jsonld;
}
