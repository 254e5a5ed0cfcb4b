import { Module } from '@nestjs/common';
import { Budgets } from '@attestry/service-kit';
import { IssuanceReactions } from './issuance.reactions.js';
import { readingProviders } from './reading/reading.providers.js';
import { settingsProviders } from './settings/settings.providers.js';
import { certificatesProviders } from './certificates/certificates.providers.js';
import { statusListsProviders } from './status-lists/status-lists.providers.js';
import { vocabulariesProviders } from './vocabularies/vocabularies.providers.js';
import { formatsProviders } from './formats/formats.providers.js';
import { walletsProviders } from './wallets/wallets.providers.js';
import { usersProviders } from './users/users.providers.js';
import { claimsProviders } from './claims/claims.providers.js';
import { registryProviders } from './registry/registry.providers.js';
import { issuerProviders } from './issuer/issuer.providers.js';
import { configurationsProviders } from './configurations/configurations.providers.js';
import { offersProviders } from './offers/offers.providers.js';
import { authorizationProviders } from './authorization/authorization.providers.js';
import { tokenProviders } from './token/token.providers.js';
import { credentialProviders } from './credential/credential.providers.js';
import { useCases } from './use-cases.generated.js';

@Module({
  providers: [
    ...useCases,
    ...readingProviders,
    ...settingsProviders,
    ...certificatesProviders,
    ...statusListsProviders,
    ...vocabulariesProviders,
    ...formatsProviders,
    ...walletsProviders,
    ...usersProviders,
    ...claimsProviders,
    ...registryProviders,
    ...issuerProviders,
    ...configurationsProviders,
    ...offersProviders,
    ...authorizationProviders,
    ...tokenProviders,
    ...credentialProviders,
    Budgets,
    IssuanceReactions,
  ],
})
export class IssuanceModule {}
