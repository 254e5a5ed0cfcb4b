/** A fetched JSON-LD context document. The stream's name is its SHA-256, so it never changes (ADR 0060). */
export type StoredContextEvent = {
  type: 'ContextStored';
  data: {
    /** base64url, over the UTF-8 of `document`. */
    sha256: string;
    /** JSON text. */
    document: string;
  };
};
