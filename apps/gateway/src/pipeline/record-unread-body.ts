import type { AppError } from '@attestry/contracts';
import { runInContext } from '@attestry/service-kit';
import type { Dependencies } from './dependencies.js';
import type { Admitted } from './exchange.js';

type Used = Pick<Dependencies, 'operations' | 'logger'>;

/** A request whose body cannot be read is a call of its operation: START and FAIL are recorded (ADR 0003). */
export const recordUnreadBody = async (
  { plan, context, requestId }: Admitted,
  { operations, logger }: Used,
  failure: AppError,
): Promise<void> => {
  const recorded = runInContext(context, () =>
    operations.run(plan.operation, context, () => {
      throw failure;
    }),
  );
  await recorded.catch((error: unknown) => {
    if (error !== failure) logger.error({ requestId, error: String(error) }, 'operation event not recorded');
  });
};
