import type { JsonLimits } from '../json-size.js';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { calledBy, defineOperation, requires } from '../operation.js';
import { PageQuery } from '../pagination.js';
import { IsRecord, BoundedJson, Nested, Optional, Uuid } from '../validators.js';

/** Formats of the credential configurations, as in OID4VCI Appendix A. */
export type CredentialFormat = 'ldp_vc' | 'jwt_vc_json';
/** Path segment and variant of the operations. */
export type CredentialProfile = 'web-semantic' | 'jwt-vc';

/** All members optional, at least one; each 0 or more. Counted from issuance. */
export class Duration {
  @Optional() @IsInt({ message: 'must be a Duration' }) @Min(0) @Max(1000) years?: number;
  @Optional() @IsInt({ message: 'must be a Duration' }) @Min(0) @Max(12000) months?: number;
  @Optional() @IsInt({ message: 'must be a Duration' }) @Min(0) @Max(52000) weeks?: number;
  @Optional() @IsInt({ message: 'must be a Duration' }) @Min(0) @Max(365000) days?: number;
  @Optional() @IsInt({ message: 'must be a Duration' }) @Min(0) @Max(8760000) hours?: number;
  @Optional() @IsInt({ message: 'must be a Duration' }) @Min(0) @Max(525600000) minutes?: number;
  @Optional() @IsInt({ message: 'must be a Duration' }) @Min(0) @Max(31536000000) seconds?: number;
}

/** What is canonicalized at once: the claims of all `ldp_vc` credentials of one request; the contexts of one configuration (ADR 0042). */
export const LINKED_DATA_LIMITS: JsonLimits = { values: 20_000, depth: 32 };

/** `mapFrom` only: omitted when missing; with `defaultValue`: that on a miss; `defaultValue` only: a static claim. */
export interface ClaimMapping {
  /** `claims.given_name`, `claims.address.formatted`, `claims['https://…']`, `authenticationProvider.url|subjectId` */
  mapFrom?: string;
  defaultValue?: unknown;
  /** Without value and default issuance is denied. Default false. */
  required?: boolean;
}

export class CredentialIssuer {
  @IsString({ message: 'must be a string' })
  @Length(1, 1024, { message: 'must have 1 to 1024 characters' })
  name: string;
  /** https or data URL. */
  @Optional() @IsString() @MaxLength(100_000) logoUrl?: string;
  @Optional() @IsString() @MaxLength(100_000) iconUrl?: string;
}

export class CredentialBranding {
  /** `#rrggbb` */
  @Optional()
  @IsString()
  @Matches(/^#[0-9a-fA-F]{6}$/, { message: 'must be a colour like #a1b2c3' })
  @MaxLength(7, { message: 'must be a colour like #a1b2c3' })
  backgroundColor?: string;
  @Optional() @IsString() @MaxLength(100_000) watermarkImageUrl?: string;
}

/** `credential_definition.type` names; only characters RFC 6749 §3.3 allows in a scope. */
export const CREDENTIAL_TYPE_PATTERN = /^[\x21\x23-\x5b\x5d-\x7e]{1,1024}$/;

const TYPE_FAULT = 'must have 1 to 1024 characters that a scope allows (RFC 6749 section 3.3)';
const TEXTS_FAULT = 'must have 1 to 1024 characters and no white space';

export class JwtVcConfigurationRequest {
  /** Unique among the tenant's configurations of this format; not `VerifiableCredential`. */
  @IsString({ message: 'must be a string' })
  @Matches(CREDENTIAL_TYPE_PATTERN, { message: TYPE_FAULT })
  @MaxLength(1024, { message: TYPE_FAULT })
  type: string;

  @Optional()
  @IsArray({ message: 'must be an array' })
  @ArrayMaxSize(20)
  @IsString({ each: true, message: 'must be strings' })
  @Matches(/^\S{1,1024}$/, { each: true, message: TEXTS_FAULT })
  @MaxLength(1024, { each: true, message: TEXTS_FAULT })
  additionalTypes?: string[];

