import type {
  ClaimMapping,
  CredentialBranding,
  CredentialFormat,
  CredentialIssuer,
  Duration,
} from '@attestry/contracts';

/** The key a configuration signs with, pinned when it was created (ADR 0060). */
export interface PinnedIssuerKey {
  did: string;
  /** DID URL. */
  verificationMethod: string;
  kmsKeyId: string;
  algorithm: 'P-256' | 'Ed25519';
}

/** What may change by an update. */
export interface ConfigurationContent {
  additionalTypes: string[];
  name: string;
  description?: string;
  issuer: CredentialIssuer;
  credentialBranding?: CredentialBranding;
  claimMappings: Record<string, ClaimMapping>;
  expiresIn?: Duration;
  maxIssuances?: number;
  /** `ldp_vc` only: the tenant's own contexts, by address and SHA-256 (base64url) of the document kept (ADR 0060). */
  contexts: { url: string; sha256: string }[];
  /** `ldp_vc` only; absent: `eddsa-rdfc-2022`. */
  proofType?: 'Ed25519Signature2018';
}

export type CredentialConfigurationEvent =
  | {
      type: 'CredentialConfigurationCreated';
      data: {
        configurationId: string;
        format: CredentialFormat;
        credentialType: string;
        issuerKey: PinnedIssuerKey;
        content: ConfigurationContent;
        createdAt: string;
      };
    }
  | { type: 'CredentialConfigurationContentReplaced'; data: { content: ConfigurationContent } }
  | { type: 'CredentialConfigurationDeleted'; data: { configurationId: string; did: string } };
