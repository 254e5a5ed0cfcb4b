import { Injectable } from '@nestjs/common';
import type { AuthenticationProvider, TenantContext } from '@attestry/contracts';
import { isErased, Sealing } from '@attestry/keys';
import { mask, sealIdempotently, type SealedForNew } from '@attestry/service-kit';
import type { ActiveProvider } from './authentication-provider.state.js';

/** Secrets of providers, each under a data key with the provider's id. */
@Injectable()
export class ProviderSecrets {
  constructor(private readonly sealing: Sealing) {}

  async seal(tenantId: string, providerId: string, secret: string): Promise<string> {
    await this.sealing.createDataKey(tenantId, 'tenant', providerId);
    return this.sealing.sealText(tenantId, 'tenant', providerId, secret);
  }

  /** {@link seal} for a provider that an earlier attempt of the call may have created. */
  sealForNew(tenantId: string, providerId: string, secret: string): Promise<SealedForNew> {
    return sealIdempotently(this.sealing, tenantId, 'tenant', providerId, secret);
  }

  async openSecret(tenantId: string, { sealedSecret }: ActiveProvider): Promise<string | undefined> {
    if (sealedSecret === undefined) return undefined;
    const secret = await this.sealing.openSealed(tenantId, 'tenant', sealedSecret);
    return isErased(secret) ? undefined : secret;
  }

  async destroy(tenantId: string, providerId: string): Promise<void> {
    await this.sealing.destroyDataKeys(tenantId, [providerId]);
  }

  /** A provider as the API shows it. */
  async viewOf(tenant: TenantContext, provider: ActiveProvider): Promise<AuthenticationProvider> {
    const secret = await this.openSecret(tenant.id, provider);
    return {
      id: provider.providerId,
      redirectUrl: `${tenant.baseUrl}/v1/oauth/authentication/callback`,
      url: provider.url,
      clientId: provider.clientId,
      ...(secret !== undefined && { clientSecret: mask(secret) }),
      scope: provider.scope,
      tokenEndpointAuthMethod: provider.tokenEndpointAuthMethod,
      staticRequestParameters: provider.staticRequestParameters,
      forwardedRequestParameters: provider.forwardedRequestParameters,
      claimsToPersist: provider.claimsToPersist,
      requiredClaims: provider.requiredClaims,
    };
  }
}
