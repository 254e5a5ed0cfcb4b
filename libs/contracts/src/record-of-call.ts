import { actorIds, type OperationContext } from './context.js';
import { isUuid } from './identifiers.js';
import { PLATFORM_TENANT } from './operation-event.js';
import type { BegunRecord, OperationObject, OperationRecord, OperationRecordMessage } from './operation-record.js';
import type { Operation } from './operation.js';

/** Whether the gateway records the operation; services record those of wallets themselves. */
export const isRecordedByGateway = ({ analytics }: Operation): boolean =>
  analytics !== undefined && analytics.recordedBy !== 'service';

/** Whether its record travels with the call, to the event that the command appends. */
export const carriesRecord = (operation: Operation): boolean =>
  operation.kind === 'command' && isRecordedByGateway(operation);

interface About {
  params?: object | undefined;
  /** The event that will hold the record, and the name of its stream. */
  stored?: { stream: string; data: object };
}

/** Ids of the platform, DIDs and client ids; anything else in a path is a value of the request, such as an e-mail address. */
const ID = /^[\w.:%+~/-]{1,2048}$/;

/** The object of a call, as its operation declares it; `undefined` for a list, and where the call names none. */
export const recordedObject = (
  { analytics }: Operation,
  { tenant, caller }: OperationContext,
  { params, stored }: About,
): OperationObject | undefined => {
  if (!analytics?.object) return undefined;
  const { type, from } = analytics.object;
  const [source, member = ''] = from.split('.') as [string, string?];
  const valueOf = (): unknown => {
    switch (source) {
      case 'params':
        return (params as Record<string, unknown> | undefined)?.[member];
      case 'event':
        return (stored?.data as Record<string, unknown> | undefined)?.[member];
      case 'stream':
        return stored && idOfStream(stored.stream);
      case 'tenant':
        return tenant?.id;
      default:
        return actorIds(caller).managementUserId;
    }
  };
  const id = valueOf();
  if (typeof id !== 'string' || !ID.test(id)) return undefined;
  return { type, id: isUuid(id) ? id.toLowerCase() : id };
};

/** The members of the event that the operation declares for the metadata of SUCCESS. */
export const recordedMetadata = ({ analytics }: Operation, event: object): Record<string, unknown> | undefined => {
  const members = analytics?.metadata?.flatMap((name) => {
    const value = (event as Record<string, unknown>)[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return members && Object.fromEntries(members);
};

/** The part of `<category>-<tenantId>+<id>` or `<category>-<id>` that names the resource. */
const idOfStream = (stream: string): string => {
  const plus = stream.indexOf('+');
  return stream.slice((plus < 0 ? stream.indexOf('-') : plus) + 1);
};

/** Tenant that a management call names, or whose creation it returned. */
export const namedTenant = (
  { analytics }: Operation,
  params: object | undefined,
  result?: unknown,
): string | undefined => {
  const from = analytics?.tenantFrom;
  const { tenantId } = (params ?? {}) as { tenantId?: unknown };
  const id = from === 'answer' ? (result as { id?: unknown } | null | undefined)?.id : from && tenantId;
  return isUuid(id) ? id.toLowerCase() : undefined;
};

/** Common to the parts of a record, wherever it is kept. */
export const recordOf = (
  operation: Operation,
  { startedAt, requestData }: BegunRecord,
  more: Partial<OperationRecord> = {},
): OperationRecord => {
  const { prefix, category } = operation.analytics!;
  return {
    prefix,
    category,
    startedAt,
    outcome: 'SUCCESS',
    ...(requestData !== undefined && { requestData }),
    ...(operation.access.kind === 'management' && { isManagement: true }),
    ...more,
  };
};

/** The record as a message of its own. */
export const recordMessageOf = (
  operation: Operation,
  context: OperationContext,
  record: OperationRecord,
  { endedAt, about }: { endedAt: string; about?: string | undefined },
): OperationRecordMessage => ({
  ...record,
  tenantId: context.tenant?.id ?? PLATFORM_TENANT,
  requestId: context.requestId,
  operation: operation.name,
  ...actorIds(context.caller),
  endedAt,
  ...(about !== undefined && { about }),
});
