/** The packages bring no types; declared here is what the verifiers use. */
declare module '@digitalbazaar/bbs-2023-cryptosuite' {
  export const createVerifyCryptosuite: () => unknown;
}

declare module '@digitalbazaar/bls12-381-multikey' {
  export const from: (key: { publicKeyMultibase: string }) => Promise<unknown>;
}

declare module '@digitalbazaar/data-integrity' {
  export class DataIntegrityProof {
    constructor(options: { cryptosuite: unknown });
  }
}

declare module '@digitalbazaar/data-integrity-context' {
  const contexts: { contexts: ReadonlyMap<string, object> };
  export default contexts;
}

declare module '@digitalbazaar/ecdsa-multikey' {
  export const from: (key: { publicKeyMultibase: string }) => Promise<unknown>;
}

declare module '@digitalbazaar/ecdsa-rdfc-2019-cryptosuite' {
  export const cryptosuite: unknown;
}

declare module '@digitalbazaar/eddsa-rdfc-2022-cryptosuite' {
  export const cryptosuite: unknown;
}

declare module '@digitalbazaar/ed25519-signature-2018' {
  export class Ed25519Signature2018 {
    constructor();
  }
}

declare module '@digitalbazaar/ed25519-verification-key-2018' {
  export const Ed25519VerificationKey2018: {
    SUITE_CONTEXT: string;
    fromFingerprint(key: { fingerprint: string }): unknown;
  };
}

declare module '@digitalbazaar/did-method-key' {
  export type FromMultibase = (key: { publicKeyMultibase: string }) => Promise<unknown>;
  export interface DidKeyDriver {
    use(options: { multibaseMultikeyHeader: string; fromMultibase: FromMultibase }): void;
    get(options: { did: string } | { url: string }): Promise<unknown>;
  }
  export const driver: () => DidKeyDriver;
}

declare module '@digitalbazaar/vc' {
  export interface VerificationError {
    message?: string;
    errors?: VerificationError[];
  }
  export interface StatusResult {
    verified: boolean;
    error?: Error;
  }
  export interface VerifyCredentialResult {
    verified: boolean;
    error?: VerificationError;
    /** Set for a credential with `credentialStatus`. */
    statusResult?: StatusResult;
  }
  export interface RemoteDocument {
    contextUrl: null;
    documentUrl: string;
    document: unknown;
  }
  export type DocumentLoader = (url: string) => Promise<RemoteDocument>;
  export const defaultDocumentLoader: DocumentLoader;
  export interface VerifyOptions {
    credential: Record<string, unknown>;
    suite: unknown;
    now?: Date;
    documentLoader: DocumentLoader;
  }
  export type CheckStatus = (options: VerifyOptions) => Promise<StatusResult>;
  /** Refuses a credential with `credentialStatus` without `checkStatus`. */
  export function verifyCredential(
    options: VerifyOptions & { checkStatus?: CheckStatus },
  ): Promise<VerifyCredentialResult>;
}

declare module '@digitalbazaar/vc-bitstring-status-list' {
  export function checkStatus(options: {
    credential: Record<string, unknown>;
    documentLoader: import('@digitalbazaar/vc').DocumentLoader;
    /** Suite of the proof of the list. */
    suite?: unknown;
    verifyBitstringStatusListCredential?: boolean;
  }): Promise<{ verified: boolean; error?: Error; results: { status: boolean }[] }>;
}

declare module '@digitalbazaar/vc-revocation-list' {
  export function checkStatus(options: {
    credential: Record<string, unknown>;
    documentLoader: import('@digitalbazaar/vc').DocumentLoader;
    /** Suite of the proof of the list. */
    suite?: unknown;
    verifyRevocationListCredential?: boolean;
  }): Promise<import('@digitalbazaar/vc').StatusResult>;
}
