/** What a tenant's issuer decided about the OID4VCI endpoints. A member that was never set, or was reset, is absent and has its default. */
export interface OpenIdSettings {
  /** Whether unregistered wallets may use the authorization code flow. Default: in development, not in production. */
  allowUnregisteredWallets?: boolean;
  /** Whether a DPoP proof must have a nonce of this issuer (RFC 9449 §8). Default: no. */
  dpopNonceRequired?: boolean;
}

export interface OpenIdSettingsChanged {
  type: 'OpenIdSettingsChanged';
  /** Members that change; null resets one. */
  data: { [Member in keyof OpenIdSettings]?: OpenIdSettings[Member] | null };
}
