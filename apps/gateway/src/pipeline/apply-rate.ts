import type { RateState } from '../request/rate-limits.js';
import type { Dependencies } from './dependencies.js';
import { tooManyRequests } from './errors.js';
import type { Exchange } from './exchange.js';

/** The limit is named in the headers of the answer. @throws AppError 429 when it is exceeded */
export const applyRate = (exchange: Exchange, rate: RateState | Promise<RateState>): void | Promise<void> => {
  if (rate instanceof Promise) return rate.then((counted) => applyRate(exchange, counted));
  exchange.rate = rate;
  if (rate.exceeded) throw tooManyRequests(rate);
};

type Rates = Pick<Dependencies, 'rates'>;

/** Requests without operation and known caller are counted by address. @throws AppError 429 */
export const countPublicCall = async (exchange: Exchange, { rates }: Rates): Promise<void> =>
  applyRate(exchange, rates.count('public', { address: exchange.address }));

/** Bytes of an answer that one public call may cause. */
const BYTES_OF_CALL = 65_536;

/** An answer to a public call counts as one call for each started 64 KiB; the first is counted already. @throws AppError 429 */
export const countBytes = (exchange: Exchange, { rates }: Rates, bytes: number): void | Promise<void> => {
  const more = Math.ceil(bytes / BYTES_OF_CALL) - 1;
  if (more > 0) return applyRate(exchange, rates.countMore(exchange.address, more));
};

/** A request that is refused before its caller is known counts as a public call. @throws AppError 429, otherwise the error */
export const refuse = async (exchange: Exchange, deps: Rates, error: unknown): Promise<never> => {
  await countPublicCall(exchange, deps);
  throw error;
};

/** Before costly work for an unknown caller: an address over its limit causes none (ADR 0046). Counts nothing. @throws AppError 429 */
export const checkPublicCalls = async (exchange: Exchange, { rates }: Rates): Promise<void> => {
  const rate = await rates.publicCalls(exchange.address);
  if (rate.exceeded) await applyRate(exchange, rate);
};
