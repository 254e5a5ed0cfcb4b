import { BUS_PARTICIPANTS } from '@attestry/contracts';

const USERS = [...BUS_PARTICIPANTS, 'migrate'];

/** A letter first: nats-server parses it. */
const passwordOf = (user: string): string => `password-of-${user}`;

/** Environment of a server with the users of deploy/nats. */
export const passwords = (): Record<string, string> =>
  Object.fromEntries(
    USERS.map((user) => [`NATS_PASSWORD_${user.toUpperCase().replaceAll('-', '_')}`, passwordOf(user)]),
  );

/** Settings of a process: the user of its service, as the chart sets them. */
export const natsUser = (service: string): Record<string, string> =>
  USERS.includes(service) ? { NATS_USER: service, NATS_PASSWORD: passwordOf(service) } : {};
