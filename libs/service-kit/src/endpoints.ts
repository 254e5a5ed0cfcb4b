import { operationsOf, type Operation, type OperationContext, type ServiceName } from '@attestry/contracts';
import type { CommandBus } from '@nestjs/cqrs';
import type { OperationBuses } from './operation-handler.js';
import type { RequestOf, UseCase } from './use-case.js';

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

/** An endpoint line as a use case. */
export const useCaseOf = (
  { message: Message, via, mayRepeat: MayRepeat }: Endpoint,
  buses: OperationBuses,
): UseCase => ({
  execute: (request, context) => (buses[via] as CommandBus).execute(new Message(request as never, context)),
  ...(MayRepeat && {
    checkRetry: (request, context) => buses.query.execute(new MayRepeat(request as never, context) as never),
  }),
});
