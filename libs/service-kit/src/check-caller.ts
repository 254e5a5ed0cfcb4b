import {
  AppError,
  callersOf,
  type Access,
  type Caller,
  type Operation,
  type OperationContext,
} from '@attestry/contracts';

/** The access of operations that a caller of this kind may call. */
const ACCESS_OF: Record<Caller['kind'], Access['kind']> = {
  public: 'public',
  client: 'roles',
  management: 'management',
  user: 'management',
  holder: 'holder',
  service: 'internal',
};

/**
 * Is what a request says of its caller to be believed? `from` is who asked as the bus knows it (ADR 0019); the context is what
 * the asker says. The gateway speaks for those it has authenticated, every service for itself alone.
 * @throws AppError 403
 */
export const checkCaller = (operation: Operation, { caller }: Pick<OperationContext, 'caller'>, from: string): void => {
  const callers: readonly string[] = callersOf(operation);
  const isForeign = ACCESS_OF[caller.kind] !== operation.access.kind;
  if (isForeign || !callers.includes(from) || (caller.kind === 'service' && caller.service !== from))
    throw new AppError('forbidden', 'Forbidden', {
      check: 'check-caller',
      cause: new Error(`${from} asked for ${operation.name} as ${JSON.stringify(caller)}`),
    });
};
