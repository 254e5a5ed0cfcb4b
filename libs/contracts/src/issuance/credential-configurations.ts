import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateIf,
} from 'class-validator';
import { calledForTenant, defineOperation, requires } from '../operation.js';
import { PageQuery } from '../pagination.js';
import { CLAIM_PATH_PATTERN, IMAGE_URL_PATTERN } from '../patterns.js';
import { BoundedText, combine, Keywords, LanguageTag, Nested, Optional, Uuid } from '../validators.js';
import type { KeyRequirements } from './key-requirements.js';

const Amount =
  (max: number): PropertyDecorator =>
  (target, key) => {
    Optional()(target, key);
    IsInt({ message: 'must be an integer' })(target, key);
    Min(0, { message: 'must not be negative' })(target, key);
    Max(max, { message: `must be at most ${max}` })(target, key);
  };

/** Member that is accepted, but probably not meant. The text never contains the value of a claim. */
export class Warning {
  /** Member of the request. */
  param: string;
  msg: string;
}

/**
 * Duration from issuance: the sum of its members, at least one of which is required.
 * @minProperties 1
 */
export class Duration {
  @Amount(1000) years?: number;
  @Amount(12000) months?: number;
  @Amount(52000) weeks?: number;
  @Amount(365000) days?: number;
  @Amount(8760000) hours?: number;
  @Amount(525600000) minutes?: number;
  @Amount(31536000000) seconds?: number;
}

export const IsDuration = (): PropertyDecorator =>
  Nested(Duration, { message: 'must be an object with years, months, weeks, days, hours, minutes or seconds' });

/** Entries of a `display`. */
export const MAX_DISPLAY_ENTRIES = 20;

// The rules of mappings are declared here, and checked by issuance.

/** A claim as wallets display it in one language. */
export class ClaimDisplay {
  @BoundedText(1024, 1) name: string;
  @Optional() @LanguageTag() locale?: string;
}

/** Source of a claim: `mapFrom`, with `defaultValue` as its fallback, or `defaultValue` alone for a static claim. */
export class ClaimMapping {
  /**
   * Path of the value: `claims.given_name`, `claims.address.formatted`, `claims['https://…']`, `authenticationProvider.url` or
   * `authenticationProvider.subjectId`. A list is mapped as a whole; its elements have no path.
   */
  @Optional() @BoundedText(1024) @Keywords({ pattern: CLAIM_PATH_PATTERN.source }) mapFrom?: string;
  /** Value if `mapFrom` is absent or has no value. */
  defaultValue?: unknown;
  /** True to deny issuance if the claim has no value; otherwise the claim is omitted. Default false. */
  @Optional() @IsBoolean({ message: 'must be a boolean' }) required?: boolean;
  /** Names of the claim as wallets display it, one per language; at most 20. At most one entry has no `locale`. */
  @Optional() @ArrayNotEmpty() @ArrayMaxSize(MAX_DISPLAY_ENTRIES) display?: ClaimDisplay[];
}

/** Checked by issuance: an https URL or a data URL of an image. */
export const ImageUrl = (): PropertyDecorator =>
  combine(BoundedText(100_000), Keywords({ pattern: IMAGE_URL_PATTERN.source }));

export class CredentialIssuer {
  @BoundedText(1024, 1) name: string;
  /** https or data URL. */
  @Optional() @ImageUrl() logoUrl?: string;
  /** https or data URL. */
  @Optional() @ImageUrl() iconUrl?: string;
}

