import { setTimeout as pause } from 'node:timers/promises';
import {
  CheckpointBeyondHead,
  REBUILD_READ_MODEL,
  refuseBeyondHead,
  RESET_CHECKPOINT,
  type EventStore,
  type ListedCheckpoints,
} from '@attestry/event-store';
import type { ReadModels } from '@attestry/read-model';

/** A replica of an event store may be behind the one that told a checkpoint. */
const PATIENCE_MS = 5000;

/**
 * Whoever is further than the log came from a younger copy than the events. Found at the start, before anything is
 * stored: once the log had grown past such a checkpoint, nobody would see that events were skipped.
 *
 * @throws CheckpointBeyondHead; RangeError for a checkpoint of another kind of event store
 */
export const refuseOlderEvents = async (
  events: EventStore,
  checkpoints: Pick<ListedCheckpoints, 'list'>,
  readModels: Pick<ReadModels, 'checkpoints'>,
  patienceMs = PATIENCE_MS,
): Promise<void> => {
  for (const end = Date.now() + patienceMs; ; await pause(250)) {
    try {
      // The head last: other processes go on meanwhile.
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
