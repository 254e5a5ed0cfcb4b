import { AppError, callersOf, type Operation, type OperationContext } from '@attestry/contracts';

/**
 * Is what a request says of its caller to be believed? `from` is who asked as the bus knows it (ADR 0019); the context is what
 * the asker says. The gateway speaks for those it has authenticated, every service for itself alone.
 * @throws AppError 403
 */
export const checkCaller = (operation: Operation, { caller }: OperationContext, from: string): void => {
  const callers: readonly string[] = callersOf(operation);
  const speaksForItself = caller.kind === 'service' && caller.service === from;
  const speaksForOthers = from === 'gateway' && operation.access.kind !== 'internal' && caller.kind !== 'service';
  if (!callers.includes(from) || !(speaksForItself || speaksForOthers))
    throw new AppError('forbidden', 'Forbidden', {
      check: 'check-caller',
      cause: new Error(`${from} asked for ${operation.name} as ${JSON.stringify(caller)}`),
    });
};
