import { callService } from './call-service.js';
import type { Dependencies } from './dependencies.js';
import type { Admitted } from './exchange.js';
import { shareOf } from './reserve-call.js';

/** Waits for a turn of the tenant, so that its pages delay no other. @throws AppError */
export const callList = async (
  exchange: Admitted,
  { services, pageTurns }: Pick<Dependencies, 'services' | 'pageTurns'>,
): Promise<void> => {
  const leave = await pageTurns.enter(shareOf(exchange));
  try {
    await callService(exchange, { services });
  } finally {
    leave();
  }
};
