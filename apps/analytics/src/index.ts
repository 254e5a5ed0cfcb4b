import type { ServiceDefinition } from '@attestry/service-kit';
import { AnalyticsModule } from './analytics.module.js';
import { eventsProjection } from './event-lists/events.read-model.js';

export const analyticsService: ServiceDefinition = {
  name: 'analytics',
  needs: ['domain', 'operations', 'keys'],
  module: AnalyticsModule,
  projections: [{ projection: eventsProjection, follows: 'operations' }],
};
export { OPERATION_CATEGORY } from './operation-stream/operation-stream.events.js';