  @IsString({ message: 'must be a string' })
  @Length(1, 1024, { message: 'must have 1 to 1024 characters' })
  name: string;

  @Optional() @IsString({ message: 'must be a string' }) @MaxLength(1024) description?: string;

  @Nested(CredentialIssuer) issuer: CredentialIssuer;

  /** One of the tenant's DIDs; default: its first that fits the algorithm. Pinned at creation. */
  @Optional() @IsString() @Length(7, 2048) issuerDid?: string;

  @Optional() @Nested(CredentialBranding) credentialBranding?: CredentialBranding;

  /** Claim name → mapping; at most 200. The rule on each mapping is decided in the service. */
  @IsRecord() @BoundedJson({ entries: 200, text: 65_536, values: 20_000 }) claimMappings: Record<string, ClaimMapping>;

  @Optional()
  @Nested(Duration, { message: 'must be a Duration' })
  expiresIn?: Duration;

  /** Most credentials one session may collect; default no limit but the access token's life. */
  @Optional() @IsInt({ message: 'must be an integer' }) @Min(1) @Max(1000) maxIssuances?: number;

  /** `true` is not supported yet and refused. */
  @Optional() @IsBoolean({ message: 'must be a boolean' }) revocable?: boolean;
  /** `true` is not supported yet and refused. */
  @Optional() @IsBoolean({ message: 'must be a boolean' }) persist?: boolean;
  /** Not supported yet and refused. */
  @Optional() @BoundedJson() claimSourceId?: unknown;
}

/** Proofs of `ldp_vc`; each means a version of the data model. */
export type ProofType = 'eddsa-rdfc-2022' | 'Ed25519Signature2018';
const PROOF_TYPES: readonly ProofType[] = ['eddsa-rdfc-2022', 'Ed25519Signature2018'];

export class WebSemanticConfigurationRequest extends JwtVcConfigurationRequest {
  /** JSON-LD contexts appended to the ones every credential carries; fetched once, at creation. */
  @Optional()
  @IsArray({ message: 'must be an array' })
  @ArrayMaxSize(10)
  @IsString({ each: true, message: 'must be strings' })
  @Matches(/^\S{1,1024}$/, { each: true, message: TEXTS_FAULT })
  @MaxLength(1024, { each: true, message: TEXTS_FAULT })
  contexts?: string[];

