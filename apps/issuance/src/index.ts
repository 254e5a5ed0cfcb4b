import type { ServiceDefinition } from '@attestry/service-kit';
import { issuanceEndpoints } from './issuance.endpoints.js';
import { IssuanceModule } from './issuance.module.js';
import { PUBLISHED } from './issuance.reactions.js';

export const issuanceService: ServiceDefinition = {
  name: 'issuance',
  needs: ['domain', 'keys', 'replay-guard'],
  publishes: PUBLISHED.map(({ category }) => category),
  module: IssuanceModule,
  endpoints: issuanceEndpoints,
};
export { keptContextsOf, KEPT_CONTEXT_CATEGORY } from './kept-context/kept-contexts-of.js';
