import type { AppError } from '@attestry/contracts';
import { requestFields } from '@attestry/service-kit';
import type { Dependencies } from './dependencies.js';
import type { Admitted } from './exchange.js';

type Used = Pick<Dependencies, 'operations' | 'logger'>;

/** A request whose body cannot be read is a call of its operation: START and FAIL are recorded (ADR 0003). */
export const recordUnreadBody = async (
  { plan, context }: Admitted,
  { operations, logger }: Used,
  failure: AppError,
): Promise<void> => {
  const recorded = operations.run(plan.operation, context, () => {
    throw failure;
  });
  await recorded.catch((error: unknown) => {
    if (error !== failure)
      logger.error({ ...requestFields(context), error: String(error) }, 'operation event not recorded');
  });
};
