import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { AuthorizeHandler } from './authorize/authorize.js';
import { PendingAuthorizations } from './authorize/pending-authorizations.js';
import { CountDomainConfigurationsHandler } from './count-domain-configurations/count-domain-configurations.js';
import { CheckCredentialConfigurationHandler } from './check-credential-configuration/check-credential-configuration.js';
import { CompleteAuthorizationHandler } from './complete-authorization/complete-authorization.js';
import { ContextLoader } from './contexts/context-loader.js';
import { TenantContexts } from './contexts/tenant-contexts.js';
import { CreateCredentialConfigurationHandler } from './create-credential-configuration/create-credential-configuration.js';
import { CreateUserHandler } from './create-user/create-user.js';
import { ConfigurationsReadModel } from './credential-configuration/configurations.read-model.js';
import { DeleteCredentialConfigurationHandler } from './delete-credential-configuration/delete-credential-configuration.js';
import { DeleteUserHandler } from './delete-user/delete-user.js';
import { IssuanceReactions } from './issuance.reactions.js';
import { ListCredentialConfigurationsHandler } from './list-credential-configurations/list-credential-configurations.js';
import { ListUserCredentialsHandler } from './list-user-credentials/list-user-credentials.js';
import { ListUsersHandler } from './list-users/list-users.js';
import { RetrieveContextHandler } from './retrieve-context/retrieve-context.js';
import { RetrieveCredentialConfigurationHandler } from './retrieve-credential-configuration/retrieve-credential-configuration.js';
import { RetrieveUserHandler } from './retrieve-user/retrieve-user.js';
import { TypeClaims } from './type-claim/type-claims.js';
import { UpdateCredentialConfigurationHandler } from './update-credential-configuration/update-credential-configuration.js';
import { Erasures } from './user/erasures.js';
import { UserClaims } from './user/user-claims.js';
import { UsersReadModel } from './user/users.read-model.js';
import { CreateOfferHandler } from './create-offer/create-offer.js';
import { CreatePreAuthorizedOfferHandler } from './create-pre-authorized-offer/create-pre-authorized-offer.js';
import { DeletePreAuthorizedOfferHandler } from './delete-pre-authorized-offer/delete-pre-authorized-offer.js';
import { DeliveryInterest } from './delivery-interest/delivery-interest.directory.js';
import { ExchangeTokenHandler } from './exchange-token/exchange-token.js';
import { Formats } from './issue-credential/formats/formats.js';
import { JwtVcJson } from './issue-credential/formats/jwt-vc-json.js';
import { LdpVc } from './issue-credential/formats/ldp-vc.js';
import { IssueCredentialHandler } from './issue-credential/issue-credential.js';
import { IssueNonceHandler } from './issue-nonce/issue-nonce.js';
import { CurrentConfigurations } from './protocol/current-configurations.js';
import { OfferEntries } from './protocol/offer-entries.js';
import { PublishedConfigurations } from './protocol/published-configurations.js';
import { RetrieveAuthorizationServerMetadataHandler } from './retrieve-authorization-server-metadata/retrieve-authorization-server-metadata.js';
import { RetrieveIssuerMetadataHandler } from './retrieve-issuer-metadata/retrieve-issuer-metadata.js';
import { RetrieveOauthKeysHandler } from './retrieve-oauth-keys/retrieve-oauth-keys.js';
import { RetrieveOfferContentHandler } from './retrieve-offer-content/retrieve-offer-content.js';
import { SignedInUsers } from './user-link/signed-in-users.js';
import { SessionKeys } from './session-keys/session-keys.js';
import { WithdrawnDomains } from './withdrawn-domains/withdrawn-domains.directory.js';

@Module({
  imports: [CqrsModule],
  providers: [
    // Credential configurations
    CreateCredentialConfigurationHandler,
    ListCredentialConfigurationsHandler,
    RetrieveCredentialConfigurationHandler,
    UpdateCredentialConfigurationHandler,
    DeleteCredentialConfigurationHandler,
    CheckCredentialConfigurationHandler,
    CountDomainConfigurationsHandler,
    RetrieveContextHandler,
    ConfigurationsReadModel,
    ContextLoader,
    TenantContexts,
    TypeClaims,

    // Users
    CreateUserHandler,
    ListUsersHandler,
    RetrieveUserHandler,
    DeleteUserHandler,
    ListUserCredentialsHandler,
    UserClaims,
    UsersReadModel,
    Erasures,

    // Offers and the OID4VCI protocol
    CreateOfferHandler,
    CreatePreAuthorizedOfferHandler,
    DeletePreAuthorizedOfferHandler,
    RetrieveOfferContentHandler,
    AuthorizeHandler,
    PendingAuthorizations,
    CompleteAuthorizationHandler,
    SignedInUsers,
    ExchangeTokenHandler,
    IssueNonceHandler,
    IssueCredentialHandler,
    Formats,
    LdpVc,
    JwtVcJson,
    RetrieveIssuerMetadataHandler,
    RetrieveAuthorizationServerMetadataHandler,
    RetrieveOauthKeysHandler,
    CurrentConfigurations,
    OfferEntries,
    PublishedConfigurations,
    DeliveryInterest,
    WithdrawnDomains,
    SessionKeys,

    IssuanceReactions,
  ],
})
export class IssuanceModule {}
