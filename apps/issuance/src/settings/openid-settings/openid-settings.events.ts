import type { OpenIdProfile } from '@attestry/contracts';

/** Decisions of a tenant's issuer about the OID4VCI endpoints. A member that was never set, or was reset, is absent and has its default. */
export interface OpenIdSettings {
  /** `haip` requires HAIP 1.0 of wallets (ADR 0095). Default: `default`. */
  profile?: OpenIdProfile;
  /** Whether unregistered wallets may use the authorization code flow. Default: in development, not in production. */
  allowUnregisteredWallets?: boolean;
  /** Whether the authorization endpoint takes only references of pushed requests (RFC 9126 §5). Default: false. */
  requirePushedAuthorizationRequests?: boolean;
  /** Whether a DPoP proof must have a nonce of this issuer (RFC 9449 §8). Default: no. */
  dpopNonceRequired?: boolean;
  /** Days in which deferred credentials can be collected. Default: 30. */
  deferredDays?: number;
  encryption?: EncryptionSettings;
  /** Whether a credential is denied if its claims source fails. Default: no. */
  strictClaimsSources?: boolean;
  /** Whether an offer with a claim that nothing uses is refused. Default: no. */
  strictClaims?: boolean;
  interactionHook?: InteractionHookSettings;
  /** Custom domain in the credential issuer identifier of new sessions and offers (ADR 0102). Default: none, it is the tenant's host. */
  issuerDomain?: string;
  /** Name of the issuer in wallets. Default: that of the brand, otherwise of the tenant. */
  displayName?: string;
  /** Whether the metadata have `scopes_supported`. Default: yes. */
  advertiseScopes?: boolean;
  /** How long a refresh token can be used, days. Default: 30. */
  refreshTokenDays?: number;
}

/** Page of the tenant between the sign-in and the code (ADR 0093). */
export interface InteractionHookSettings {
  url: string;
  /** Names of claims that it gets. Default: none. */
  claims?: string[];
  /** Default: 1200. */
  sessionTimeoutInSec?: number;
  /** Default: no. */
  disabled?: boolean;
  /** 32 bytes, base64; sealed under the data key `secretKeyId`. */
  sealedSecret: string;
  secretKeyId: string;
}

/** Encryption of credential requests and responses (OID4VCI 1.0 §10). */
export interface EncryptionSettings {
  /** Default: true. */
  enabled?: boolean;
  /** Plain requests are refused. Default: false. */
  requestRequired?: boolean;
  /** Requests without `credential_response_encryption` are refused. Default: false. */
  responseRequired?: boolean;
}

/** Members that change; null resets one. */
export type SettingsChange<Settings> = { [Member in keyof Settings]?: Settings[Member] | null };

export interface OpenIdSettingsChanged {
  type: 'OpenIdSettingsChanged';
  /** `encryption` and `interactionHook` change only those of their members that they name. */
  data: SettingsChange<Omit<OpenIdSettings, 'encryption' | 'interactionHook'>> & {
    encryption?: SettingsChange<EncryptionSettings> | null;
    interactionHook?: SettingsChange<InteractionHookSettings> | null;
  };
}
