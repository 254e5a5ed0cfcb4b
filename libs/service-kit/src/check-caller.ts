import {
  AppError,
  callersOf,
  type Access,
  type Caller,
  type Operation,
  type OperationContext,
} from '@attestry/contracts';

/** The callers that the gateway may name, by the access of the operation. */
const CALLERS: Record<Exclude<Access['kind'], 'internal'>, readonly Caller['kind'][]> = {
  public: ['public'],
  roles: ['client'],
  management: ['management', 'user'],
  holder: ['holder'],
};

/**
 * Is what a request says of its caller to be believed? `from` is who asked as the bus knows it (ADR 0019); the context is what
 * the asker says. The gateway speaks for those it has authenticated, every service for itself alone.
 * @throws AppError 403
 */
export const checkCaller = (operation: Operation, { caller }: Pick<OperationContext, 'caller'>, from: string): void => {
  const callers: readonly string[] = callersOf(operation);
  const { kind } = operation.access;
  const isItself = caller.kind === 'service' && caller.service === from;
  if (!callers.includes(from) || !(kind === 'internal' ? isItself : CALLERS[kind].includes(caller.kind)))
    throw new AppError('forbidden', 'Forbidden', {
      check: 'check-caller',
      cause: new Error(`${from} asked for ${operation.name} as ${JSON.stringify(caller)}`),
    });
};
