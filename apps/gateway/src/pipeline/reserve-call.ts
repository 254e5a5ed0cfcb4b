import type { Dependencies } from './dependencies.js';
import type { Identified } from './exchange.js';
import { clientIdOf } from './limit-caller.js';

/**
 * Owner of the share of calls in flight that it is part of: the tenant, its members, or else its client or user. Members have a share of
 * their own, so that neither they nor the tenant's clients shut out the others (ADR 0127).
 */
export const shareOf = ({ host: { tenant }, caller, address }: Identified): string => {
  if (!tenant) return clientIdOf(caller) ?? address;
  return caller.kind === 'user' ? `members:${tenant.id}` : tenant.id;
};

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
