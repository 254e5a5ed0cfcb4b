import { readFileSync } from 'node:fs';
import { connect, credsAuthenticator, type NatsConnection } from '@nats-io/transport-node';

export interface NatsOptions {
  /** Addresses, `nats://host:port` or `tls://host:port`. */
  servers: readonly string[];
  /** Prefix of subjects, stream and buckets. Default `attestry`. */
  namespace?: string;
  /** Shown in the server's list of connections. */
  name?: string;
  user?: string;
  password?: string;
  /** Path of a `.creds` file, instead of user and password. */
  credentials?: string;
  /** Paths of PEM files. */
  tls?: { ca?: string; cert?: string; key?: string };
}

/**
 * Connects, and again whenever the connection is lost, for ever. A dead peer is noticed after two pings, so that calls
 * fail and servers are found again within seconds.
 */
export const connectNats = ({
  servers,
  name,
  user,
  password,
  credentials,
  tls,
}: NatsOptions): Promise<NatsConnection> =>
  connect({
    servers: [...servers],
    ...(name !== undefined && { name }),
    ...(user !== undefined && { user, pass: password ?? '' }),
    ...(credentials !== undefined && { authenticator: credsAuthenticator(readFileSync(credentials)) }),
    ...(tls && {
      tls: {
        ...(tls.ca !== undefined && { caFile: tls.ca }),
        ...(tls.cert !== undefined && { certFile: tls.cert }),
        ...(tls.key !== undefined && { keyFile: tls.key }),
      },
    }),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    waitOnFirstConnect: true,
    pingInterval: 2000,
    maxPingOut: 2,
    // A stack trace for each request costs more than the request.
    noAsyncTraces: true,
  });
