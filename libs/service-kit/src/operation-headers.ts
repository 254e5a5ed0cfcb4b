import { AppError, type Caller, type Operation, type OperationContext, type TenantContext } from '@attestry/contracts';
import type { Headers } from '@attestry/messaging';

/** The members of the context that the operation has, as message headers. */
export const contextToHeaders = (operation: Operation, context: OperationContext): Headers => ({
  'request-id': context.requestId,
  operation: context.operation,
  deadline: String(context.deadline),
  caller: JSON.stringify(context.caller),
  ...(context.traceparent && { traceparent: context.traceparent }),
  ...(operation.forTenant && { tenant: JSON.stringify(context.tenant) }),
  ...(operation.publicUrl && { 'public-url': context.publicUrl! }),
  ...(operation.idempotent && context.idempotencyKey !== undefined && { 'idempotency-key': context.idempotencyKey }),
});

/** The member of a caller beside its kind. */
const NAME_OF_CALLER: Record<Caller['kind'], string | undefined> = {
  public: undefined,
  client: 'clientId',
  management: 'clientId',
  user: 'userId',
  holder: undefined,
  service: 'service',
};

/**
 * The context of an operation from the headers of its message. Headers that are no member of a context are ignored.
 * @throws AppError 500 for a member that is missing, malformed, or that the context of this operation does not have
 */
export const contextFromHeaders = (operation: Operation, headers: Headers): OperationContext => {
  const fault = (member: string, problem: string) =>
    new AppError('internal', 'Internal error', {
      check: 'parse-context',
      cause: new Error(`context of ${operation.name}: ${member} ${problem}`),
    });
  const textOf = (member: string, value: unknown = headers[member]): string => {
    if (value === undefined || value === '') throw fault(member, 'is missing');
    if (typeof value !== 'string') throw fault(member, 'must be a string');
    return value;
  };
  const recordOf = (member: string): Record<string, unknown> => {
    const value = parseJson(textOf(member));
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw fault(member, 'must be a JSON object');
    return value as Record<string, unknown>;
  };
  const callerOf = (): Caller => {
    const caller = recordOf('caller');
    const kind = textOf('caller.kind', caller['kind']) as Caller['kind'];
    if (!Object.hasOwn(NAME_OF_CALLER, kind)) throw fault('caller.kind', 'must be a kind of caller');
    const name = NAME_OF_CALLER[kind];
    return { kind, ...(name !== undefined && { [name]: textOf(`caller.${name}`, caller[name]) }) } as Caller;
  };
  const tenantOf = (): TenantContext => {
    const { id, host, baseUrl } = recordOf('tenant');
    return {
      id: textOf('tenant.id', id),
      host: textOf('tenant.host', host),
      baseUrl: textOf('tenant.baseUrl', baseUrl),
    };
  };
  const deadline = Number(textOf('deadline'));
  if (!Number.isSafeInteger(deadline)) throw fault('deadline', 'must be milliseconds since the epoch');
  const { forTenant, publicUrl, idempotent } = operation;
  const foreign = Object.entries({ tenant: forTenant, 'public-url': publicUrl, 'idempotency-key': idempotent })
    .filter(([member, isMember]) => !isMember && headers[member] !== undefined)
    .map(([member]) => member)[0];
  if (foreign !== undefined) throw fault(foreign, 'is no member of it');
  return {
    requestId: textOf('request-id'),
    operation: textOf('operation'),
    deadline,
    caller: callerOf(),
    ...(headers['traceparent'] !== undefined && { traceparent: headers['traceparent'] }),
    ...(forTenant && { tenant: tenantOf() }),
    ...(publicUrl && { publicUrl: textOf('public-url') }),
    ...(headers['idempotency-key'] !== undefined && { idempotencyKey: headers['idempotency-key'] }),
  };
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
