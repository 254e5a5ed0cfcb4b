import type { Dependencies } from './dependencies.js';
import type { Call } from './exchange.js';

/** By reference in this process, over the bus otherwise; never sent twice. @throws AppError */
export const callService = async (call: Call, { services }: Pick<Dependencies, 'services'>): Promise<void> => {
  call.work = services.call(call.plan.operation, call.checked!, call.context, true);
  call.result = await call.work;
};
