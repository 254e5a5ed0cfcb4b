/** The package brings no types; declared here is what the service uses. */
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
  const jsonld: {
    expand(document: object, options: Options): Promise<unknown[]>;
    canonize(
      document: object,
      options: Options & { algorithm: 'RDFC-1.0'; format: 'application/n-quads' },
    ): Promise<string>;
  };
  export type { DocumentLoader, RemoteDocument };
  export default jsonld;
}
