import type { ServiceDefinition } from '@attestry/service-kit';
import { analyticsEndpoints } from './analytics.endpoints.js';
import { AnalyticsModule } from './analytics.module.js';
import { eventsProjection } from './events.read-model.js';

export const analyticsService: ServiceDefinition = {
  name: 'analytics',
  needs: ['operations', 'keys'],
  module: AnalyticsModule,
  endpoints: analyticsEndpoints,
  projections: [{ projection: eventsProjection, follows: 'operations' }],
};
export { OPERATION_CATEGORY } from './operation-stream/operation-stream.events.js';
