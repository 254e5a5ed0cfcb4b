import { fetchDocument, OPERATOR, ProviderKeys, type KeySet, type Outbound } from '@attestry/service-kit';

/** The key set of the operator's OpenID provider, found by discovery (OpenID Connect Discovery 1.0 §4). */
export class OidcIssuer {
  private readonly keys: ProviderKeys;

  constructor(
    readonly issuer: string,
    private readonly outbound: Outbound,
  ) {
    this.keys = new ProviderKeys((deadline) => this.fetch(deadline));
  }

  /** See {@link ProviderKeys.keySet}. */
  keySet(now: number, deadline: number, fresh = false): Promise<KeySet> {
    return this.keys.keySet(now, deadline, fresh);
  }

  private async fetch(deadline: number): Promise<Record<string, unknown>> {
    const { issuer } = this;
    const metadata = await this.json(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, deadline);
    // Discovery §4.3: it must be exactly the requested one.
    if (metadata['issuer'] !== issuer) throw new Error(`the discovery document of ${issuer} names another issuer`);
    const { jwks_uri: jwksUri } = metadata;
    if (typeof jwksUri !== 'string' || !URL.canParse(jwksUri))
      throw new Error(`the discovery document of ${issuer} has no jwks_uri`);
    return this.json(jwksUri, deadline);
  }

  private json(url: string, deadline: number): Promise<Record<string, unknown>> {
    return fetchDocument(this.outbound, url, { tenantId: OPERATOR, deadline });
  }
}
