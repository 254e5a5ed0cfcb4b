import { type Aggregate } from '@attestry/event-store';
import { openEngines, parseConfig, Reactions, fact, serviceContext, type Engines } from '@attestry/service-kit';

type NoteEvent = { type: 'NoteTaken'; data: { id: string } };
type CopyEvent = { type: 'NoteCopied'; data: { id: string } };

export const note: Aggregate<object, NoteEvent> = {
  category: 'note',
  initial: {},
  types: { NoteTaken: 1 },
  evolve: (state) => state,
};
export const noteCopy: Aggregate<{ exists: boolean }, CopyEvent> = {
  category: 'noteCopy',
  initial: { exists: false },
  types: { NoteCopied: 1 },
  evolve: () => ({ exists: true }),
};
export const noteTaken = { name: 'test.note-taken', subject: 'event.test.note-taken' };
export const COPIER = 'dids.copy-notes';

export const openNotes = (folder: string): Promise<Engines> =>
  openEngines(parseConfig({ DATA_DIR: folder, LOG_LEVEL: 'silent', NODE_ENV: 'test' }));

export const takeNote = (engines: Engines, id: string) =>
  engines.streams.runDecision(
    note,
    `note-t1+${id}`,
    (): NoteEvent[] => [{ type: 'NoteTaken', data: { id } }],
    serviceContext('dids.take-note', 't1', id),
  );

/**
 * A publisher, and a reaction that copies each note into a stream of its own.
 * @param onBatch after the effects of each batch, before its checkpoint
 */
export const startNotes = (engines: Engines, onBatch: (reaction: 'publisher' | 'copier', ids: string[]) => void) => {
  const { bus, health, metrics, tracing, logger, events, leases, checkpoints, streams } = engines;
  const publishing = Object.assign(Object.create(bus) as typeof bus, {
    publish: async (messages: Parameters<typeof bus.publish>[0]) => {
      await bus.publish(messages);
      onBatch(
        'publisher',
        messages.filter(({ subject }) => subject === noteTaken.subject).map(({ id }) => id),
      );
    },
  });
  const reactions = new Reactions(publishing, health, metrics, tracing, logger, events, leases, checkpoints);
  reactions.publishFacts('dids', [note], ({ data }) => [fact(noteTaken, data as object)]);
  reactions.start({
    name: COPIER,
    of: [note],
    onEvents: async (batch) => {
      for (const { stream, data } of batch) {
        const { id } = data as { id: string };
        await streams.runDecision(
          noteCopy,
          stream.replace('note-', 'noteCopy-'),
          ({ exists }): CopyEvent[] => (exists ? [] : [{ type: 'NoteCopied', data: { id } }]),
          serviceContext(COPIER, 't1', id),
        );
      }
      onBatch(
        'copier',
        batch.map(({ id }) => id),
      );
    },
  });
  return reactions;
};