/** `#rrggbb` */
export const Color = (): PropertyDecorator => (target, key) => {
  const message = 'must be a color like #a1b2c3';
  IsString({ message: 'must be a string' })(target, key);
  Matches(/^#[0-9a-fA-F]{6}$/, { message })(target, key);
  MaxLength(7, { message })(target, key);
};

export class CredentialBranding {
  /** Color as `#rrggbb`. */
  @Optional() @Color() backgroundColor?: string;
  /** https or data URL. */
  @Optional() @ImageUrl() watermarkImageUrl?: string;
}

export class DisplayLogo {
  /** https or data URL. */
  @ImageUrl() uri: string;
  @Optional() @BoundedText(1024) alt_text?: string;
}

export class DisplayImage {
  /** https or data URL. */
  @ImageUrl() uri: string;
}

/** The credential as wallets display it in one language (OID4VCI 1.0 section 12.2.4). */
export class Display {
  /** Default: the name of the configuration. */
  @Optional() @BoundedText(1024, 1) name?: string;
  /** Language tag (BCP 47), unique in the list. At most one entry has none. */
  @Optional() @LanguageTag() locale?: string;
  @Optional() @Nested(DisplayLogo) logo?: DisplayLogo;
  /** Default: the description of the configuration. */
  @Optional() @BoundedText(1024) description?: string;
  /** Color as `#rrggbb`. */
  @Optional() @Color() background_color?: string;
  @Optional() @Nested(DisplayImage) background_image?: DisplayImage;
  /** Color as `#rrggbb`. */
  @Optional() @Color() text_color?: string;
}

/** Names in `credential_definition.type`: only characters that RFC 6749 §3.3 allows in a scope. */
const CREDENTIAL_TYPE_PATTERN = /^[\x21\x23-\x5b\x5d-\x7e]{1,1024}$/;
const TYPE_FAULT = 'must have 1 to 1024 characters that are allowed in a scope (RFC 6749 section 3.3)';
const ENTRY_FAULT = 'must contain only strings of 1 to 1024 characters without white space';

export const CredentialType = (): PropertyDecorator =>
  combine(
    IsString({ message: 'must be a string' }),
    Matches(CREDENTIAL_TYPE_PATTERN, { message: TYPE_FAULT }),
    MaxLength(1024, { message: TYPE_FAULT }),
  );

/** May be absent; at most `max` types or URLs. */
export const OptionalEntries = (max: number): PropertyDecorator =>
  combine(
    Optional(),
    IsArray({ message: 'must be an array' }),
    ArrayMaxSize(max, { message: `must have at most ${max} entries` }),
    IsString({ each: true, message: 'must contain only strings' }),
    Matches(/^\S{1,1024}$/, { each: true, message: ENTRY_FAULT }),
    MaxLength(1024, { each: true, message: ENTRY_FAULT }),
  );

/** May be absent. */
export const MaxIssuances = (): PropertyDecorator =>
  combine(
    Optional(),
    IsInt({ message: 'must be an integer' }),
    Min(1, { message: 'must be at least 1' }),
    Max(1000, { message: 'must be at most 1000' }),
  );

/** May be absent or null. */
export const ClaimSourceId = (): PropertyDecorator =>
  combine(
    ValidateIf((_, value) => value !== undefined && value !== null),
    Uuid(),
  );

/** Whether the issuer approves each issuance. */
export type Approval = 'automatic' | 'manual';
const APPROVALS: readonly Approval[] = ['automatic', 'manual'];

/** May be absent. */
export const IsApproval = (): PropertyDecorator =>
  combine(Optional(), IsIn(APPROVALS, { message: `must be one of: ${APPROVALS.join(', ')}` }));

export class ConfigurationParams {
  /** Id of the credential configuration. */
  @Uuid() id: string;
}

export class ListConfigurationsQuery extends PageQuery {
  /** Only the configuration with exactly this `type`. */
  @Optional() @BoundedText(1024) type?: string;
}

/** Common to the requests of every format. */
export interface ConfigurationRequest extends KeyRequirements {
  type: string;
  /** Where a key of a DID signs. */
  issuerDid?: string;
  display?: Display[];
  claimSourceId?: string | null;
}

/** Common to the configurations of every format. */
export interface ConfigurationRecord {
  id: string;
  type: string;
  warnings?: Warning[];
}

export interface FormatDeclaration<Request, Configuration> {
  /** Path segment and variant of the operations. */
  profile: string;
  /** Event name without `_CREATE_START` and the like. */
  prefix: string;
  request: new () => Request;
  configuration: new () => Configuration;
  /** Example of the request. */
  example: NoInfer<Request>;
  /** Version of the interface that has them; absent for those of the first. */
  since?: string;
}

const CONFLICTS =
  'Returns 409 if its credentials need another status list and the tenant already has 1000 open ones, or if the tenant would have more than 1000 configurations or more than 2 MiB of them in its issuer metadata.';

/** Five operations per format, which differ only in path, DTOs and event prefix. */
export const configurationOperations = <
  Request extends ConfigurationRequest,
  Configuration extends ConfigurationRecord,
>({
  profile,
  prefix,
  request,
  configuration,
  example,
  since,
}: FormatDeclaration<Request, Configuration>) => {
  const category = `credential-${profile}`;
  const path = `/v2/credentials/${profile}/configurations`;
  return {
    create: defineOperation({
      name: `issuance.create-credential-configuration.${profile}` as const,
      ...(since !== undefined && { since }),
      summary: `Create a ${profile} credential configuration`,
      description: CONFLICTS,
      http: { method: 'POST', path, success: 201 },
      access: requires('credential-configurations:create'),
      analytics: {
        prefix: `${prefix}_CREATE`,
        category,
        object: { type: 'credential-configuration', from: 'stream' },
        effects: 'outside',
      },
      body: request,
      example,
      resource: configuration,
      response: configuration,
      errorStatuses: [400, 409],
      idempotent: true,
    }),
    list: defineOperation({
      name: `issuance.list-credential-configurations.${profile}` as const,
      ...(since !== undefined && { since }),
      summary: `Retrieve ${profile} credential configurations`,
      description: 'A page ends before its configurations have more than 512 KB.',
      http: { method: 'GET', path, success: 200 },
      access: requires('credential-configurations:read'),
      analytics: { prefix: `${prefix}_RETRIEVE_LIST`, category },
      query: ListConfigurationsQuery,
      response: [configuration] as const,
      errorStatuses: [400],
    }),
    retrieve: defineOperation({
      name: `issuance.retrieve-credential-configuration.${profile}` as const,
      ...(since !== undefined && { since }),
      summary: `Retrieve a ${profile} credential configuration`,
      http: { method: 'GET', path: `${path}/:id`, success: 200 },
      access: requires('credential-configurations:read'),
      analytics: {
        prefix: `${prefix}_RETRIEVE`,
        category,
        object: { type: 'credential-configuration', from: 'params.id' },
      },
      params: ConfigurationParams,
      response: configuration,
      errorStatuses: [400, 404],
    }),
    update: defineOperation({
      name: `issuance.update-credential-configuration.${profile}` as const,
      ...(since !== undefined && { since }),
      summary: `Replace a ${profile} credential configuration`,
      description: `Type and issuer DID cannot be changed. ${CONFLICTS} A change that makes the configuration smaller is accepted also beyond that.`,
      http: { method: 'PUT', path: `${path}/:id`, success: 200 },
      access: requires('credential-configurations:update'),
      analytics: {
        prefix: `${prefix}_UPDATE`,
        category,
        object: { type: 'credential-configuration', from: 'params.id' },
      },
      params: ConfigurationParams,
      body: request,
      example,
      response: configuration,
      errorStatuses: [400, 404, 409],
    }),
    delete: defineOperation({
      name: `issuance.delete-credential-configuration.${profile}` as const,
      ...(since !== undefined && { since }),
      summary: `Delete a ${profile} credential configuration`,
      description: 'Existing offers of this configuration fail with `unknown_credential_configuration`.',
      http: { method: 'DELETE', path: `${path}/:id`, success: 204 },
      access: requires('credential-configurations:delete'),
      analytics: {
        prefix: `${prefix}_DELETE`,
        category,
        object: { type: 'credential-configuration', from: 'params.id' },
      },
      params: ConfigurationParams,
      errorStatuses: [400, 404],
    }),
  };
};

export type ConfigurationOperations = ReturnType<
  typeof configurationOperations<ConfigurationRequest, ConfigurationRecord>
>;

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
