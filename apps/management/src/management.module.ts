import { Module } from '@nestjs/common';
import { Budgets } from '@attestry/service-kit';
import { ManagementReactions } from './management.reactions.js';
import { usersProviders } from './users/users.providers.js';
import { platformProviders } from './platform/platform.providers.js';
import { tenantsProviders } from './tenants/tenants.providers.js';
import { peopleProviders } from './people/people.providers.js';
import { tokensProviders } from './tokens/tokens.providers.js';
import { useCases } from './use-cases.generated.js';

@Module({
  providers: [
    ...useCases,
    ...usersProviders,
    ...platformProviders,
    ...tenantsProviders,
    ...peopleProviders,
    ...tokensProviders,
    Budgets,
    ManagementReactions,
  ],
})
export class ManagementModule {}
