import type { Dependencies } from './dependencies.js';
import type { Admitted } from './exchange.js';
import { readRequest } from './read-request.js';

/** START, body and shape, the service, the outcome. @throws AppError */
export const callOperation = async (
  exchange: Admitted,
  { operations }: Pick<Dependencies, 'operations'>,
): Promise<void> => {
  const { plan, context } = exchange;
  exchange.result = await operations.run(plan.operation, context, () => readRequest(exchange));
};
