import { Module } from '@nestjs/common';
import { ProviderSecrets } from './authentication-provider/provider-secrets.js';
import { Discovery } from './authentication-provider/discovery.js';
import { BeginSignIn } from './begin-sign-in/begin-sign-in.js';
import { CompleteSignIn } from './complete-sign-in/complete-sign-in.js';
import { CreateAuthenticationProvider } from './create-authentication-provider/create-authentication-provider.js';
import { ListAuthenticationProviders } from './list-authentication-providers/list-authentication-providers.js';
import { RetrieveAuthenticationProvider } from './retrieve-authentication-provider/retrieve-authentication-provider.js';
import { UpdateAuthenticationProvider } from './update-authentication-provider/update-authentication-provider.js';
import { DeleteAuthenticationProvider } from './delete-authentication-provider/delete-authentication-provider.js';
import { DomainUsage } from './custom-domain/domain-usage.js';
import { CreateCustomDomain } from './create-custom-domain/create-custom-domain.js';
import { DeleteCustomDomain } from './delete-custom-domain/delete-custom-domain.js';
import { LookUpCustomDomain } from './look-up-custom-domain/look-up-custom-domain.js';
import { RetrieveCustomDomain } from './retrieve-custom-domain/retrieve-custom-domain.js';
import { RetrieveManifest } from './retrieve-manifest/retrieve-manifest.js';
import { SignInProviders } from './sign-in/sign-in-providers.js';
import { TenantConfigReactions } from './tenant-config.reactions.js';
import { UpdateCustomDomain } from './update-custom-domain/update-custom-domain.js';
import { VerifiedDomains } from './custom-domain/verified-domains.js';
import { TxtRecords } from './verify-custom-domain/txt-records.js';
import { VerifyCustomDomain } from './verify-custom-domain/verify-custom-domain.js';

@Module({
  providers: [
    // custom domain
    CreateCustomDomain,
    RetrieveCustomDomain,
    UpdateCustomDomain,
    DeleteCustomDomain,
    DomainUsage,
    TxtRecords,
    VerifiedDomains,
    VerifyCustomDomain,
    RetrieveManifest,
    // authentication providers
    Discovery,
    ProviderSecrets,
    CreateAuthenticationProvider,
    ListAuthenticationProviders,
    RetrieveAuthenticationProvider,
    UpdateAuthenticationProvider,
    DeleteAuthenticationProvider,
    // called by issuance
    SignInProviders,
    BeginSignIn,
    CompleteSignIn,
    // called by the gateway
    LookUpCustomDomain,
    // reactions
    TenantConfigReactions,
  ],
})
export class TenantConfigModule {}
