import { Module } from '@nestjs/common';
import { Budgets } from '@attestry/service-kit';
import { TokenKeys } from './token-keys/token-keys.js';
import { ManagementReactions } from './management.reactions.js';
import { KeepTokenKeysFresh } from './rotate-token-keys/keep-token-keys-fresh.js';
import { usersProviders } from './users/users.providers.js';
import { platformProviders } from './platform/platform.providers.js';
import { tenantsProviders } from './tenants/tenants.providers.js';
import { peopleProviders } from './people/people.providers.js';
import { useCases } from './use-cases.generated.js';

@Module({
  providers: [
    ...useCases,
    ...usersProviders,
    ...platformProviders,
    ...tenantsProviders,
    ...peopleProviders,
    // tokens
    TokenKeys,
    KeepTokenKeysFresh,
    // people and members of tenants
    Budgets,
    // lists and reactions
    ManagementReactions,
  ],
})
export class ManagementModule {}
