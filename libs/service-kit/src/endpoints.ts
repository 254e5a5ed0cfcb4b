import type { CommandBus, QueryBus } from '@nestjs/cqrs';
import {
  AppError,
  invalid,
  operationsOf,
  type Operation,
  type OperationContext,
  type OperationRequest,
  type ServiceName,
} from '@attestry/contracts';
import type { RequestHandler } from '@attestry/messaging';
import type { Logger } from './logger.js';
import { checkCaller } from './check-caller.js';
import { contextFromHeaders } from './operation-headers.js';
import type { Repeats } from './repeats/repeats.js';
import { runInContext } from './request-context.js';
import { checkRequest } from './validation.js';

/** What a service sees of an operation's request. */
export type RequestOf<O> =
  O extends Operation<infer Body, infer Params, infer Query, infer _Response>
    ? OperationRequest<Body, Params, Query>
    : never;
export type ResponseOf<O> = O extends Operation<infer _B, infer _P, infer _Q, infer Response> ? Response : never;

/** A command or query: the request and what is known beside it. */
export interface MessageClass<O> {
  new (request: RequestOf<O>, context: OperationContext): object;
}

export interface Endpoint {
  operation: Operation;
  message: new (request: never, context: OperationContext) => object;
  via: 'command' | 'query';
  /** Of an idempotent operation: the query that refuses a caller who may no longer be told the first result. */
  mayRepeat?: Endpoint['message'];
}

/** One line of `<service>.endpoints.ts`: this operation is done by the handler of that command. */
export const command = <O extends Operation>(
  operation: O,
  message: MessageClass<O>,
  options: { mayRepeat?: MessageClass<O> } = {},
): Endpoint => ({
  operation: operation as unknown as Operation,
  message: message as Endpoint['message'],
  via: 'command',
  ...(options as Pick<Endpoint, 'mayRepeat'>),
});
/** As {@link command}, for operations that change nothing. */
export const query = <O extends Operation>(operation: O, message: MessageClass<O>): Endpoint => ({
  operation: operation as unknown as Operation,
  message: message as Endpoint['message'],
  via: 'query',
});

/** Boot check: every operation of the service has exactly one line, and no line belongs elsewhere. */
export const checkEndpoints = (service: ServiceName, endpoints: readonly Endpoint[]): void => {
  const declared = new Set(operationsOf(service).map(({ name }) => name));
  const faults: string[] = [];
  const seen = new Set<string>();
  for (const { operation } of endpoints) {
    if (!declared.has(operation.name)) faults.push(`${operation.name} does not belong to ${service}`);
    if (seen.has(operation.name)) faults.push(`${operation.name} has two endpoint lines`);
    seen.add(operation.name);
  }
  for (const name of declared) if (!seen.has(name)) faults.push(`${name} has no endpoint line`);
  if (faults.length) throw new Error(`endpoints of ${service}: ${faults.join('; ')}`);
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

/** Serves one endpoint: context, deadline, shape where this process has not checked it, bus, reply envelope. Causes go to the log and nowhere else. */
export const endpointHandler =
  (endpoint: Endpoint, commands: CommandBus, queries: QueryBus, logger: Logger, repeats?: Repeats): RequestHandler =>
  async (data, headers, from, isChecked) => {
    const context = contextFromHeaders(headers);
    return runInContext(context, async () => {
      try {
        checkCaller(endpoint.operation, context, from);
        if (context.deadline && Date.now() > context.deadline) throw new AppError('unavailable', 'Deadline exceeded');
        const request = isChecked
          ? (data as OperationRequest)
          : checkRequest(endpoint.operation, data as OperationRequest);
        const run = (own: OperationContext): Promise<unknown> => {
          const message = new endpoint.message(request as never, own);
          return endpoint.via === 'command' ? commands.execute(message) : queries.execute(message as never);
        };
        const { mayRepeat } = endpoint;
        const result: unknown = await (repeats && endpoint.operation.idempotent && context.idempotencyKey !== undefined
          ? repeats.run(
              endpoint.operation,
              request,
              context,
              run,
              mayRepeat && (() => queries.execute(new mayRepeat(request as never, context) as never)),
            )
          : run(context));
        return { ok: true, data: result };
      } catch (error) {
        return { ok: false, error: toAppError(error, endpoint.operation.name, context.requestId, logger).toWire() };
      }
    });
  };

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
