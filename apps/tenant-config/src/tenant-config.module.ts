import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { ProviderSecrets } from './authentication-provider/provider-secrets.js';
import { Discovery } from './discovery.js';
import { BeginSignInHandler } from './begin-sign-in/begin-sign-in.js';
import { CompleteSignInHandler } from './complete-sign-in/complete-sign-in.js';
import { CreateAuthenticationProviderHandler } from './create-authentication-provider/create-authentication-provider.js';
import { ListAuthenticationProvidersHandler } from './list-authentication-providers/list-authentication-providers.js';
import { RetrieveAuthenticationProviderHandler } from './retrieve-authentication-provider/retrieve-authentication-provider.js';
import { UpdateAuthenticationProviderHandler } from './update-authentication-provider/update-authentication-provider.js';
import { DeleteAuthenticationProviderHandler } from './delete-authentication-provider/delete-authentication-provider.js';
import { DomainUsage } from './custom-domain/domain-usage.js';
import { CreateCustomDomainHandler } from './create-custom-domain/create-custom-domain.js';
import { DeleteCustomDomainHandler } from './delete-custom-domain/delete-custom-domain.js';
import { LookUpCustomDomainHandler } from './look-up-custom-domain/look-up-custom-domain.js';
import { RetrieveCustomDomainHandler } from './retrieve-custom-domain/retrieve-custom-domain.js';
import { RetrieveManifestHandler } from './retrieve-manifest/retrieve-manifest.js';
import { SignInProviders } from './sign-in/sign-in-providers.js';
import { TenantConfigReactions } from './tenant-config.reactions.js';
import { UpdateCustomDomainHandler } from './update-custom-domain/update-custom-domain.js';
import { VerifiedDomains } from './verified-domain/verified-domains.js';
import { TxtRecords } from './verify-custom-domain/txt-records.js';
import { VerifyCustomDomainHandler } from './verify-custom-domain/verify-custom-domain.js';

@Module({
  imports: [CqrsModule],
  providers: [
    // custom domain
    CreateCustomDomainHandler,
    RetrieveCustomDomainHandler,
    UpdateCustomDomainHandler,
    DeleteCustomDomainHandler,
    DomainUsage,
    TxtRecords,
    VerifiedDomains,
    VerifyCustomDomainHandler,
    RetrieveManifestHandler,
    // authentication providers
    Discovery,
    ProviderSecrets,
    CreateAuthenticationProviderHandler,
    ListAuthenticationProvidersHandler,
    RetrieveAuthenticationProviderHandler,
    UpdateAuthenticationProviderHandler,
    DeleteAuthenticationProviderHandler,
    // what issuance asks
    SignInProviders,
    BeginSignInHandler,
    CompleteSignInHandler,
    // what the gateway asks
    LookUpCustomDomainHandler,
    // reactions
    TenantConfigReactions,
  ],
})
export class TenantConfigModule {}
