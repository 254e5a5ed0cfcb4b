import { Module } from '@nestjs/common';
import { PendingAuthorizations } from './authorization-request/pending-authorizations.js';
import { ContextLoader } from './contexts/context-loader.js';
import { ConfigurationsReadModel } from './credential-configuration/configurations.read-model.js';
import { IssuerKeys } from './credential-configuration/issuer-keys.js';
import { IssuanceReactions } from './issuance.reactions.js';
import { TypeClaims } from './credential-configuration/type-claims.js';
import { Erasures } from './user/erasures.js';
import { UserClaims } from './user/user-claims.js';
import { UsersReadModel } from './user/users.read-model.js';
import { DocumentSigners } from './document-signers/document-signers.js';
import { DeliveryInterest } from './delivery-interest/delivery-interest.directory.js';
import { formatProviders } from './formats/formats.js';
import { TenantContexts } from './formats/ldp-vc/tenant-contexts.js';
import { IssuerBrands } from './retrieve-issuer-metadata/issuer-brands.js';
import { CurrentConfigurations } from './protocol/current-configurations.js';
import { OfferEntries } from './protocol/offer-entries.js';
import { PublishedConfigurations } from './protocol/published-configurations.js';
import { SignedInUsers } from './user/signed-in-users.js';
import { IssuerSigners } from './issuer-certificates/issuer-signers.js';
import { IssuerSignersReadModel } from './issuer-certificates/issuer-certificates.read-model.js';
import { RenewIssuerSigners } from './issuer-certificates/renew-issuer-signers.worker.js';
import { KnownUsers } from './known-users/known-users.js';
import { SessionKeys } from './session-keys/session-keys.js';
import { WithdrawnDomains } from './withdrawn-domains/withdrawn-domains.directory.js';
import { useCases } from './use-cases.generated.js';

@Module({
  providers: [
    ...useCases,
    // Credential configurations
    ConfigurationsReadModel,
    ContextLoader,
    TenantContexts,
    TypeClaims,
    IssuerKeys,

    // Certificates of issuers
    IssuerSigners,
    IssuerSignersReadModel,
    RenewIssuerSigners,
    DocumentSigners,

    // Users
    KnownUsers,
    UserClaims,
    UsersReadModel,
    Erasures,

    // Offers and the OID4VCI protocol
    PendingAuthorizations,
    SignedInUsers,
    ...formatProviders,
    CurrentConfigurations,
    OfferEntries,
    PublishedConfigurations,
    IssuerBrands,
    DeliveryInterest,
    WithdrawnDomains,
    SessionKeys,

    IssuanceReactions,
  ],
})
export class IssuanceModule {}
