/**
 * Category of the records of refused calls (403) and of reads of the trail. They are listed only where the category is named: a trail
 * with them would grow with every query.
 */
export const ACCESS_CATEGORY = 'access';

/** Prefixes of their event types; those of the operations have no record of their own. */
export const ACCESS_PREFIXES = {
  refused: 'ACCESS_REFUSED',
  listed: 'EVENT_RETRIEVE_LIST',
  exported: 'EVENT_EXPORT',
} as const;
export type AccessKind = keyof typeof ACCESS_PREFIXES;
