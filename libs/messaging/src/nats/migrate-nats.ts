import {
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  JetStreamApiCodes,
  JetStreamApiError,
} from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { nanos, type NatsConnection } from '@nats-io/transport-node';
import { DEFAULT_NAMESPACE, Names, NO_OWNER } from './names.js';

export interface NatsFeedOptions {
  /** Replicas of stream and buckets in a cluster. Default 1. */
  replicas?: number;
  /** Messages older than this are deleted, whether or not they were consumed, milliseconds. Default 7 days. */
  keepMs?: number;
  /** Owners whose consumers get a bucket: the first part of their names. Default: those without one. */
  owners?: readonly string[];
  /** How long ids are deduplicated, milliseconds. Default 15 minutes. */
  duplicateWindowMs?: number;
}

const DAY = 86_400_000;

/**
 * Creates the stream and the buckets, or updates their settings; stored data is kept. It may run twice and in several processes
 * concurrently: the server accepts an equal request for an existing object.
 */
export const migrateNats = async (
  connection: NatsConnection,
  namespace = DEFAULT_NAMESPACE,
  { replicas = 1, keepMs = 7 * DAY, duplicateWindowMs = 15 * 60_000, owners = [NO_OWNER] }: NatsFeedOptions = {},
): Promise<void> => {
  const names = new Names(namespace);
  const manager = await jetstreamManager(connection);
  const settings = {
    subjects: [names.event('>')],
    max_age: nanos(keepMs),
    duplicate_window: nanos(Math.min(duplicateWindowMs, keepMs)),
    num_replicas: replicas,
  };
  try {
    await manager.streams.info(names.stream);
    await manager.streams.update(names.stream, settings);
  } catch (error) {
    if (!(error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound)) throw error;
    await manager.streams.add({
      name: names.stream,
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      ...settings,
    });
  }
  const buckets = new Kvm(jetstream(connection));
  // No direct reads: their replies are stored messages verbatim, and go to whatever subject the reader names.
  for (const owner of owners)
    await buckets.create(names.bucket(owner), {
      history: 1,
      storage: StorageType.File,
      replicas,
      allow_direct: false,
    });
};
