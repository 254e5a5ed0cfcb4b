import { randomBytes } from 'node:crypto';
import { connect, errors, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';
import { connectionSettings, refusal, type NatsOptions } from './connect-nats.js';
import { DEFAULT_NAMESPACE, Names } from './names.js';

export interface NatsUsersInspection {
  /** Servers that did not respond in time; nothing is known of them. */
  unreachable: string[];
  /** Servers that accept a connection without credentials. */
  anonymous: string[];
  /** Other participants whose replies this user may read, or in whose name it may send requests. */
  actsAs: string[];
  /** Why a server does not accept these options. */
  refused?: string;
}

const TIMEOUT_MS = 2000;

/**
 * Tries on each server what must be denied: a connection without credentials, and with these options the rights of other participants. A
 * server without users accepts any name and password, so settings alone do not show it. Nothing is read or stored: the subjects end in
 * random words.
 * ¶ @param others participants that the user of `options` must not be able to act as
 */
export const inspectNatsUsers = async (
  options: NatsOptions,
  others: readonly string[],
): Promise<NatsUsersInspection> => {
  const found = await Promise.all(
    options.servers.map((server) => inspectServer({ ...options, servers: [server] }, others)),
  );
  const refused = found.find((one) => one.refused !== undefined)?.refused;
  return {
    unreachable: found.flatMap(({ unreachable }) => unreachable),
    anonymous: found.flatMap(({ anonymous }) => anonymous),
    actsAs: [...new Set(found.flatMap(({ actsAs }) => actsAs))],
    ...(refused !== undefined && { refused }),
  };
};

/** One attempt, at this server. */
const connectOnce = (settings: NodeConnectionOptions): Promise<NatsConnection> =>
  connect({ ...settings, ignoreClusterUpdates: true, reconnect: false, timeout: TIMEOUT_MS });

const inspectServer = async (options: NatsOptions, others: readonly string[]): Promise<NatsUsersInspection> => {
  const none = { unreachable: [], anonymous: [], actsAs: [] };
  let connection: NatsConnection;
  try {
    connection = await connectOnce(connectionSettings(options));
  } catch (error) {
    const refused = error instanceof Error && error.name === 'NatsRefused' ? error.message : refusal(error);
    return refused === undefined ? { ...none, unreachable: [...options.servers] } : { ...none, refused };
  }
  try {
    const names = new Names(options.namespace ?? DEFAULT_NAMESPACE);
    const [actsAs, isOpen] = await Promise.all([
      participantsNotDenied(connection, names, others),
      acceptsWithoutCredentials(options),
    ]);
    return { ...none, actsAs, anonymous: isOpen ? [...options.servers] : [] };
  } finally {
    await connection.close();
  }
};

const participantsNotDenied = async (
  connection: NatsConnection,
  names: Names,
  others: readonly string[],
): Promise<string[]> => {
  const denied = new Set<string>();
  const errorsOf = (async () => {
    for await (const status of connection.status())
      if (status.type === 'error' && status.error instanceof errors.PermissionViolationError)
        denied.add(status.error.subject);
  })();
  const tried = others.map((participant) => {
    const word = randomBytes(16).toString('hex');
    const [inbox, request] = [`${names.inbox(participant)}.${word}`, names.request(participant, word)];
    connection.subscribe(inbox, {
      callback: (error) => {
        if (error) denied.add(inbox);
      },
    });
    connection.publish(request);
    return { participant, subjects: [inbox, request] };
  });
  // The server responds in order: a denial arrives before this response.
  await connection.flush();
  await connection.close();
  await errorsOf;
  return tried
    .filter(({ subjects }) => subjects.some((subject) => !denied.has(subject)))
    .map(({ participant }) => participant);
};

const acceptsWithoutCredentials = async ({ servers, tls }: NatsOptions): Promise<boolean> => {
  const settings = connectionSettings({
    servers,
    ...(tls && { tls: { ...(tls.ca !== undefined && { ca: tls.ca }) } }),
  });
  try {
    await (await connectOnce(settings)).close();
    return true;
  } catch {
    return false;
  }
};
