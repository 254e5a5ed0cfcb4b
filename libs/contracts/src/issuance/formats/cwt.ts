import { IsBoolean } from 'class-validator';
import { BoundedJson, BoundedText, IsRecord, NestedList, Keywords, Optional } from '../../validators.js';
import {
  ClaimSourceId,
  configurationOperations,
  Display,
  CredentialType,
  Duration,
  IsDuration,
  MAX_DISPLAY_ENTRIES,
  MaxIssuances,
  type ClaimMapping,
  IsApproval,
  type Approval,
  Warning,
} from '../credential-configurations.js';
import { credentialDeletion } from '../credential-registry.js';
import { revocationOperations } from '../credential-status.js';
import { KeyRequirements } from '../key-requirements.js';
import { revocationListOperations } from '../status-lists.js';
import { DID_WEB_PATTERN } from '../../patterns.js';

export class CompactConfigurationRequest extends KeyRequirements {
  /**
   * Credential type, unique among the tenant's compact and compact-semantic configurations together. Must not be `VerifiableCredential`.
   */
  @CredentialType() type: string;

  /** did:web of the tenant whose P-256 key signs the credentials. Default: the first one. Cannot be changed later. */
  @Optional() @BoundedText(2048, 7) @Keywords({ pattern: DID_WEB_PATTERN.source }) issuer?: string;

  /** The credential as wallets display it, one entry per language. Default: one entry, whose name is the type. */
  @Optional() @NestedList(Display, MAX_DISPLAY_ENTRIES) display?: Display[];

  /** Mapping of each claim of the credential, by claim name. */
  @IsRecord() @BoundedJson({ entries: 200, text: 65_536, values: 20_000 }) claimMappings: Record<string, ClaimMapping>;

  /** Validity of the credentials, at least 2 hours. Default: they do not expire. */
  @Optional() @IsDuration() expiresIn?: Duration;

  /** Maximum number of credentials that a wallet can request in one session. Default: limited only by the lifetime of the access token. */
  @MaxIssuances() maxIssuances?: number;

  /**
   * `manual`: a credential request is answered with 202, and the wallet collects the credentials once the issuance was approved. Default:
   * `automatic`. A change applies to requests after it.
   */
  @IsApproval() approval?: Approval;

  /**
   * Whether each credential has an entry in a status list and in a revocation list, so that it can be revoked and restored. Default: true. A
   * change applies to the credentials that are issued after it.
   */
  @Optional() @IsBoolean({ message: 'must be a boolean' }) revocable?: boolean;
  /** Id of the claims source that is called while a credential is issued. Default: none. */
  @ClaimSourceId() claimSourceId?: string | null;
}

export class CompactConfiguration extends KeyRequirements {
  id: string;
  type: string;
  /** DID whose key signs the credentials. */
  issuer: string;
  display?: Display[];
  claimMappings: Record<string, ClaimMapping>;
  expiresIn?: Duration;
  maxIssuances?: number;
  claimSourceId?: string;
  /** Absent: `automatic`. */
  approval?: Approval;
  revocable: boolean;
  /** In the response to a creation or replacement only: what is accepted, and probably not what was meant. */
  warnings?: Warning[];
}

/** Values of claims are booleans, strings and numbers. */
export const compactConfigurations = configurationOperations({
  profile: 'compact',
  prefix: 'CREDENTIAL_COMPACT_CREDENTIAL_CONFIGURATION',
  since: 'v2.1.0',
  request: CompactConfigurationRequest,
  configuration: CompactConfiguration,
  example: {
    type: 'UniversityDegree',
    claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
  },
});

export const compactRegistry = { delete: credentialDeletion({ profile: 'compact', prefix: 'CREDENTIAL_COMPACT' }) };

export const compactRevocationLists = revocationListOperations({ profile: 'compact', prefix: 'CREDENTIAL_COMPACT' });

export const compactRevocation = revocationOperations({
  profile: 'compact',
  prefix: 'CREDENTIAL_COMPACT_REVOCATION',
});
