import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { CheckCredentialConfigurationHandler } from './check-credential-configuration/check-credential-configuration.js';
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

    IssuanceReactions,
  ],
})
export class IssuanceModule {}
