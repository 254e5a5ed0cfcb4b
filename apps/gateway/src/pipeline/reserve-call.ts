import type { Dependencies } from './dependencies.js';
import type { Identified } from './exchange.js';
import { clientIdOf } from './limit-caller.js';

/** Owner of the share of calls in flight that it is part of: the tenant, or else its client or user. */
export const shareOf = ({ host, caller, address }: Identified): string =>
  host.tenant?.id ?? clientIdOf(caller) ?? address;

/**
 * A call with credentials is one of those that its tenant, or else its client or user, has in flight. It is released when the answer has been
 * sent or the connection has ended, and the service has returned.
 * @throws AppError 429
 */
export const reserveCall = (exchange: Identified, { callsInFlight }: Pick<Dependencies, 'callsInFlight'>): void => {
  const { reply } = exchange;
  const release = callsInFlight.reserve(shareOf(exchange));
  const end = (): void => void Promise.resolve(exchange.work).then(release, release);
  reply.raw.once('finish', end).once('close', end);
};
