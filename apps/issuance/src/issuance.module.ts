import { Module } from '@nestjs/common';
import { Authorize } from './authorize/authorize.js';
import { PendingAuthorizations } from './authorization-request/pending-authorizations.js';
import { CountDomainConfigurations } from './count-domain-configurations/count-domain-configurations.js';
import { CheckCredentialConfiguration } from './check-credential-configuration/check-credential-configuration.js';
import { CompleteAuthorization } from './complete-authorization/complete-authorization.js';
import { ContextLoader } from './contexts/context-loader.js';
import { TenantContexts } from './contexts/tenant-contexts.js';
import { CreateCredentialConfiguration } from './create-credential-configuration/create-credential-configuration.js';
import { CreateUser } from './create-user/create-user.js';
import { ConfigurationsReadModel } from './credential-configuration/configurations.read-model.js';
import { DeleteCredentialConfiguration } from './delete-credential-configuration/delete-credential-configuration.js';
import { DeleteUser } from './delete-user/delete-user.js';
import { IssuanceReactions } from './issuance.reactions.js';
import { ListCredentialConfigurations } from './list-credential-configurations/list-credential-configurations.js';
import { ListUserCredentials } from './list-user-credentials/list-user-credentials.js';
import { ListUsers } from './list-users/list-users.js';
import { RetrieveContext } from './retrieve-context/retrieve-context.js';
import { RetrieveCredentialConfiguration } from './retrieve-credential-configuration/retrieve-credential-configuration.js';
import { RetrieveUser } from './retrieve-user/retrieve-user.js';
import { TypeClaims } from './credential-configuration/type-claims.js';
import { UpdateCredentialConfiguration } from './update-credential-configuration/update-credential-configuration.js';
import { Erasures } from './user/erasures.js';
import { UserClaims } from './user/user-claims.js';
import { UsersReadModel } from './user/users.read-model.js';
import { CreateOffer } from './create-offer/create-offer.js';
import { CreatePreAuthorizedOffer } from './create-pre-authorized-offer/create-pre-authorized-offer.js';
import { DeletePreAuthorizedOffer } from './delete-pre-authorized-offer/delete-pre-authorized-offer.js';
import { DeliveryInterest } from './delivery-interest/delivery-interest.directory.js';
import { ExchangeToken } from './exchange-token/exchange-token.js';
import { Formats } from './formats/formats.js';
import { JwtVcJson } from './formats/jwt-vc-json.js';
import { LdpVc } from './formats/ldp-vc.js';
import { IssueCredential } from './issue-credential/issue-credential.js';
import { IssueNonce } from './issue-nonce/issue-nonce.js';
import { CurrentConfigurations } from './protocol/current-configurations.js';
import { OfferEntries } from './protocol/offer-entries.js';
import { PublishedConfigurations } from './protocol/published-configurations.js';
import { RetrieveAuthorizationServerMetadata } from './retrieve-authorization-server-metadata/retrieve-authorization-server-metadata.js';
import { RetrieveIssuerMetadata } from './retrieve-issuer-metadata/retrieve-issuer-metadata.js';
import { RetrieveOauthKeys } from './retrieve-oauth-keys/retrieve-oauth-keys.js';
import { RetrieveOfferContent } from './retrieve-offer-content/retrieve-offer-content.js';
import { SignedInUsers } from './user/signed-in-users.js';
import { SessionKeys } from './session-keys/session-keys.js';
import { WithdrawnDomains } from './withdrawn-domains/withdrawn-domains.directory.js';

@Module({
  providers: [
    // Credential configurations
    CreateCredentialConfiguration,
    ListCredentialConfigurations,
    RetrieveCredentialConfiguration,
    UpdateCredentialConfiguration,
    DeleteCredentialConfiguration,
    CheckCredentialConfiguration,
    CountDomainConfigurations,
    RetrieveContext,
    ConfigurationsReadModel,
    ContextLoader,
    TenantContexts,
    TypeClaims,

    // Users
    CreateUser,
    ListUsers,
    RetrieveUser,
    DeleteUser,
    ListUserCredentials,
    UserClaims,
    UsersReadModel,
    Erasures,

    // Offers and the OID4VCI protocol
    CreateOffer,
    CreatePreAuthorizedOffer,
    DeletePreAuthorizedOffer,
    RetrieveOfferContent,
    Authorize,
    PendingAuthorizations,
    CompleteAuthorization,
    SignedInUsers,
    ExchangeToken,
    IssueNonce,
    IssueCredential,
    Formats,
    LdpVc,
    JwtVcJson,
    RetrieveIssuerMetadata,
    RetrieveAuthorizationServerMetadata,
    RetrieveOauthKeys,
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