  /** Default `eddsa-rdfc-2022` (VCDM 2.0). `Ed25519Signature2018` (VCDM 1.1) is for wallets that know no other. */
  @Optional()
  @IsIn(PROOF_TYPES, { message: `must be one of: ${PROOF_TYPES.join(', ')}` })
  proofType?: ProofType;
}

export class JwtVcConfiguration {
  id: string;
  type: string;
  additionalTypes: string[];
  name: string;
  description?: string;
  issuer: CredentialIssuer;
  issuerDid: string;
  credentialBranding?: CredentialBranding;
  claimMappings: Record<string, ClaimMapping>;
  expiresIn?: Duration;
  maxIssuances?: number;
  revocable: boolean;
  persist: boolean;
}

export class WebSemanticConfiguration extends JwtVcConfiguration {
  contexts: string[];
  proofType: ProofType;
}

export class ConfigurationParams {
  @Uuid() id: string;
}

export class ListConfigurationsQuery extends PageQuery {
  /** Exact `type`. */
  @Optional() @IsString() @MaxLength(1024) type?: string;
}

/** Five operations per format, alike but for path, DTOs and event prefix. */
const configurationOperations = <Request, Configuration>(
  profile: CredentialProfile,
  stem: string,
  category: string,
  request: new () => Request,
  configuration: new () => Configuration,
) => {
  const path = `/v2/credentials/${profile}/configurations`;
  const errors = 'tenant' as const;
  return {
    create: defineOperation({
      name: `issuance.create-credential-configuration.${profile}`,
      summary: `Create a ${profile} credential configuration`,
      http: { method: 'POST', path, success: 201 },
      access: requires('credential-configurations:create'),
      analytics: { prefix: `${stem}_CREATE`, category },
      errors,
      body: request,
      response: configuration,
      errorStatuses: [400, 401, 403],
      idempotent: true,
    }),
    list: defineOperation({
      name: `issuance.list-credential-configurations.${profile}`,
      summary: `Retrieve ${profile} credential configurations`,
      http: { method: 'GET', path, success: 200 },
      access: requires('credential-configurations:read'),
      analytics: { prefix: `${stem}_RETRIEVE_LIST`, category },
      errors,
      query: ListConfigurationsQuery,
      response: [configuration] as const,
      errorStatuses: [400, 401, 403],
    }),
    retrieve: defineOperation({
      name: `issuance.retrieve-credential-configuration.${profile}`,
      summary: `Retrieve a ${profile} credential configuration`,
      http: { method: 'GET', path: `${path}/:id`, success: 200 },
      access: requires('credential-configurations:read'),
      analytics: { prefix: `${stem}_RETRIEVE`, category },
      errors,
      params: ConfigurationParams,
      response: configuration,
      errorStatuses: [400, 401, 403, 404],
    }),
    update: defineOperation({
      name: `issuance.update-credential-configuration.${profile}`,
      summary: `Replace a ${profile} credential configuration; type and issuer DID stay as they were created`,
      http: { method: 'PUT', path: `${path}/:id`, success: 200 },
      access: requires('credential-configurations:update'),
      analytics: { prefix: `${stem}_UPDATE`, category },
      errors,
      params: ConfigurationParams,
      body: request,
      response: configuration,
      errorStatuses: [400, 401, 403, 404],
    }),
    delete: defineOperation({
      name: `issuance.delete-credential-configuration.${profile}`,
      summary: `Delete a ${profile} credential configuration; offers that name it fail from then on`,
      http: { method: 'DELETE', path: `${path}/:id`, success: 204 },
      access: requires('credential-configurations:delete'),
      analytics: { prefix: `${stem}_DELETE`, category },
      errors,
      params: ConfigurationParams,
      errorStatuses: [400, 401, 403, 404],
    }),
  };
};

export const webSemanticConfigurations = configurationOperations(
  'web-semantic',
  'CREDENTIAL_WEB_SEMANTIC_CREDENTIAL_CONFIGURATION',
  'credential-web-semantic',
  WebSemanticConfigurationRequest,
  WebSemanticConfiguration,
);

export const jwtVcConfigurations = configurationOperations(
  'jwt-vc',
  'CREDENTIAL_JWT_VC_CREDENTIAL_CONFIGURATION',
  'credential-jwt-vc',
  JwtVcConfigurationRequest,
  JwtVcConfiguration,
);

export class CheckConfigurationRequest {
  @Uuid() configurationId: string;
}
export class CheckConfigurationAnswer {
  exists: boolean;
}
/** Asked by dids before a reservation whose configuration was never created keeps a DID from deletion. */
export const checkCredentialConfiguration = defineOperation({
  name: 'issuance.check-credential-configuration',
  summary: 'Tell whether a credential configuration exists',
  access: calledBy('dids'),
  kind: 'query',
  errors: 'tenant',
  body: CheckConfigurationRequest,
  response: CheckConfigurationAnswer,
});

export class CountDomainConfigurationsRequest {
  /** Lower case, no port. */
  @IsString() @MaxLength(253) domain: string;
}
export class CountDomainConfigurationsAnswer {
  activeConfigurations: number;
}
/** Asked by tenant-config when a verified custom domain is given up, for the trail. */
export const countDomainConfigurations = defineOperation({
  name: 'issuance.count-domain-configurations',
  summary: 'Count the active credential configurations whose DID is under a domain',
  access: calledBy('tenant-config'),
  kind: 'query',
  errors: 'tenant',
  body: CountDomainConfigurationsRequest,
  response: CountDomainConfigurationsAnswer,
});
