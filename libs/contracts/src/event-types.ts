import { ACCESS_CATEGORY, ACCESS_PREFIXES } from './access-records.js';
import type { EventType } from './analytics/analytics.operations.js';
import { OUTCOMES } from './operation-event.js';
import { OPERATIONS } from './registry.js';

/** Every type an operation event can have, by prefix in the order of the registry; then those of access. */
export const eventTypes = (): EventType[] =>
  [
    ...OPERATIONS.flatMap(({ analytics }) => (analytics ? [analytics] : [])),
    ...Object.values(ACCESS_PREFIXES).map((prefix) => ({ prefix, category: ACCESS_CATEGORY })),
  ].flatMap(({ prefix, category }) => OUTCOMES.map((outcome) => ({ type: `${prefix}_${outcome}`, category })));
