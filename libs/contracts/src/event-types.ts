import type { EventType } from './analytics/analytics.operations.js';
import { OUTCOMES } from './operation-event.js';
import { OPERATIONS } from './registry.js';

/** Every type an operation event can have, by prefix in the order of the registry. */
export const eventTypes = (): EventType[] =>
  OPERATIONS.flatMap(({ analytics }) =>
    analytics
      ? OUTCOMES.map((outcome) => ({ type: `${analytics.prefix}_${outcome}`, category: analytics.category }))
      : [],
  );
