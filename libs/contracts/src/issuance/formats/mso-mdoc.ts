import { IsBoolean, IsIn } from 'class-validator';
import { CLAIM_PATH_PATTERN } from '../../patterns.js';
import { BoundedJson, BoundedText, IsRecord, Keywords, Nested, NestedList, Optional } from '../../validators.js';
import {
  ClaimSourceId,
  Color,
  configurationOperations,
  Display,
  CredentialType,
  Duration,
  IsDuration,
  MAX_DISPLAY_ENTRIES,
  MaxIssuances,
  ClaimMapping,
  ImageUrl,
  type Warning,
  IsApproval,
  type Approval,
} from '../credential-configurations.js';
import { credentialDeletion } from '../credential-registry.js';
import { statusOperations } from '../credential-status.js';
import { KeyRequirements } from '../key-requirements.js';

/** How the value of an element is encoded. */
export const MDOC_ELEMENT_TYPES = [
  'string',
  'number',
  'boolean',
  'date',
  'dateTime',
  'binary',
  'object',
  'array',
] as const;
export type MdocElementType = (typeof MDOC_ELEMENT_TYPES)[number];

/** Source of an element and how its value is encoded. */
export class ElementMapping extends ClaimMapping {
  /**
   * `string`; `number`, without a fraction an integer; `boolean`; `date` from `2026-01-31`; `dateTime` from a date and time with offset;
   * `binary` from base64 or base64url; `object` or `array` of JSON. A claim of another kind denies the credential. Default: `string`; for elements of `org.iso.18013.5.1.mDL` and
   * `eu.europa.ec.eudi.pid.1` the type of ISO/IEC 18013-5 table 5 or of the PID rulebook, which an explicit type must not contradict.
   */
  @Optional() @IsIn(MDOC_ELEMENT_TYPES) type?: MdocElementType;
}

/** Where the status of a document is published. */
export type StatusMechanism = 'status_list' | 'identifier_list';
const STATUS_MECHANISMS: readonly StatusMechanism[] = ['status_list', 'identifier_list'];

export class TimeMapping {
  /** Path of a claim as in `claimMappings`. Its value is a date and time with offset, or a date, which means 00:00 UTC. */
  @BoundedText(1024, 1) @Keywords({ pattern: CLAIM_PATH_PATTERN.source }) mapFrom: string;
}

export class MobileBranding {
  /** Display name of the credential. Default: its type. */
  @Optional() @BoundedText(1024, 1) name?: string;
  @Optional() @BoundedText(1024) description?: string;
  /** Color as `#rrggbb`. */
  @Optional() @Color() backgroundColor?: string;
  /** https or data URL of an image. */
  @Optional() @ImageUrl() watermarkImage?: string;
  /** https or data URL of an image. */
  @Optional() @ImageUrl() issuerLogo?: string;
  /** https or data URL of an image. */
  @Optional() @ImageUrl() issuerIcon?: string;
}

/** @dependentRequired {"statusMechanism": ["includeStatus"]} */
export class MobileConfigurationRequest extends KeyRequirements {
  /**
   * Document type, such as `org.iso.18013.5.1.mDL`, unique among the tenant's configurations of this format. Must not be
   * `VerifiableCredential`.
   */
  @CredentialType() type: string;

  /** Mapping of each element, by namespace and element identifier. For `org.iso.18013.5.1.mDL` the mandatory elements are required. */
  @IsRecord()
  @BoundedJson({ entries: 200, text: 65_536, values: 20_000 })
  claimMappings: Record<string, Record<string, ElementMapping>>;

  /**
   * Validity of the credentials from issuance, at least 2 hours and at most 427 days (mobile driving licences) or 3,620 days, in years and
   * months of any length. Credentials that would be valid after the certificate of their signer are denied.
   */
  @IsDuration() expiresIn: Duration;

  /** Begin of the validity. Default, also if the claim has no value: the time of issuance. */
  @Optional() @Nested(TimeMapping) validFrom?: TimeMapping;

  /** End of the validity in place of `expiresIn`. Default, also if the claim has no value: `expiresIn` after issuance. */
  @Optional() @Nested(TimeMapping) validUntil?: TimeMapping;

  /** The credential as wallets display it. Images are returned as they were sent. */
  @Optional() @Nested(MobileBranding) branding?: MobileBranding;

  /**
   * The credential as wallets display it, one entry per language. A member of an entry is used in place of the one that follows from
   * branding. Default: one entry from that alone.
   */
  @Optional() @NestedList(Display, MAX_DISPLAY_ENTRIES) display?: Display[];

  /** Maximum number of credentials that a wallet can request in one session. Default: limited only by the lifetime of the access token. */
  @MaxIssuances() maxIssuances?: number;

  /**
   * `manual`: a credential request is answered with 202, and the wallet collects the credentials once the issuance was approved. Default:
   * `automatic`. A change applies to requests after it.
   */
  @IsApproval() approval?: Approval;

  /**
   * Whether each credential has a status, so that it can be suspended and revoked. Default: false. A change applies to the credentials that
   * are issued after it.
   */
  @Optional() @IsBoolean({ message: 'must be a boolean' }) includeStatus?: boolean;

  /**
   * Where the status is published, with `includeStatus` only: `status_list`, an entry of a Token Status List, or `identifier_list`, a list of the
   * identifiers of suspended and revoked credentials. Default: `status_list`. A change applies to the credentials that are issued after it.
   */
  @Optional()
  @IsIn(STATUS_MECHANISMS, { message: `must be one of: ${STATUS_MECHANISMS.join(', ')}` })
  statusMechanism?: StatusMechanism;
  /** Id of the claims source that is called while a credential is issued. Default: none. */
  @ClaimSourceId() claimSourceId?: string | null;
}

export class MobileConfiguration extends KeyRequirements {
  id: string;
  type: string;
  claimMappings: Record<string, Record<string, ElementMapping>>;
  expiresIn: Duration;
  validFrom?: TimeMapping;
  validUntil?: TimeMapping;
  branding?: MobileBranding;
  display?: Display[];
  maxIssuances?: number;
  claimSourceId?: string;
  /** Absent: `automatic`. */
  approval?: Approval;
  includeStatus: boolean;
  /** Absent without `includeStatus`. */
  statusMechanism?: StatusMechanism;
  /** In the response to a creation or replacement only: what is accepted, and probably not what was meant. */
  warnings?: Warning[];
}

export const mobileConfigurations = configurationOperations({
  profile: 'mobile',
  prefix: 'MOBILE_CREDENTIAL_CONFIGURATION',
  since: 'v2.1.0',
  request: MobileConfigurationRequest,
  configuration: MobileConfiguration,
  example: {
    type: 'org.example.membership',
    claimMappings: {
      'org.example.membership.1': {
        given_name: { mapFrom: 'claims.given_name', type: 'string', required: true },
        birth_date: { mapFrom: 'claims.birthdate', type: 'date' },
      },
    },
    expiresIn: { months: 6 },
    branding: { name: 'Membership' },
  },
});

export const mobileStatus = statusOperations({ profile: 'mobile', prefix: 'MOBILE_CREDENTIAL_STATUS' });

export const mobileRegistry = {
  delete: credentialDeletion({
    profile: 'mobile',
    prefix: 'USER_CREDENTIAL',
    description:
      'Removes the metadata. The credential keeps its status, which cannot be changed any more. Credentials of deleted users do not exist.',
  }),
};
