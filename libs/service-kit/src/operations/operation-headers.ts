import {
  AppError,
  carriesRecord,
  MAX_REQUEST_DATA,
  type BegunRecord,
  type Caller,
  type Operation,
  type OperationContext,
} from '@attestry/contracts';
import type { Headers } from '@attestry/messaging';

/** Names of tenants may have any character, headers of messages only those of ASCII. */
const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** The members of the context that the operation has, as message headers. */
export const contextToHeaders = (operation: Operation, context: OperationContext): Headers => ({
  'request-id': context.requestId,
  operation: context.operation,
  deadline: String(context.deadline),
  caller: JSON.stringify(context.caller),
  ...(context.traceparent && { traceparent: context.traceparent }),
  ...(operation.forTenant && { tenant: asciiJson(context.tenant) }),
  ...(operation.publicUrl && { 'public-url': context.publicUrl! }),
  ...(operation.idempotent && context.idempotencyKey !== undefined && { 'idempotency-key': context.idempotencyKey }),
  ...(operation.http?.document && context.document !== undefined && { document: context.document }),
  ...(context.record && carriesRecord(operation) && { record: JSON.stringify(context.record) }),
});

/** RFC 3339, UTC, milliseconds. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** The member of a caller beside its kind. */
const NAME_OF_CALLER: Record<string, string> = {
  client: 'clientId',
  management: 'clientId',
  user: 'userId',
  service: 'service',
};

/**
 * The context of an operation from the headers of its message. Headers and members that no context has are ignored.
 * @throws AppError 500 for a member that is missing, malformed, or that the context of this operation does not have
 */
export const contextFromHeaders = (operation: Operation, headers: Headers): OperationContext => {
  const refusal = (member: string, problem: string) =>
    new AppError('internal', 'Internal error', {
      check: 'parse-context',
      cause: new Error(`context of ${operation.name}: ${member} ${problem}`),
    });
  const textOf = (member: string, value: unknown = headers[member]): string => {
    if (typeof value !== 'string' || value === '') throw refusal(member, 'must be a text that is not empty');
    return value;
  };
  const recordOf = (member: string): Record<string, unknown> => {
    const text = textOf(member);
    try {
      return Object(JSON.parse(text)) as Record<string, unknown>;
    } catch {
      throw refusal(member, 'must be a JSON object');
    }
  };
  const { forTenant, publicUrl, idempotent } = operation;
  for (const [member, has] of [
    ['tenant', forTenant],
    ['public-url', publicUrl],
    ['idempotency-key', idempotent],
    ['record', carriesRecord(operation)],
    ['document', operation.http?.document],
  ] as const)
    if (!has && headers[member] !== undefined) throw refusal(member, 'is no member of it');
  const beginning = (): BegunRecord => {
    const { startedAt, requestData } = recordOf('record');
    if (!TIME.test(textOf('record.startedAt', startedAt))) throw refusal('record.startedAt', 'must be a time');
    if (requestData === undefined) return { startedAt: startedAt as string };
    const data = textOf('record.requestData', requestData);
    if (data.length > MAX_REQUEST_DATA) throw refusal('record.requestData', 'is too long');
    return { startedAt: startedAt as string, requestData: data };
  };
  const deadline = Number(textOf('deadline'));
  if (!Number.isSafeInteger(deadline)) throw refusal('deadline', 'must be milliseconds since the epoch');
  const caller = recordOf('caller');
  const kind = textOf('caller.kind', caller['kind']);
  const name = NAME_OF_CALLER[kind];
  const { id, host, baseUrl, name: tenantName } = forTenant ? recordOf('tenant') : {};
  const { traceparent, 'idempotency-key': idempotencyKey } = headers;
  return {
    requestId: textOf('request-id'),
    operation: textOf('operation'),
    deadline,
    caller: { kind, ...(name && { [name]: textOf(`caller.${name}`, caller[name]) }) } as Caller,
    ...(traceparent !== undefined && { traceparent }),
    ...(forTenant && {
      tenant: {
        id: textOf('tenant.id', id),
        host: textOf('tenant.host', host),
        baseUrl: textOf('tenant.baseUrl', baseUrl),
        ...(tenantName !== undefined && { name: textOf('tenant.name', tenantName) }),
      },
    }),
    ...(publicUrl && { publicUrl: textOf('public-url') }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(headers['document'] !== undefined && { document: textOf('document') }),
    ...(headers['record'] !== undefined && { record: beginning() }),
  };
};
