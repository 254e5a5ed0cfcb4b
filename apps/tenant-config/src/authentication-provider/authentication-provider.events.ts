import type { TokenEndpointAuthMethod } from '@attestry/contracts';

/** Everything but the secret. */
export interface ProviderSettings {
  /** ASCII form, without query and fragment; the port where it is not 443. */
  url: string;
  /** Spelling of the provider's discovery document, and of its ID tokens. */
  issuer: string;
  /** Origin of the token endpoint when the provider was saved: the only one that receives the secret (ADR 0050). Absent in older events. */
  tokenEndpointOrigin?: string;
  clientId: string;
  scope: string[];
  tokenEndpointAuthMethod: TokenEndpointAuthMethod;
  staticRequestParameters: Record<string, unknown>;
  forwardedRequestParameters: string[];
  claimsToPersist: string[];
  requiredClaims: Record<string, unknown[]>;
}

/** The OpenID provider of a tenant's users. Its secret is sealed under a separate key, which is destroyed at its deletion. */
export type AuthenticationProviderEvent =
  | {
      type: 'AuthenticationProviderCreated';
      data: ProviderSettings & {
        /** uuid */
        providerId: string;
        /** Absent when there is none. */
        sealedSecret?: string;
        /** RFC 3339, UTC, milliseconds. */
        createdAt: string;
      };
    }
  | { type: 'AuthenticationProviderChanged'; data: ProviderSettings & { providerId: string } }
  | { type: 'AuthenticationProviderSecretReplaced'; data: { providerId: string; sealedSecret: string } }
  /** Stored before the origin was saved with the settings: the first sign-in afterwards pins it (ADR 0050). */
  | { type: 'AuthenticationProviderTokenEndpointPinned'; data: { providerId: string; tokenEndpointOrigin: string } }
  /** Another issuer: from now on its subjects are other people than the same subjects before (OpenID Connect Core 1.0 §5.7). */
  | { type: 'AuthenticationProviderIdentitySpaceStarted'; data: { providerId: string; identitySpaceId: string } }
  | { type: 'AuthenticationProviderDeleted'; data: { providerId: string } };
