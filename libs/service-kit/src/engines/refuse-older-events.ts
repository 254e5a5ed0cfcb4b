import { setTimeout as pause } from 'node:timers/promises';
import {
  CheckpointBeyondHead,
  REBUILD_READ_MODEL,
  refuseBeyondHead,
  RESET_CHECKPOINT,
  type EventLog,
  type ListedCheckpoints,
} from '@attestry/event-store';
import type { ReadModels } from '@attestry/read-model';

/** A replica of an event store may lag behind the one that returned a checkpoint. */
const PATIENCE_MS = 5000;

/**
 * A consumer that is ahead of the log has a younger copy than the events. Detected at the start, before anything is stored: once the log
 * had grown past such a checkpoint, skipped events could no longer be detected.
 *
 * @throws CheckpointBeyondHead; RangeError for a checkpoint of another kind of event store
 */
export const refuseOlderEvents = async (
  events: EventLog,
  checkpoints: Pick<ListedCheckpoints, 'list'>,
  readModels: Pick<ReadModels, 'checkpoints'>,
  patienceMs = PATIENCE_MS,
): Promise<void> => {
  for (const end = Date.now() + patienceMs; ; await pause(250)) {
    try {
      // The head last: other processes continue meanwhile.
      const [reactions, projections] = [await checkpoints.list(), await readModels.checkpoints()];
      const head = await events.head();
      for (const { name, position } of reactions) refuseBeyondHead(events, name, position, head, RESET_CHECKPOINT);
      for (const { name, position } of projections) refuseBeyondHead(events, name, position, head, REBUILD_READ_MODEL);
      return;
    } catch (error) {
      if (!(error instanceof CheckpointBeyondHead) || Date.now() >= end) throw error;
    }
  }
};
