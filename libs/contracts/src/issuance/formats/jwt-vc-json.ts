import { IsBoolean } from 'class-validator';
import { BoundedJson, BoundedText, IsRecord, Nested, NestedList, Optional } from '../../validators.js';
import {
  ClaimSourceId,
  configurationOperations,
  CredentialBranding,
  Display,
  CredentialIssuer,
  CredentialType,
  Duration,
  IsDuration,
  MAX_DISPLAY_ENTRIES,
  MaxIssuances,
  OptionalEntries,
  type ClaimMapping,
  IsApproval,
  type Approval,
  Warning,
} from '../credential-configurations.js';
import { statusOperations } from '../credential-status.js';
import { KeyRequirements } from '../key-requirements.js';

export class JwtVcConfigurationRequest extends KeyRequirements {
  /** Credential type, unique among the tenant's configurations of this format. Must not be `VerifiableCredential`. */
  @CredentialType() type: string;

  /** Further credential types. */
  @OptionalEntries(20) additionalTypes?: string[];

  /** Display name of the credential. */
  @BoundedText(1024, 1) name: string;

  @Optional() @BoundedText(1024) description?: string;

  /** The issuer as wallets display it. */
  @Nested(CredentialIssuer) issuer: CredentialIssuer;

  /** DID of the tenant that issues the credentials. Default: the first one with a suitable key. Cannot be changed later. */
  @Optional() @BoundedText(2048, 7) issuerDid?: string;

  @Optional() @Nested(CredentialBranding) credentialBranding?: CredentialBranding;

  /**
   * The credential as wallets display it, one entry per language. A member of an entry is used in place of the one that follows from name,
   * description, issuer and credentialBranding. Default: one entry from those alone.
   */
  @Optional() @NestedList(Display, MAX_DISPLAY_ENTRIES) display?: Display[];

  /** Mapping of each claim of the credential, by claim name. */
  @IsRecord() @BoundedJson({ entries: 200, text: 65_536, values: 20_000 }) claimMappings: Record<string, ClaimMapping>;

  /** Validity of the credentials. Default: they do not expire. */
  @Optional() @IsDuration() expiresIn?: Duration;

  /** Maximum number of credentials that a wallet can request in one session. Default: limited only by the lifetime of the access token. */
  @MaxIssuances() maxIssuances?: number;

  /**
   * `manual`: a credential request is answered with 202, and the wallet collects the credentials once the issuance was approved. Default:
   * `automatic`. A change applies to requests after it.
   */
  @IsApproval() approval?: Approval;

  /**
   * Whether each credential has an entry in a status list, so that it can be suspended and revoked. Default: false. A change applies to the
   * credentials that are issued after it.
   */
  @Optional() @IsBoolean({ message: 'must be a boolean' }) revocable?: boolean;
  /** Credentials of this format are not persisted: `true` is rejected. */
  @Optional() @IsBoolean({ message: 'must be a boolean' }) persist?: boolean;
  /** Id of the claims source that is called while a credential is issued. Default: none. */
  @ClaimSourceId() claimSourceId?: string | null;
}

export class JwtVcConfiguration extends KeyRequirements {
  id: string;
  type: string;
  additionalTypes: string[];
  name: string;
  description?: string;
  issuer: CredentialIssuer;
  issuerDid: string;
  credentialBranding?: CredentialBranding;
  display?: Display[];
  claimMappings: Record<string, ClaimMapping>;
  expiresIn?: Duration;
  maxIssuances?: number;
  claimSourceId?: string;
  /** Absent: `automatic`. */
  approval?: Approval;
  revocable: boolean;
  persist: boolean;
  /** In the response to a creation or replacement only: what is accepted, and probably not what was meant. */
  warnings?: Warning[];
}

export const jwtVcConfigurations = configurationOperations({
  profile: 'jwt-vc',
  prefix: 'CREDENTIAL_JWT_VC_CREDENTIAL_CONFIGURATION',
  request: JwtVcConfigurationRequest,
  configuration: JwtVcConfiguration,
  example: {
    type: 'UniversityDegree',
    name: 'University degree',
    issuer: { name: 'Example University' },
    claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
  },
});

export const jwtVcStatus = statusOperations({ profile: 'jwt-vc', prefix: 'CREDENTIAL_JWT_VC_STATUS' });
