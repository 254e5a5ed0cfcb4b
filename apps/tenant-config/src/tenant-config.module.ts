import { Module } from '@nestjs/common';
import { Budgets } from '@attestry/service-kit';
import { ProviderSecrets } from './authentication-provider/provider-secrets.js';
import { Discovery } from './authentication-provider/discovery.js';
import { ClientKeys } from './client-keys/client-keys.js';
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
    // authentication providers
    Discovery,
    ProviderSecrets,
    SignInProviders,
    ClientKeys,
    UserInfo,
    Budgets,
    // reactions
    TenantConfigReactions,
  ],
})
export class TenantConfigModule {}
