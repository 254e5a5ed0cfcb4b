import type { JsonLimits } from '../json-size.js';
import { ArrayMaxSize, IsArray, IsBoolean, IsIn, IsInt, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { calledForTenant, defineOperation, requires } from '../operation.js';
import { PageQuery } from '../pagination.js';
import { IsRecord, BoundedJson, BoundedText, Nested, Optional, Uuid } from '../validators.js';

/** Credential format (OID4VCI 1.0 Appendix A). */
export type CredentialFormat = 'ldp_vc' | 'jwt_vc_json';
/** Path segment and variant of the operations. */
export type CredentialProfile = 'web-semantic' | 'jwt-vc';

const Amount =
  (max: number): PropertyDecorator =>
  (target, key) => {
    Optional()(target, key);
    IsInt({ message: 'must be an integer' })(target, key);
    Min(0, { message: 'must not be negative' })(target, key);
    Max(max, { message: `must be at most ${max}` })(target, key);
  };

/** Duration from issuance: the sum of its members, at least one of which is required. */
export class Duration {
  @Amount(1000) years?: number;
  @Amount(12000) months?: number;
  @Amount(52000) weeks?: number;
  @Amount(365000) days?: number;
  @Amount(8760000) hours?: number;
  @Amount(525600000) minutes?: number;
  @Amount(31536000000) seconds?: number;
}

/** Limits of one canonicalization: the claims of all `ldp_vc` credentials of one request, or the contexts of one configuration (ADR 0042). */
export const LINKED_DATA_LIMITS: JsonLimits = { values: 20_000, depth: 32 };

/** Source of a claim: `mapFrom`, with `defaultValue` as its fallback, or `defaultValue` alone for a static claim. */
export interface ClaimMapping {
  /**
   * Path of the value: `claims.given_name`, `claims.address.formatted`, `claims['https://…']`, `authenticationProvider.url` or
   * `authenticationProvider.subjectId`.
   */
  mapFrom?: string;
  /** Value if `mapFrom` is absent or has no value. */
  defaultValue?: unknown;
  /** True to deny issuance if the claim has no value; otherwise the claim is omitted. Default false. */
  required?: boolean;
}

export class CredentialIssuer {
  @BoundedText(1024, 1) name: string;
  /** https or data URL. */
  @Optional() @BoundedText(100_000) logoUrl?: string;
  /** https or data URL. */
  @Optional() @BoundedText(100_000) iconUrl?: string;
}

export class CredentialBranding {
  /** Color as `#rrggbb`. */
  @Optional()
  @IsString({ message: 'must be a string' })
  @Matches(/^#[0-9a-fA-F]{6}$/, { message: 'must be a color like #a1b2c3' })
  @MaxLength(7, { message: 'must be a color like #a1b2c3' })
  backgroundColor?: string;
  /** https or data URL. */
  @Optional() @BoundedText(100_000) watermarkImageUrl?: string;
}

/** Names in `credential_definition.type`: only characters that RFC 6749 §3.3 allows in a scope. */
export const CREDENTIAL_TYPE_PATTERN = /^[\x21\x23-\x5b\x5d-\x7e]{1,1024}$/;

const TYPE_FAULT = 'must have 1 to 1024 characters that are allowed in a scope (RFC 6749 section 3.3)';
const ENTRY_FAULT = 'must contain only strings of 1 to 1024 characters without white space';

export class JwtVcConfigurationRequest {
  /** Credential type, unique among the tenant's configurations of this format. Must not be `VerifiableCredential`. */
  @IsString({ message: 'must be a string' })
  @Matches(CREDENTIAL_TYPE_PATTERN, { message: TYPE_FAULT })
  @MaxLength(1024, { message: TYPE_FAULT })
  type: string;

  /** Further credential types. */
  @Optional()
  @IsArray({ message: 'must be an array' })
  @ArrayMaxSize(20, { message: 'must have at most 20 entries' })
  @IsString({ each: true, message: 'must contain only strings' })
  @Matches(/^\S{1,1024}$/, { each: true, message: ENTRY_FAULT })
  @MaxLength(1024, { each: true, message: ENTRY_FAULT })
  additionalTypes?: string[];

  /** Display name of the credential. */
  @BoundedText(1024, 1) name: string;

  @Optional() @BoundedText(1024) description?: string;

  /** The issuer as wallets display it. */
  @Nested(CredentialIssuer) issuer: CredentialIssuer;

  /** DID of the tenant that issues the credentials. Default: the first one with a suitable key. Cannot be changed later. */
  @Optional() @BoundedText(2048, 7) issuerDid?: string;

  @Optional() @Nested(CredentialBranding) credentialBranding?: CredentialBranding;

  /** Mapping of each claim of the credential, by claim name. */
  @IsRecord() @BoundedJson({ entries: 200, text: 65_536, values: 20_000 }) claimMappings: Record<string, ClaimMapping>;

  /** Validity of the credentials. Default: they do not expire. */
  @Optional()
  @Nested(Duration, { message: 'must be an object with years, months, weeks, days, hours, minutes or seconds' })
  expiresIn?: Duration;

  /** Maximum number of credentials that a wallet can request in one session. Default: limited only by the lifetime of the access token. */
  @Optional()
  @IsInt({ message: 'must be an integer' })
  @Min(1, { message: 'must be at least 1' })
  @Max(1000, { message: 'must be at most 1000' })
  maxIssuances?: number;

  /** Revocation is not supported yet: `true` is rejected. */
  @Optional() @IsBoolean({ message: 'must be a boolean' }) revocable?: boolean;
  /** Persisting credentials is not supported yet: `true` is rejected. */
  @Optional() @IsBoolean({ message: 'must be a boolean' }) persist?: boolean;
  /** Claim sources are not supported yet: any value is rejected. */
  @Optional() @BoundedJson() claimSourceId?: unknown;
}

/** Proof of `ldp_vc` credentials: `eddsa-rdfc-2022` for VC Data Model 2.0, `Ed25519Signature2018` for VC Data Model 1.1. */
export type ProofType = 'eddsa-rdfc-2022' | 'Ed25519Signature2018';
const PROOF_TYPES: readonly ProofType[] = ['eddsa-rdfc-2022', 'Ed25519Signature2018'];

export class WebSemanticConfigurationRequest extends JwtVcConfigurationRequest {
  /** URLs of further JSON-LD contexts of the credentials. Each is fetched once, when it is configured. */
  @Optional()
  @IsArray({ message: 'must be an array' })
  @ArrayMaxSize(10, { message: 'must have at most 10 entries' })
  @IsString({ each: true, message: 'must contain only strings' })
  @Matches(/^\S{1,1024}$/, { each: true, message: ENTRY_FAULT })
  @MaxLength(1024, { each: true, message: ENTRY_FAULT })
  contexts?: string[];

  /** Default `eddsa-rdfc-2022`, for VC Data Model 2.0. `Ed25519Signature2018`, for VC Data Model 1.1, supports older wallets. */
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
  /** Id of the credential configuration. */
  @Uuid() id: string;
}

export class ListConfigurationsQuery extends PageQuery {
  /** Only the configuration with exactly this `type`. */
  @Optional() @BoundedText(1024) type?: string;
}

/** Of both profiles. */
const EXAMPLE = {
  type: 'UniversityDegree',
  name: 'University degree',
  issuer: { name: 'Example University' },
  claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
};

/** Five operations per format, which differ only in path, DTOs and event prefix. */
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
      analytics: {
        prefix: `${stem}_CREATE`,
        category,
        object: { type: 'credential-configuration', from: 'stream' },
        effects: 'outside',
      },
      errors,
      body: request,
      example: EXAMPLE as Request,
      resource: configuration,
      response: configuration,
      errorStatuses: [400],
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
      errorStatuses: [400],
    }),
    retrieve: defineOperation({
      name: `issuance.retrieve-credential-configuration.${profile}`,
      summary: `Retrieve a ${profile} credential configuration`,
      http: { method: 'GET', path: `${path}/:id`, success: 200 },
      access: requires('credential-configurations:read'),
      analytics: {
        prefix: `${stem}_RETRIEVE`,
        category,
        object: { type: 'credential-configuration', from: 'params.id' },
      },
      errors,
      params: ConfigurationParams,
      response: configuration,
      errorStatuses: [400, 404],
    }),
    update: defineOperation({
      name: `issuance.update-credential-configuration.${profile}`,
      summary: `Replace a ${profile} credential configuration`,
      description: 'Type and issuer DID cannot be changed.',
      http: { method: 'PUT', path: `${path}/:id`, success: 200 },
      access: requires('credential-configurations:update'),
      analytics: {
        prefix: `${stem}_UPDATE`,
        category,
        object: { type: 'credential-configuration', from: 'params.id' },
      },
      errors,
      params: ConfigurationParams,
      body: request,
      example: EXAMPLE as Request,
      response: configuration,
      errorStatuses: [400, 404],
    }),
    delete: defineOperation({
      name: `issuance.delete-credential-configuration.${profile}`,
      summary: `Delete a ${profile} credential configuration`,
      description: 'Existing offers of this configuration fail with `unknown_credential_configuration`.',
      http: { method: 'DELETE', path: `${path}/:id`, success: 204 },
      access: requires('credential-configurations:delete'),
      analytics: {
        prefix: `${stem}_DELETE`,
        category,
        object: { type: 'credential-configuration', from: 'params.id' },
      },
      errors,
      params: ConfigurationParams,
      errorStatuses: [400, 404],
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
/** Queried by dids, because a reservation must not keep a DID from deletion if its configuration was never created. */
export const checkCredentialConfiguration = defineOperation({
  name: 'issuance.check-credential-configuration',
  summary: 'Check whether a credential configuration exists',
  access: calledForTenant('dids'),
  kind: 'query',
  body: CheckConfigurationRequest,
  response: CheckConfigurationAnswer,
});

export class CountDomainConfigurationsRequest {
  /** Domain in lower case, without a port. */
  @IsString() @MaxLength(253) domain: string;
}
export class CountDomainConfigurationsAnswer {
  activeConfigurations: number;
}
/** Queried by tenant-config when a verified custom domain is removed, for the analytics event. */
export const countDomainConfigurations = defineOperation({
  name: 'issuance.count-domain-configurations',
  summary: 'Count the active credential configurations whose issuer DID is under a domain',
  access: calledForTenant('tenant-config'),
  kind: 'query',
  body: CountDomainConfigurationsRequest,
  response: CountDomainConfigurationsAnswer,
});
