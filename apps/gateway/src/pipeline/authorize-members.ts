import { requires } from '@attestry/contracts';
import type { Dependencies } from './dependencies.js';
import type { Admitted } from './exchange.js';

/** The caller also has a role for members of the body that need another permission than the operation. @throws AppError as `authorize` */
export const authorizeMembers = (
  { plan: { operation }, host, caller, deadline, checked }: Admitted,
  { authenticate }: Pick<Dependencies, 'authenticate'>,
): void | Promise<void> => {
  const { permission, except } = operation.memberAccess!;
  const others = Object.entries(checked!.body as object).some(
    ([name, value]) => value !== undefined && !except.includes(name),
  );
  if (others) return authenticate.authorize({ ...operation, access: requires(permission) }, host, caller, deadline);
};
