/** What a tenant's issuer decided about the OID4VCI endpoints. A member that was never set, or was reset, is absent and has its default. */
export interface OpenIdSettings {
  /** Whether unregistered wallets may use the authorization code flow. Default: in development, not in production. */
  allowUnregisteredWallets?: boolean;
  /** Whether the authorization endpoint takes only references of pushed requests (RFC 9126 §5). Default: false. */
  requirePushedAuthorizationRequests?: boolean;
}

export interface OpenIdSettingsChanged {
  type: 'OpenIdSettingsChanged';
  /** Members that change; null resets one. */
  data: { [Member in keyof OpenIdSettings]?: OpenIdSettings[Member] | null };
}
