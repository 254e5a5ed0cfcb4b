import { IsBoolean } from 'class-validator';
import { BoundedJson, BoundedText, IsRecord, Nested, NestedList, Keywords, Optional } from '../../validators.js';
import {
  ClaimSourceId,
  configurationOperations,
  Display,
  CredentialIssuer,
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
import { statusOperations } from '../credential-status.js';
import { KeyRequirements } from '../key-requirements.js';
import { ABSOLUTE_URI_PATTERN } from '../../patterns.js';

export class SdJwtConfigurationRequest extends KeyRequirements {
  /** Credential type, unique among the tenant's configurations of this format. */
  @CredentialType() type: string;

  /** Display name of the credential. */
  @BoundedText(1024, 1) name: string;

  @Optional() @BoundedText(1024) description?: string;

  /** The issuer as wallets display it. */
  @Nested(CredentialIssuer) issuer: CredentialIssuer;

  /**
   * DID of the tenant that must exist as long as the configuration does, and whose domain must not have been withdrawn when a credential is
   * issued. It does not sign: `iss` is the credential issuer identifier, and the key has a certificate. Cannot be changed later.
   */
  @Optional() @BoundedText(2048, 7) issuerDid?: string;

  /**
   * Verifiable credential type as an absolute URI. Default: an address of the tenant that is made from `type` and serves type metadata; a
   * change of what it describes makes a new address. For an own `vct` no type metadata is published, and such a change requires another `vct`.
   */
  @Optional() @BoundedText(1024) @Keywords({ pattern: ABSOLUTE_URI_PATTERN.source }) vct?: string;

  /**
   * The credential as wallets display it, one entry per language. A member of an entry is used in place of the one that follows from name,
   * description and issuer. Default: one entry from those alone. Entries with a `locale` are part of the type metadata.
   */
  @Optional() @NestedList(Display, MAX_DISPLAY_ENTRIES) display?: Display[];

  /** Mapping of each claim of the credential, by claim name. Each claim is selectively disclosable. */
  @IsRecord() @BoundedJson({ entries: 200, text: 65_536, values: 20_000 }) claimMappings: Record<string, ClaimMapping>;

  /** Validity of the credentials, at least 2 hours and at most 3,290 days: nine years at most. Default: they do not expire. */
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

  /** Id of the claims source that is called while a credential is issued. Default: none. */
  @ClaimSourceId() claimSourceId?: string | null;
}

export class SdJwtConfiguration extends KeyRequirements {
  id: string;
  type: string;
  name: string;
  description?: string;
  issuer: CredentialIssuer;
  issuerDid?: string;
  /** Type of the credentials that are issued now; earlier ones keep theirs. */
  vct: string;
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

export const sdJwtConfigurations = configurationOperations({
  profile: 'sd-jwt',
  prefix: 'CREDENTIAL_SD_JWT_CREDENTIAL_CONFIGURATION',
  since: 'v2.1.0',
  request: SdJwtConfigurationRequest,
  configuration: SdJwtConfiguration,
  example: {
    type: 'UniversityDegree',
    name: 'University degree',
    issuer: { name: 'Example University' },
    claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
  },
});

export const sdJwtStatus = statusOperations({ profile: 'sd-jwt', prefix: 'CREDENTIAL_SD_JWT_STATUS' });
