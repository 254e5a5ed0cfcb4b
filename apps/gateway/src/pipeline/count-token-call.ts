import type { Dependencies } from './dependencies.js';
import type { Admitted } from './exchange.js';

/** Only calls with the right secret count: without the secret it is not possible to use up a client's limit (ADR 0046). */
export const countTokenCall = async (exchange: Admitted, { rates }: Pick<Dependencies, 'rates'>): Promise<void> => {
  if (exchange.tokenClientId !== undefined) exchange.rate = await rates.countTokenCall(exchange.tokenClientId);
};
