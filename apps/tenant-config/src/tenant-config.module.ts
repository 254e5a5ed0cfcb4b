import { Module } from '@nestjs/common';
import {
  Budgets,
  EngineAddresses,
  InnerHosts,
  Outbound,
  OutboundResolver,
  PlatformConfig,
} from '@attestry/service-kit';
import { ProviderSecrets } from './authentication-provider/provider-secrets.js';
import { Discovery } from './authentication-provider/discovery.js';
import { ClientKeys } from './client-keys/client-keys.js';
import { KeepClientKeysFresh } from './client-keys/keep-client-keys-fresh.js';
import { DomainUsage } from './custom-domain/domain-usage.js';
import { SignInProviders } from './sign-in/sign-in-providers.js';
import { UserInfo } from './sign-in/user-info.js';
import { TenantConfigReactions } from './tenant-config.reactions.js';
import { VerifiedDomains } from './custom-domain/verified-domains.js';
import { TxtRecords } from './verify-custom-domain/txt-records.js';
import { useCases } from './use-cases.generated.js';

@Module({
  providers: [
    ...useCases,
    // custom domain
    DomainUsage,
    TxtRecords,
    VerifiedDomains,
    // authentication providers, which alone may be at the inner hosts that the operator lists
    {
      provide: Outbound,
      useFactory: (config: PlatformConfig, resolver: OutboundResolver) =>
        new Outbound(config.allowPrivateTargets, resolver, {
          innerHosts: new InnerHosts(config.providerHosts, new EngineAddresses(config)),
          ports: config.outboundPorts,
        }),
      inject: [PlatformConfig, OutboundResolver],
    },
    Discovery,
    ProviderSecrets,
    SignInProviders,
    ClientKeys,
    KeepClientKeysFresh,
    UserInfo,
    Budgets,
    // reactions
    TenantConfigReactions,
  ],
})
export class TenantConfigModule {}
