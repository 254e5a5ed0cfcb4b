import type { Display, CredentialFormat, KeyRequirements } from '@attestry/contracts';

/** The key a configuration signs with, pinned when it was created (ADR 0060). */
export interface PinnedIssuerKey {
  did: string;
  /** DID URL. */
  verificationMethod: string;
  kmsKeyId: string;
  algorithm: 'P-256' | 'Ed25519';
}

/** Members that an update may change. The others are those of the format. */
export interface ConfigurationContent extends KeyRequirements {
  maxIssuances?: number;
  /** The issuer approves each issuance. */
  approval?: 'manual';
  /** Issued credentials are kept (ADR 0058). */
  persist?: true;
  /** Absent: what follows from the format's own members. */
  display?: Display[];
  /** Each credential has an entry in a status list (ADR 0077). */
  revocable?: true;
  /** The claims source that is called for each credential. */
  claimSourceId?: string;
}

export type CredentialConfigurationEvent =
  | {
      type: 'CredentialConfigurationCreated';
      data: {
        configurationId: string;
        format: CredentialFormat;
        credentialType: string;
        /** Absent where a certificate's key signs and no `issuerDid` was given. */
        issuerKey?: PinnedIssuerKey;
        content: ConfigurationContent;
        createdAt: string;
      };
    }
  | { type: 'CredentialConfigurationContentReplaced'; data: { content: ConfigurationContent } }
  | { type: 'CredentialConfigurationDeleted'; data: { configurationId: string; did?: string } };
