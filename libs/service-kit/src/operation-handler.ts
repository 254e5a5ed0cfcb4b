import { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { CommandHandler, QueryHandler, type CommandBus, type QueryBus } from '@nestjs/cqrs';
import { AppError, invalid, type Operation, type OperationContext, type OperationRequest } from '@attestry/contracts';
import type { Reply } from '@attestry/messaging';
import type { Logger } from './logger.js';
import { checkCaller } from './check-caller.js';
import { freezeDeep, frozenData } from './frozen-data.js';
import type { Repeats } from './repeats/repeats.js';
import { runInContext } from './request-context.js';
import type { UseCase } from './use-case.js';
import { checkRequest } from './validation.js';

/** The buses of a process, by the kind of operation that goes over them. */
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
  bus.register([new InstanceWrapper<Handler>({ metatype: Handler, instance: new Handler(), isResolved: true })]);
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
 * Answers one call of an operation, over the bus or by reference.
 * @param from the caller, as the bus knows it
 * @param isChecked the shape of the request was checked in this process
 */
export type OperationHandler = (
  request: OperationRequest,
  context: OperationContext,
  from: string,
  isChecked: boolean,
) => Promise<Reply>;

/** Caller, deadline, shape where this process has not checked it, use case, reply envelope. Causes are logged and not returned. */
export const operationHandler =
  (operation: Operation, useCase: UseCase, logger: Logger, repeats?: Repeats): OperationHandler =>
  (given, context, from, isChecked) =>
    runInContext(freezeDeep(context), async (): Promise<Reply> => {
      try {
        checkCaller(operation, context, from);
        if (context.deadline && Date.now() > context.deadline) throw new AppError('unavailable', 'Deadline exceeded');
        const request = isChecked ? given : checkRequest(operation, given);
        const result: unknown = await (repeats && operation.idempotent && context.idempotencyKey !== undefined
          ? repeats.run(
              operation,
              request,
              context,
              (own) => useCase.execute(request, own),
              async () => useCase.checkRetry?.(request, context),
            )
          : useCase.execute(request, context));
        return { ok: true, data: frozenData(result) };
      } catch (error) {
        return { ok: false, error: frozenData(toAppError(error, operation.name, context.requestId, logger).toWire()) };
      }
    });

export const toAppError = (error: unknown, operation: string, requestId: string, logger: Logger): AppError => {
  if (error instanceof AppError) {
    const severe = error.kind === 'internal' || error.kind === 'unavailable';
    logger[severe ? 'error' : 'info'](
      { requestId, operation, code: error.code, check: error.check, cause: describeCause(error.cause) },
      'operation refused',
    );
    return error;
  }
  const name = error instanceof Error ? error.name : '';
  if (name === 'InvalidCursor')
    return invalid({ msg: 'must be a nextCursor of this list', param: 'cursor', location: 'query' });
  logger.error({ requestId, operation, cause: describeCause(error) }, 'operation failed');
  return TRANSIENT.has(name)
    ? new AppError('unavailable', 'Service temporarily unavailable')
    : new AppError('internal', 'Internal error');
};

const describeCause = (cause: unknown): string | undefined =>
  cause === undefined ? undefined : cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
