/** Outcomes of operation events, which `GET /v1/events` shows. */
export const OUTCOMES = ['START', 'SUCCESS', 'FAIL'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Tenant id used for operations that belong to no tenant. */
export const PLATFORM_TENANT = 'platform';

/** Subjects of all messages about operations (operation-record.ts). */
export const OPERATION_SUBJECTS = 'operation.>';
