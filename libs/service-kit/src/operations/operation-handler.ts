import { CommandHandler, QueryHandler, type CommandBus, type QueryBus } from '@nestjs/cqrs';
import {
  actorOf,
  AppError,
  carriesRecord,
  invalid,
  type Operation,
  type OperationContext,
  type OperationRequest,
} from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import type { BusContext, Reply } from '@attestry/messaging';
import { refusalFields } from './refusal-fields.js';
import { requestFields, type LoggedContext, type Logger } from '../process/logger.js';
import { CallRecord } from './call-record.js';
import { checkCaller } from './check-caller.js';
import { documentAnswer } from './document-answer.js';
import { freezeDeep, frozenData } from '../shapes/frozen-data.js';
import { contextFromHeaders } from './operation-headers.js';
import type { OperationRecorders } from './operation-recorder.js';
import type { IdempotentCalls } from '../idempotency/idempotent-calls.js';
import type { UseCase } from './use-case.js';
import { checkRequest } from '../shapes/validation.js';
import type { WrittenBytes } from '../written-bytes/written-bytes.js';

/** The buses of a process, by the kind of operation they carry. */
export interface OperationBuses {
  command: CommandBus;
  query: QueryBus;
}

/** Makes the message class of the operation and registers the use case for it; returns the use case as called over its bus. */
export const registerUseCase = (operation: Operation, useCase: UseCase, buses: OperationBuses): UseCase => {
  class Message {
    constructor(
      readonly request: OperationRequest,
      readonly context: OperationContext,
    ) {}
  }
  class Handler {
    execute({ request, context }: Message): Promise<unknown> {
      return useCase.execute(request, context);
    }
  }
  const handles = operation.kind === 'command' ? CommandHandler : QueryHandler;
  handles(Message)(Handler);
  const bus: Pick<CommandBus, 'register' | 'execute'> = buses[operation.kind] as CommandBus;
  // Members that a bus reads of a provider of Nest.
  const provider = { metatype: Handler, instance: new Handler(), isDependencyTreeStatic: () => true };
  bus.register([provider] as unknown as Parameters<typeof bus.register>[0]);
  return {
    execute: (request, context) => bus.execute(new Message(request, context)),
    checkRetry: useCase.checkRetry?.bind(useCase),
  };
};

/** Names of engine faults that mean "try again later": nothing was acknowledged. */
const TRANSIENT = new Set([
  'EventStoreUnavailable',
  'KeyVaultUnavailable',
  'ReadModelUnavailable',
  'ReplayGuardUnavailable',
  'UnknownEventType',
  'WrongExpectedRevision',
  'RequestFailed',
  'SqliteError',
]);

/**
 * Handles one call of an operation, over the bus or by reference.
 * @param from the sender, authenticated by the bus
 * @param isChecked the shape of the request was checked in this process
 */
export type OperationHandler = (
  request: OperationRequest,
  context: OperationContext,
  from: string,
  isChecked: boolean,
) => Promise<Reply>;

/**
 * Caller, deadline, shape where this process has not checked it, use case, reply envelope. Causes are logged and not returned. A recorded command
 * that succeeds without an event is recorded by a message.
 */
export const operationHandler = (
  operation: Operation,
  useCase: UseCase,
  engines: { logger: Logger; clock: Clock; recorders: OperationRecorders; written?: WrittenBytes },
  idempotentCalls?: IdempotentCalls,
): OperationHandler => {
  const { logger, clock } = engines;
  const recorder = carriesRecord(operation) ? engines.recorders.of(operation.service) : undefined;
  const recordWithoutEvent = async (record: CallRecord, context: OperationContext, result: unknown): Promise<void> => {
    const message = record.messageOf(clock.now().toISOString(), result);
    try {
      await (operation.analytics!.effects
        ? recorder!.write(message, context.deadline)
        : recorder!.add(message, context.deadline));
    } catch (error) {
      logger.error({ ...requestFields(context), error: String(error) }, 'operation event not recorded');
    }
  };
  return async (given, sent, from, isChecked) => {
    let context = freezeDeep(sent);
    try {
      checkCaller(operation, context, from);
      if (Date.now() > context.deadline) throw new AppError('unavailable', 'Deadline exceeded');
      // The limit is checked before each append too; here nothing has an effect yet.
      if (
        operation.kind === 'command' &&
        context.tenant &&
        context.caller.kind !== 'holder' &&
        context.caller.kind !== 'public'
      )
        engines.written?.refuse(context.tenant.id, { actor: actorOf(context.caller), operation: operation.name });
      const request = isChecked ? given : checkRequest(operation, given);
      const record =
        recorder && context.record && new CallRecord(operation, context, context.record, request.params as object);
      if (record) context = Object.freeze({ ...context, pendingRecord: record });
      const result: unknown = await (idempotentCalls && context.idempotencyKey !== undefined
        ? idempotentCalls.runIdempotently(
            operation,
            request,
            context,
            (own) => useCase.execute(request, own),
            async () => useCase.checkRetry?.(request, context),
          )
        : useCase.execute(request, context));
      if (record && !record.isStored) await recordWithoutEvent(record, context, result);
      const data = frozenData(result);
      const document =
        context.document === undefined ? undefined : documentAnswer(data, operation.http!.success, context.document);
      return { ok: true, data: document ? freezeDeep(document) : data };
    } catch (error) {
      return errorReply(error, { ...context, operation: operation.name }, logger, given);
    }
  };
};

/** Handles messages of the bus. Checks of another process do not count here. */
export const messageHandler =
  (operation: Operation, handle: OperationHandler, logger: Logger) =>
  async (request: OperationRequest, message: BusContext): Promise<Reply> => {
    const headers = message.getHeaders();
    let context: OperationContext;
    try {
      context = contextFromHeaders(operation, headers);
    } catch (error) {
      return errorReply(error, { requestId: headers['request-id'] ?? 'unknown', operation: operation.name }, logger);
    }
    return handle(request, context, message.getFrom(), false);
  };

/** The cause is logged and not sent. */
const errorReply = (error: unknown, context: LoggedContext, logger: Logger, request?: OperationRequest): Reply => ({
  ok: false,
  error: frozenData(toAppError(error, context, logger, request).toWire()),
});

/** @param request whose values the log line does not have */
export const toAppError = (
  error: unknown,
  context: LoggedContext,
  logger: Logger,
  request?: OperationRequest,
): AppError => {
  const fields = requestFields(context);
  if (error instanceof AppError) {
    const severe = error.kind === 'internal' || error.kind === 'unavailable';
    logger[severe ? 'error' : 'info'](
      { ...fields, ...refusalFields(error, request), cause: describeCause(error.cause) },
      'operation refused',
    );
    return error;
  }
  const name = error instanceof Error ? error.name : '';
  if (name === 'InvalidCursor')
    return invalid({ msg: 'must be a nextCursor of this list', param: 'cursor', location: 'query' });
  logger.error({ ...fields, cause: describeCause(error) }, 'operation failed');
  return TRANSIENT.has(name)
    ? new AppError('unavailable', 'Service temporarily unavailable')
    : new AppError('internal', 'Internal error');
};

const describeCause = (cause: unknown): string | undefined => {
  if (cause === undefined) return undefined;
  if (!(cause instanceof Error)) return String(cause);
  const stack = cause.stack ?? cause.message;
  // The message about a malformed text quotes it.
  return cause.name === 'SyntaxError' ? `SyntaxError${stack.slice(stack.search(/\n\s+at /))}` : stack;
};
