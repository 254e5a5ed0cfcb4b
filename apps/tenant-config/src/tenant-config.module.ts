import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { CreateCustomDomainHandler } from './create-custom-domain/create-custom-domain.js';
import { DeleteCustomDomainHandler } from './delete-custom-domain/delete-custom-domain.js';
import { LookUpCustomDomainHandler } from './look-up-custom-domain/look-up-custom-domain.js';
import { RetrieveCustomDomainHandler } from './retrieve-custom-domain/retrieve-custom-domain.js';
import { RetrieveManifestHandler } from './retrieve-manifest/retrieve-manifest.js';
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
    TxtRecords,
    VerifiedDomains,
    VerifyCustomDomainHandler,
    RetrieveManifestHandler,
    // what the gateway asks
    LookUpCustomDomainHandler,
    // reactions
    TenantConfigReactions,
  ],
})
export class TenantConfigModule {}
