import { hash } from 'node:crypto';

/**
 * The id of an operation event: a UUID (version 8, RFC 9562 §5.8) over tenant, request and which of its two events it is, START or
 * outcome; or which message it was made from. One index therefore finds events by id and by request, and an event recorded twice has the
 * same id.
 */
export const operationEventId = (
  tenantId: string,
  requestId: string,
  slot: 'start' | 'outcome' | `message:${string}`,
): string => {
  const hex = hash('sha256', JSON.stringify([tenantId, requestId, slot]), 'hex');
  const variant = ((parseInt(hex[16]!, 16) & 3) | 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
};

/** Both, START first. */
export const idsOfRequest = (tenantId: string, requestId: string): [string, string] => [
  operationEventId(tenantId, requestId, 'start'),
  operationEventId(tenantId, requestId, 'outcome'),
];
