import {
  AppError,
  callersOf,
  forbidden,
  type Access,
  type Caller,
  type Operation,
  type OperationContext,
} from '@attestry/contracts';

/** The access of operations that a caller of this kind may call. */
const ACCESS_OF: Record<Caller['kind'], readonly Access['kind'][]> = {
  public: ['public'],
  client: ['roles'],
  management: ['management'],
  // On the management API, and as a member on that of a tenant.
  user: ['management', 'roles'],
  holder: ['holder'],
  service: ['internal'],
};

/**
 * Whether the caller that a request names is credible. `from` is the sender, authenticated by the bus (ADR 0019); the
 * context is a statement of the sender. The gateway acts for the callers it has authenticated, every service only for
 * itself.
 * @throws AppError 403; also for a client where the operation is for users
 */
export const checkCaller = (operation: Operation, { caller }: Pick<OperationContext, 'caller'>, from: string): void => {
  const callers: readonly string[] = callersOf(operation);
  const isForeign = !ACCESS_OF[caller.kind]?.includes(operation.access.kind);
  if (isForeign || !callers.includes(from) || (caller.kind === 'service' && caller.service !== from))
    throw new AppError('forbidden', 'Forbidden', {
      check: 'check-caller',
      cause: new Error(`${from} asked for ${operation.name} as ${JSON.stringify(caller)}`),
    });
  if (operation.access.kind === 'management' && operation.access.usersOnly && caller.kind !== 'user')
    throw forbidden('The operation is for users; the caller is a client');
};
