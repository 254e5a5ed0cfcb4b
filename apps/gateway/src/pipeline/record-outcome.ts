import {
  carriesRecord,
  HTTP_STATUS,
  isRecordedByGateway,
  namedTenant,
  recordedObject,
  recordMessageOf,
  recordOf,
  retrieveTenant,
  type AppError,
  type HttpAnswer,
  type ManagementContext,
  type MemberAccess,
  type OperationRecord,
  type OperationRecordMessage,
  type Tenant,
} from '@attestry/contracts';
import { requestFields } from '@attestry/service-kit';
import type { Dependencies } from './dependencies.js';
import type { Call } from './exchange.js';

type Used = Pick<Dependencies, 'recorder' | 'operationData' | 'services' | 'clock' | 'logger'>;

/** Time for the question of a caller's access after a call that took until its deadline, milliseconds. */
export const ACCESS_MS = 1000;

const httpAnswerOf = (result: unknown): HttpAnswer['$http'] | undefined =>
  (result as Partial<HttpAnswer> | null | undefined)?.$http;

/** Number of entries of a list, otherwise the recorded part of the result. */
const successMetadata = (result: unknown): Record<string, unknown> | undefined => {
  const recorded = httpAnswerOf(result)?.metadata;
  if (recorded) return recorded;
  const page = result as { data?: unknown; nextCursor?: string } | null | undefined;
  if (!Array.isArray(page?.data)) return undefined;
  return { entriesCount: page.data.length, ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }) };
};

/** Limit of a list. */
const startMetadata = (query: unknown): Record<string, unknown> | undefined => {
  const limit = Number((query as { limit?: unknown } | undefined)?.limit);
  return Number.isInteger(limit) ? { limit } : undefined;
};

const messageOf = (
  { plan, context, sent, params, recorded }: Call & { params?: object },
  { clock }: Pick<Used, 'clock'>,
  outcome: Partial<OperationRecord>,
  about?: string,
): OperationRecordMessage => {
  const { operation } = plan;
  const endedAt = clock.now().toISOString();
  const object = recordedObject(operation, context, { params: (sent?.params ?? params) as object | undefined });
  const start = startMetadata(sent?.query);
  const more = { ...(start && { start }), ...(object && { object }), ...outcome };
  const record = recordOf(operation, recorded ?? { startedAt: endedAt }, more);
  return recordMessageOf(operation, context, record, { endedAt, about });
};

/**
 * A query is recorded by a message that its answer does not wait for. The record of a command is in its event already; what is known only
 * now completes it, acknowledged before the answer.
 */
export const recordSuccess = (call: Call, deps: Used): void | Promise<void> => {
  const { plan, context, sent, result } = call;
  call.recorded!.hasOutcome = true;
  const answer = httpAnswerOf(result);
  const logged = answer?.metadata ? (answer.body ?? null) : result;
  const metadata = successMetadata(result);
  const write = (data?: string): void | Promise<void> => {
    if (carriesRecord(plan.operation) && data === undefined && !metadata) return;
    const outcome = { ...(metadata && { metadata }), ...(data !== undefined && { data }) };
    const message = messageOf(call, deps, outcome, namedTenant(plan.operation, sent!.params as object, result));
    const { recorder } = deps;
    const written = carriesRecord(plan.operation)
      ? recorder.write(message, context.deadline)
      : recorder.add(message, context.deadline);
    return written?.catch((error: unknown) => logLostRecord(call, deps, error));
  };
  const sealing = deps.operationData.ofAnswer(plan.operation, context, sent!, logged);
  return sealing ? sealing.then(write) : write();
};

/** A failed call without outcome, once its caller is known to have the role. */
export const recordFailure = async (
  call: Call & { params?: object },
  deps: Omit<Used, 'operationData'>,
  failure: AppError,
): Promise<void> => {
  const { plan, context, sent, params, recorded } = call;
  if (!isRecordedByGateway(plan.operation) || recorded?.hasOutcome) return;
  call.recorded = { startedAt: deps.clock.now().toISOString(), ...recorded, hasOutcome: true };
  const { kind, code, message } = failure;
  const outcome = { outcome: 'FAIL' as const, metadata: { error: { status: HTTP_STATUS[kind], code, message } } };
  const named =
    kind === 'forbidden' ? undefined : namedTenant(plan.operation, (sent?.params ?? params) as object | undefined);
  const about = named !== undefined && (await hasAccess(call, deps, named)) ? named : undefined;
  try {
    await deps.recorder.add(messageOf(call, deps, outcome, about), context.deadline);
  } catch (error) {
    logLostRecord(call, deps, error);
  }
};

/** Whether the tenant exists and the caller has the role: a call may fail before its service has checked that. */
const hasAccess = async (
  { plan, context }: Call,
  { services }: Pick<Used, 'services'>,
  tenantId: string,
): Promise<boolean> => {
  const { roles, orSelf } = plan.operation.access as MemberAccess;
  const { record: _, ...own } = context;
  try {
    const request = { params: { tenantId } };
    const asking = { ...own, deadline: Math.max(own.deadline, Date.now() + ACCESS_MS) } as ManagementContext;
    const { membership } = (await services.call(retrieveTenant, request, asking)) as Tenant;
    return orSelf === true || membership.roles.some((role) => roles.includes(role));
  } catch {
    return false;
  }
};

export const logLostRecord = ({ context }: Call, { logger }: Pick<Used, 'logger'>, error: unknown): void =>
  logger.error({ ...requestFields(context), error: String(error) }, 'operation event not recorded');
