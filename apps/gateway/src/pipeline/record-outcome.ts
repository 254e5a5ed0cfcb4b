import { HTTP_STATUS, isUuid, type AppError, type HttpAnswer, type OperationRequest } from '@attestry/contracts';
import { requestFields } from '@attestry/service-kit';
import type { Dependencies } from './dependencies.js';
import type { Call } from './exchange.js';

type Used = Pick<Dependencies, 'recorder' | 'operationData' | 'logger'>;

const httpAnswerOf = (result: unknown): HttpAnswer['$http'] | undefined =>
  (result as Partial<HttpAnswer> | null | undefined)?.$http;

/** Of a list the number of its entries, otherwise the recorded part of the result. */
const successMetadata = (result: unknown): Record<string, unknown> => {
  const recorded = httpAnswerOf(result)?.metadata;
  if (recorded) return recorded;
  const page = result as { data?: unknown; nextCursor?: string } | null | undefined;
  return Array.isArray(page?.data)
    ? { entriesCount: page.data.length, ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }) }
    : {};
};

/** The tenant a management call was about (see `tenantFrom` of the declaration). */
const aboutTenant = ({ plan, result }: Call, { params }: OperationRequest): string | undefined => {
  const from = plan.operation.analytics!.tenantFrom;
  const id =
    from === 'params'
      ? (params as { tenantId?: unknown }).tenantId
      : from === 'answer'
        ? (result as { id?: unknown } | null)?.id
        : undefined;
  return isUuid(id) ? id.toLowerCase() : undefined;
};

/**
 * SUCCESS, acknowledged before the response. A failure to record it does not undo the effect: analytics closes the START from the events.
 */
export const recordSuccess = async (call: Call, deps: Used): Promise<void> => {
  const { plan, context, sent, recorded, result } = call;
  const answer = httpAnswerOf(result);
  const logged = answer?.metadata ? (answer.body ?? null) : result;
  const tenantId = aboutTenant(call, sent!);
  const data = await deps.operationData.ofAnswer(plan.operation, context, sent!, logged);
  recorded!.hasOutcome = true;
  const written = deps.recorder.success(plan.operation, context, successMetadata(result), {
    ...(tenantId && { about: { tenantId, startedAt: recorded!.startedAt } }),
    ...(data !== undefined && { data }),
  });
  await written.catch((error: unknown) => logLostRecord(call, deps, error));
};

/** FAIL of a call with START and without outcome. */
export const recordFailure = async (
  call: Call,
  deps: Pick<Used, 'recorder' | 'logger'>,
  failure: AppError,
): Promise<void> => {
  const { plan, context, recorded } = call;
  if (!recorded || recorded.hasOutcome) return;
  recorded.hasOutcome = true;
  const { kind, code, message } = failure;
  const written = deps.recorder.fail(plan.operation, context, { status: HTTP_STATUS[kind], code, message });
  await written.catch((error: unknown) => logLostRecord(call, deps, error));
};

export const logLostRecord = ({ context }: Call, { logger }: Pick<Used, 'logger'>, error: unknown): void =>
  logger.error({ ...requestFields(context), error: String(error) }, 'operation event not recorded');
