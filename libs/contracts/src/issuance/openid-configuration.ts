import { IsIn, IsInt, Max, Min, ValidateIf } from 'class-validator';
import { defineOperation, requires } from '../operation.js';
import { combine, Nested, Optional } from '../validators.js';

/** `null` resets it to its default. */
const Switch = (): PropertyDecorator =>
  combine(Optional(), IsIn([true, false, null], { message: 'must be a boolean, or null for the default' }));

/** `null` resets it to its default. */
const WholeNumber = (min: number, max: number): PropertyDecorator => {
  const message = `must be an integer from ${min} to ${max}, or null for the default`;
  return combine(
    ValidateIf((_, value) => value !== undefined && value !== null),
    IsInt({ message }),
    Min(min, { message }),
    Max(max, { message }),
  );
};

export const MAX_REFRESH_TOKEN_DAYS = 365;

/** Security profiles of the OID4VCI endpoints. */
export const OPENID_PROFILES = ['default', 'haip'] as const;
export type OpenIdProfile = (typeof OPENID_PROFILES)[number];

export class EncryptionSettingsRequest {
  /** Whether requests and responses may be encrypted. Default: yes. */
  @Switch() enabled?: boolean | null;
  /** Whether plain credential requests are refused. Default: no. */
  @Switch() requestRequired?: boolean | null;
  /** Whether requests that ask for a plain response are refused, and therefore plain requests too. Default: no. */
  @Switch() responseRequired?: boolean | null;
}

export class OpenIdConfigurationRequest {
  /**
   * Security profile: `haip` requires what HAIP 1.0 does, of every wallet: client attestation, pushed authorization requests, DPoP, and `scope` to select
   * credentials. Default: `default`, the rules of OID4VCI 1.0; `null` resets it.
   */
  @Optional()
  @IsIn([...OPENID_PROFILES, null], {
    message: `must be one of: ${OPENID_PROFILES.join(', ')}; or null for the default`,
  })
  profile?: OpenIdProfile | null;
  /** Whether wallets that are not registered may use the authorization code flow. Default: in development, not in production. */
  @Switch() allowUnregisteredWallets?: boolean | null;
  /** Whether the authorization endpoint accepts only pushed requests (RFC 9126 section 5). Default: no. */
  @Switch() requirePushedAuthorizationRequests?: boolean | null;
  /** Whether a DPoP proof must have a nonce of this issuer (RFC 9449 section 8). Default: no. */
  @Switch() dpopNonceRequired?: boolean | null;
  /** Encryption of credential requests and responses (OID4VCI 1.0 section 10). Only its members in the request change. */
  @ValidateIf((_, value) => value !== undefined && value !== null)
  @Nested(EncryptionSettingsRequest)
  encryption?: EncryptionSettingsRequest | null;
  /** How long a refresh token can be used, in days. A change applies to tokens issued afterwards. Default: 30. */
  @WholeNumber(1, MAX_REFRESH_TOKEN_DAYS) refreshTokenDays?: number | null;
}

export class EncryptionPolicy {
  enabled: boolean;
  requestRequired: boolean;
  responseRequired: boolean;
}

/** With the defaults of members that were never set. */
export class OpenIdConfiguration {
  profile: OpenIdProfile;
  allowUnregisteredWallets: boolean;
  requirePushedAuthorizationRequests: boolean;
  dpopNonceRequired: boolean;
  encryption: EncryptionPolicy;
  refreshTokenDays: number;
}

const errors = 'tenant' as const;
const since = 'v2.1.0';
const path = '/v1/openid/configuration';
const category = 'openid-configuration';
const prefix = 'CREDENTIAL_PROVIDER_OPENID_CONFIGURATION';
const object = { type: 'openid-configuration', from: 'tenant' } as const;

export const retrieveOpenIdConfiguration = defineOperation({
  name: 'issuance.retrieve-openid-configuration',
  since,
  summary: "Retrieve the settings of the tenant's OID4VCI endpoints",
  http: { method: 'GET', path, success: 200 },
  access: requires('openid-configuration:read'),
  analytics: { prefix: `${prefix}_RETRIEVE`, category, object },
  errors,
  response: OpenIdConfiguration,
});

export const updateOpenIdConfiguration = defineOperation({
  name: 'issuance.update-openid-configuration',
  since,
  summary: "Change the settings of the tenant's OID4VCI endpoints",
  description: 'Changes only the members that the request has; `null` resets a member to its default.',
  http: { method: 'PUT', path, success: 200, maxBodyBytes: 65_536 },
  access: requires('openid-configuration:update'),
  analytics: { prefix: `${prefix}_UPDATE`, category, object },
  errors,
  body: OpenIdConfigurationRequest,
  example: { allowUnregisteredWallets: true },
  response: OpenIdConfiguration,
  errorStatuses: [400],
});
