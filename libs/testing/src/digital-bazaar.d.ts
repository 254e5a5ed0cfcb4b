/** The packages bring no types; declared here is what the verifiers use. */
declare module '@digitalbazaar/data-integrity' {
  export class DataIntegrityProof {
    constructor(options: { cryptosuite: unknown });
  }
}

declare module '@digitalbazaar/eddsa-rdfc-2022-cryptosuite' {
  export const cryptosuite: unknown;
}

declare module '@digitalbazaar/vc' {
  export interface VerificationError {
    message?: string;
    errors?: VerificationError[];
  }
  export interface VerifyCredentialResult {
    verified: boolean;
    error?: VerificationError;
  }
  export interface RemoteDocument {
    contextUrl: null;
    documentUrl: string;
    document: unknown;
  }
  export type DocumentLoader = (url: string) => Promise<RemoteDocument>;
  export const defaultDocumentLoader: DocumentLoader;
  export function verifyCredential(options: {
    credential: Record<string, unknown>;
    suite: unknown;
    documentLoader: DocumentLoader;
  }): Promise<VerifyCredentialResult>;
}
