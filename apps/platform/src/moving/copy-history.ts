import { OPERATION_CATEGORY } from '@attestry/analytics';
import { copyEvents, type CopyCounts } from '@attestry/event-store';
import { STORED_CONTEXT_CATEGORY, storedContextsOf } from '@attestry/issuance';
import { HeldLeases } from './held-leases.js';
import { openHistory, type History } from './history.js';
import { nameOf, type HistoryKind, type StoreLocation } from './store-location.js';
import { behind, closeTarget, openTarget, PLATFORM_LEASES } from './publishers.js';
import { belongsTo } from './tenant-streams.js';
import { unreadFeed } from './unread-feed.js';

export interface CopyHistoryOptions {
  kind: HistoryKind;
  from: StoreLocation;
  to: StoreLocation;
  fromCheckpoints?: StoreLocation | undefined;
  toCheckpoints?: StoreLocation | undefined;
  tenantId?: string | undefined;
  /** The source keeps running: what it stores meanwhile is left for the next run, and the target stays closed. */
  live?: boolean | undefined;
  /** Events that the source has not published yet are never published. */
  leaveUnpublished?: boolean | undefined;
  /** Retention of operation events in EventStoreDB. */
  retentionDays: number;
  signal: AbortSignal;
  onProgress(counts: CopyCounts): void;
}

export interface CopiedHistory extends CopyCounts {
  /** False when it was interrupted, or when the source keeps running: run it again before the target is started. */
  complete: boolean;
}

/** Copies one kind of history, and ensures that none of it is published again. */
export const copyHistory = async (options: CopyHistoryOptions): Promise<CopiedHistory> => {
  const { kind, from, to, fromCheckpoints, toCheckpoints, retentionDays } = options;
  if (to.kind === 'eventstoredb' && kind === 'events' && toCheckpoints === undefined)
    throw new Error(
      'EventStoreDB stores no checkpoints: name the place where the platform will store them with --to-checkpoints',
    );
  const source = await openHistory(from, { kind, coordination: fromCheckpoints });
  try {
    const target = await openHistory(to, { kind, coordination: toCheckpoints, own: true, retentionDays });
    try {
      return await copy(source, target, options);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
};

const copy = async (source: History, target: History, options: CopyHistoryOptions): Promise<CopiedHistory> => {
  const { kind, from, to, tenantId, live = false, signal } = options;
  const ofTenant = tenantId === undefined ? undefined : belongsTo(tenantId, source.events);
  const heldAt = (history: History, location: StoreLocation) =>
    history.coordination && kind === 'events'
      ? HeldLeases.acquire(history.coordination.leases, PLATFORM_LEASES, nameOf(location))
      : undefined;
  // A folder's lock is enough, and its leases may be those of a process that was killed.
  const atSource = live || 'folder' in from ? undefined : await heldAt(source, options.fromCheckpoints ?? from);
  try {
    const atTarget = await heldAt(target, options.toCheckpoints ?? to);
    try {
      if (kind === 'events') {
        if (!live && !options.leaveUnpublished) await refuseUnpublished(source, from);
        await refuseUnreadyTarget(target, to);
        await closeTarget(target, atTarget!);
      }
      const onProgress = (counts: CopyCounts) => {
        atSource?.checkHeld();
        atTarget?.checkHeld();
        options.onProgress(counts);
      };
      let complete = false;
      try {
        const counts = await copyEvents(source.events, target.events, {
          ...(kind === 'operations' && { categories: [OPERATION_CATEGORY], discarded: 'renumber' }),
          ...(tenantId !== undefined && { tenantId }),
          wanted: async (event) => source.holds(event) && ((await ofTenant?.(event)) ?? true),
          needs: storedContextsOf,
          interchangeable: [STORED_CONTEXT_CATEGORY],
          signal,
          onProgress,
        });
        complete = !live && !signal.aborted;
        return { ...counts, complete };
      } finally {
        // A platform with other tenants must be able to start: the copied part of this tenant is never published.
        if (kind === 'events' && (complete || tenantId !== undefined)) await openTarget(target, atTarget!);
      }
    } finally {
      await atTarget?.release();
    }
  } finally {
    await atSource?.release();
  }
};

/** @throws Error naming the publishers or consumers that lag */
const refuseUnpublished = async (source: History, from: StoreLocation): Promise<void> => {
  const waiting = source.coordination ? await behind(source) : [];
  const unread = 'folder' in from ? unreadFeed(from.folder) : [];
  if (waiting.length + unread.length)
    throw new Error(
      `${nameOf(from)} has events that were not published or not consumed (${[...waiting, ...unread].join(', ')}), and the feed is not ` +
        `copied: start the platform there, wait until it is idle and stop it, or use --leave-unpublished, and they will never be published`,
    );
};

const refuseUnreadyTarget = async (target: History, to: StoreLocation): Promise<void> => {
  const { checkpoints } = target.coordination!;
  for (const { name, position } of await checkpoints.list())
    try {
      target.events.comparePositions(position, target.unreachable);
    } catch (error) {
      throw new Error(
        `the checkpoint ${name} at ${nameOf(to)} is of another kind of event store: use a separate schema or folder`,
        { cause: error },
      );
    }
  const waiting = await behind(target);
  if (waiting.length)
    throw new Error(
      `${nameOf(to)} has events that it has not published (${waiting.join(', ')}) and would not publish after the copy: ` +
        `start the platform there, wait until it is idle and stop it`,
    );
};
