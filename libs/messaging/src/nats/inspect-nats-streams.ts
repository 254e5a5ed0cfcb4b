import { jetstreamManager, JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import { connect, errors } from '@nats-io/transport-node';
import { connectionSettings, refusal, type NatsOptions } from './connect-nats.js';
import { requireReleasedStream, UnreleasedData } from './migrate-nats.js';
import { DEFAULT_NAMESPACE, Names } from './names.js';

/** Why a process cannot use the NATS servers. */
export interface NatsFault {
  kind: 'connection' | 'credentials' | 'rights' | 'schema' | 'unreleased';
  reason: string;
}

const TIMEOUT_MS = 2000;

/**
 * Whether the user can read the stream and the buckets of `owners`, and they exist. Connects once and changes nothing.
 * @param isMigration the user migrates: what does not exist is no fault
 */
export const inspectNatsStreams = async (
  options: NatsOptions,
  owners: readonly string[],
  isMigration: boolean,
): Promise<NatsFault[]> => {
  const names = new Names(options.namespace ?? DEFAULT_NAMESPACE);
  try {
    const settings = { ...connectionSettings(options), reconnect: false, timeout: TIMEOUT_MS };
    const connection = await connect(settings);
    try {
      const manager = await jetstreamManager(connection, { checkAPI: false, timeout: TIMEOUT_MS });
      const streams = [names.stream, ...owners.map((owner) => `KV_${names.bucket(owner)}`)];
      const faults = await Promise.all(
        streams.map(async (stream): Promise<NatsFault[]> => {
          try {
            const found = await manager.streams.info(stream);
            if (stream === names.stream) requireReleasedStream(found);
            return [];
          } catch (error) {
            if (error instanceof UnreleasedData)
              return [{ kind: 'unreleased', reason: `cannot be used: ${error.message}` }];
            const fault = faultOf(error, stream);
            return isMigration && fault.kind === 'schema' ? [] : [fault];
          }
        }),
      );
      return faults.flat();
    } finally {
      await connection.close();
    }
  } catch (error) {
    const reason = error instanceof Error && error.name === 'NatsRefused' ? error.message : refusal(error);
    if (reason !== undefined) return [{ kind: 'credentials', reason: `cannot be used: ${reason}` }];
    return [{ kind: 'connection', reason: `names servers of which none answers (${options.servers.join(', ')})` }];
  }
};

const faultOf = (error: unknown, stream: string): NatsFault => {
  if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound)
    return { kind: 'schema', reason: `names servers without the stream ${stream}` };
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof errors.PermissionViolationError)
      return { kind: 'rights', reason: `gives a user that may not read the stream ${stream}` };
  // The reason may also be that the user may not receive the reply.
  return { kind: 'rights', reason: `names servers that do not return the stream ${stream} to this user` };
};
