import type { EventLog, Position } from './event-store.js';

/**
 * A consumer is ahead of the log: events were restored from an older copy than the checkpoint. Waiting would skip the events stored next
 * under positions that the consumer has already passed.
 */
export class CheckpointBeyondHead extends Error {
  override readonly name = 'CheckpointBeyondHead';
  readonly code = 'CheckpointBeyondHead';
  constructor(
    readonly consumer: string,
    readonly checkpoint: Position,
    readonly head: Position | undefined,
    remedy: string,
  ) {
    super(
      `checkpoint ${checkpoint} of ${consumer} is beyond the head of the event store, ${head ?? 'which is empty'}: ` +
        `the events are older than the checkpoint. ${remedy}`,
    );
  }
}

/** For effects of a reaction to events that no longer exist. */
export const RESET_CHECKPOINT =
  'Set the checkpoint to the head, or restore a backup of the events that is at least as new as the checkpoint (docs/guides/operations.md, "Backup and restore")';
/** Rows of read models derive from events alone. */
export const REBUILD_READ_MODEL =
  'Delete the read models; they are rebuilt from the events (docs/guides/operations.md, "Backup and restore")';

/** @throws CheckpointBeyondHead */
export const refuseBeyondHead = (
  store: Pick<EventLog, 'isBeyond'>,
  consumer: string,
  checkpoint: Position | undefined,
  head: Position | undefined,
  remedy: string,
): void => {
  if (checkpoint !== undefined && store.isBeyond(checkpoint, head))
    throw new CheckpointBeyondHead(consumer, checkpoint, head, remedy);
};
