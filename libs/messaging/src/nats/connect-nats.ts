import { accessSync, constants, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import {
  connect,
  credsAuthenticator,
  errors,
  type NatsConnection,
  type NodeConnectionOptions,
} from '@nats-io/transport-node';
import { DEFAULT_NAMESPACE, Names } from './names.js';

export interface NatsOptions {
  /** Addresses, `nats://host:port` or `tls://host:port`. */
  servers: readonly string[];
  /** Prefix of subjects, stream and buckets. Default `attestry`. */
  namespace?: string;
  /** Participant of the connection: shown in the server's list of connections, and in the name of its inbox (see {@link Names.inbox}). */
  name?: string;
  user?: string;
  password?: string;
  /** Path of a `.creds` file, instead of user and password. */
  credentials?: string;
  /** Paths of PEM files. */
  tls?: { ca?: string; cert?: string; key?: string };
  /** Connects only to `servers`, not to others of their cluster that they advertise. */
  ignoreAdvertised?: boolean;
  /** Called with the reason why the first connection has to wait, once for each reason; if it throws, the waiting ends. */
  onWaiting?: (reason: string) => void;
}

/** The servers are reachable, but refuse a connection with these options: waiting does not help. */
export class NatsRefused extends Error {
  override readonly name = 'NatsRefused';
}

const FIRST_CONNECT_PAUSE_MS = 250;
const CONNECT_TIMEOUT_MS = 5000;

/**
 * Connects, waiting until a server is reachable, and reconnects forever. A dead peer is detected after two pings, so that calls fail and
 * servers are found again within seconds.
 * @throws NatsRefused when the servers refuse the credentials, or cannot be authenticated
 */
export const connectNats = async (options: NatsOptions): Promise<NatsConnection> => {
  const { onWaiting } = options;
  const settings = connectionSettings(options);
  const reported = new Set<string>();
  for (;;)
    try {
      return await connect(settings);
    } catch (error) {
      const reason = refusal(error);
      if (reason !== undefined)
        throw new NatsRefused(`NATS at ${addresses(options.servers)}: ${reason}`, { cause: error });
      const message = (error as Error | undefined)?.message ?? 'no connection';
      if (!reported.has(message)) onWaiting?.(message);
      reported.add(message);
      await pause(FIRST_CONNECT_PAUSE_MS);
    }
};

/** @throws NatsRefused for a file that cannot be read, before the client retries forever */
export const connectionSettings = (options: NatsOptions): NodeConnectionOptions => {
  const { credentials, tls } = options;
  for (const file of [credentials, ...Object.values(tls ?? {})]) if (file !== undefined) checkFile(file);
  return settingsOf(options);
};

const settingsOf = ({
  servers,
  namespace = DEFAULT_NAMESPACE,
  name,
  user,
  password,
  credentials,
  tls,
  ignoreAdvertised,
}: NatsOptions): NodeConnectionOptions => ({
  servers: [...servers],
  ...(ignoreAdvertised && { ignoreClusterUpdates: true }),
  ...(name !== undefined && { name, inboxPrefix: new Names(namespace).inbox(name) }),
  ...(user !== undefined && { user, pass: password ?? '' }),
  ...(credentials !== undefined && { authenticator: credsAuthenticator(readFileSync(credentials)) }),
  // Set explicitly, so that the client sends no password to a server without TLS.
  ...((tls ?? servers.some((server) => server.startsWith('tls:'))) && {
    tls: {
      ...(tls?.ca !== undefined && { caFile: tls.ca }),
      ...(tls?.cert !== undefined && { certFile: tls.cert }),
      ...(tls?.key !== undefined && { keyFile: tls.key }),
    },
  }),
  // The timeout also covers a server that closes the connection without a client certificate: the client gets no reason.
  timeout: CONNECT_TIMEOUT_MS,
  maxReconnectAttempts: -1,
  reconnectTimeWait: 250,
  reconnectJitter: 250,
  // A server that accepted the credentials before and now refuses them: a password is being changed, so it retries.
  ignoreAuthErrorAbort: true,
  pingInterval: 2000,
  maxPingOut: 2,
  // A stack trace for each request costs more than the request.
  noAsyncTraces: true,
});

const addresses = (servers: readonly string[]): string => servers.join(', ').replaceAll(/\/\/[^@/]*@/g, '//');

const checkFile = (file: string): void => {
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    throw new NatsRefused(`NATS: ${(error as Error).message}`, { cause: error });
  }
};

/** Codes of certificates that are not trusted; `ERR_TLS_…` and `ERR_SSL_…` beside them. */
const CERTIFICATE = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA)/;

/** Why waiting does not help; `undefined` when no server was reachable. */
export const refusal = (error: unknown): string | undefined => {
  for (let cause = error as Error | undefined; cause; cause = cause.cause as Error | undefined) {
    if (cause instanceof errors.UserAuthenticationExpiredError) return `credentials refused (${cause.message})`;
    if (cause instanceof errors.AuthorizationError && /violation/i.test(cause.message))
      return `credentials refused (${cause.message})`;
    if (cause instanceof errors.ConnectionError && /support 'tls'/.test(cause.message)) return cause.message;
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== undefined && CERTIFICATE.test(code)) return `TLS: ${cause.message}`;
  }
  return undefined;
};
