import type { ServiceDefinition } from '@attestry/service-kit';
import { DidsModule } from './dids.module.js';
import { PUBLISHED } from './dids.reactions.js';
import { didLists } from './did-lists/did-lists.projection.js';

export const didsService: ServiceDefinition = {
  name: 'dids',
  needs: ['domain', 'keys'],
  publishes: PUBLISHED.map(({ category }) => category),
  module: DidsModule,
  projections: [{ projection: didLists, follows: 'domain' }],
};
