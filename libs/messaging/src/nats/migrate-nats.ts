import {
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  type StreamInfo,
} from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { nanos, type NatsConnection } from '@nats-io/transport-node';
import { DEFAULT_NAMESPACE, Names, NO_OWNER } from './names.js';

export interface NatsFeedOptions {
  /** Replicas of stream and buckets in a cluster. Default: 1 where they are created; existing ones keep theirs. */
  replicas?: number;
  /** Existing ones with more replicas get `replicas`. Default: they keep theirs. */
  fewerReplicas?: boolean;
  /**
   * Messages older than this are deleted, whether or not they were consumed, milliseconds. Default: 7 days where the stream is created; an
   * existing one keeps its limit.
   */
  keepMs?: number;
  /** Owners whose consumers get a bucket: the first part of their names. Default: those without one. */
  owners?: readonly string[];
  /** How long ids are deduplicated, milliseconds. Default 15 minutes. */
  duplicateWindowMs?: number;
}

/** Description of a stream that a release made, by which it is recognized; servers before 2.10 have no metadata. Permanent. */
const MADE_BY_RELEASE = 'Feed of Attestry, since 0.2.0';

/** The feed of a version before the first release, which no release reads. */
export class UnreleasedData extends Error {
  override readonly name = 'UnreleasedData';
  constructor(stream: string) {
    super(`the stream ${stream} of NATS has data of version 0.1.0`);
  }
}

/** @throws UnreleasedData unless a release made the stream */
export const requireReleasedStream = ({ config: { name, description } }: StreamInfo): void => {
  if (description !== MADE_BY_RELEASE) throw new UnreleasedData(name);
};

/** A stream, or the stream of a bucket, that keeps more replicas than the migration was given. */
export interface KeptReplicas {
  stream: string;
  has: number;
  /** `undefined`: no number was given. */
  wanted: number | undefined;
}

const DAY = 86_400_000;

/** Replicas of an existing stream after a migration, which loses copies of messages only when it is allowed to. */
export const replicasOf = (
  has: number,
  { replicas: wanted = has, fewerReplicas = false }: Pick<NatsFeedOptions, 'replicas' | 'fewerReplicas'>,
): number => (fewerReplicas ? wanted : Math.max(has, wanted));

/**
 * Creates the stream and the buckets, or updates their settings; stored data is kept. It may run twice and in several processes
 * concurrently: the server accepts an equal request for an existing object.
 *
 * @returns what keeps more replicas than it would be created with
 * @throws UnreleasedData, and then nothing is changed
 */
export const migrateNats = async (
  connection: NatsConnection,
  namespace = DEFAULT_NAMESPACE,
  options: NatsFeedOptions = {},
): Promise<KeptReplicas[]> => {
  const { replicas = 1, keepMs, duplicateWindowMs = 15 * 60_000, owners = [NO_OWNER] } = options;
  const names = new Names(namespace);
  const manager = await jetstreamManager(connection);
  const kept: KeptReplicas[] = [];
  const keepReplicas = ({ config: { name, num_replicas: has } }: StreamInfo): number => {
    const number = replicasOf(has, options);
    if (number > replicas) kept.push({ stream: name, has, wanted: options.replicas });
    return number;
  };

  const existing = await findStream(manager, names.stream);
  if (existing) requireReleasedStream(existing);
  const maxAge = keepMs === undefined ? (existing?.config.max_age ?? nanos(7 * DAY)) : nanos(keepMs);
  const window = nanos(duplicateWindowMs);
  const settings = {
    subjects: [names.event('>')],
    max_age: maxAge,
    // 0: messages are kept without limit.
    duplicate_window: maxAge === 0 ? window : Math.min(window, maxAge),
  };
  if (existing) await manager.streams.update(names.stream, { ...settings, num_replicas: keepReplicas(existing) });
  else
    await manager.streams.add({
      name: names.stream,
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      description: MADE_BY_RELEASE,
      ...settings,
      num_replicas: replicas,
    });
  const buckets = new Kvm(jetstream(connection));
  for (const owner of owners) {
    const bucket = await findStream(manager, `KV_${names.bucket(owner)}`);
    if (bucket) {
      const { name, num_replicas: has } = bucket.config;
      const number = keepReplicas(bucket);
      if (number !== has) await manager.streams.update(name, { num_replicas: number });
    } else
      // No direct reads: their replies are stored messages verbatim, and go to whatever subject the reader names.
      await buckets.create(names.bucket(owner), {
        history: 1,
        storage: StorageType.File,
        replicas,
        allow_direct: false,
      });
  }
  return kept;
};

/** @throws UnreleasedData; a feed that does not exist is none */
export const requireReleasedFeed = async (connection: NatsConnection, namespace = DEFAULT_NAMESPACE): Promise<void> => {
  const found = await findStream(await jetstreamManager(connection), new Names(namespace).stream);
  if (found) requireReleasedStream(found);
};

const findStream = async (manager: JetStreamManager, name: string): Promise<StreamInfo | undefined> => {
  try {
    return await manager.streams.info(name);
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) return undefined;
    throw error;
  }
};
