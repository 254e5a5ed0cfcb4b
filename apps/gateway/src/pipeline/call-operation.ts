import { runInContext } from '@attestry/service-kit';
import type { Admitted } from './exchange.js';
import { readRequest } from './read-request.js';
import type { Services } from './services.js';

/** START, body and shape, the service, the outcome. @throws AppError */
export const callOperation = async (
  exchange: Admitted,
  { operations }: Pick<Services, 'operations'>,
): Promise<void> => {
  const { plan, context } = exchange;
  exchange.result = await runInContext(context, () =>
    operations.run(plan.operation, context, () => readRequest(exchange)),
  );
};
