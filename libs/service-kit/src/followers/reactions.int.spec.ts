import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RecordedEvent } from '@attestry/event-store';
import { repository, waitUntil } from '@attestry/testing';
import { COPIER, note, noteCopy, noteTaken, openNotes, startNotes } from '@attestry/testing/services';
import { publisherOf, type Reactions } from './reactions.js';
import type { Engines } from '../engines/engines.js';

const PROGRAM = join(repository, 'libs/testing/dist/killed-reactions-program.js');
/** Enough for several batches after the first, with which the checkpoint is stored. */
const BATCHES = 12;

describe.each(['publisher', 'copier'] as const)(
  'after kill -9 between the effects of the %s and its checkpoint',
  (name) => {
    const checkpointName = name === 'publisher' ? publisherOf('dids') : COPIER;
    let folder: string;
    let engines: Engines;
    let reactions: Reactions;
    let notes: RecordedEvent[];
    const repeated: string[] = [];
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'attestry-reactions-'));
      const signal = await new Promise<string | undefined>((resolve) =>
        execFile(process.execPath, ['--no-warnings', PROGRAM, folder, name, String(BATCHES)], (error) =>
          resolve(error?.signal ?? error?.message),
        ),
      );
      expect(signal).toBe('SIGKILL');
      engines = await openNotes(folder);
      notes = (await engines.events.readAll({ categories: [note.category], limit: 1000 })).events;
    }, 30_000);
    afterAll(async () => {
      await reactions?.beforeApplicationShutdown();
      await engines?.close();
      await rm(folder, { recursive: true });
    });

    it('repeats the batches of at most the last second', async () => {
      const checkpoint = await engines.checkpoints.read(checkpointName);
      const unstored = notes.filter(({ position }) => Number(position) > Number(checkpoint));
      expect(unstored.length).toBeGreaterThan(BATCHES / 2);
      const [oldest, newest] = [unstored[0]!, unstored.at(-1)!].map((event) => Date.parse(event.metadata.occurredAt));
      expect(newest! - oldest!).toBeLessThan(2000);
      reactions = startNotes(engines, (reaction, ids) => void (reaction === name && repeated.push(...ids)));
      await waitUntil(() => repeated.at(-1) === notes.at(-1)!.id, { what: 'the last note' });
      expect(repeated).toEqual(unstored.map(({ id }) => id));
    });

    it('has every effect once', async () => {
      const published: string[] = [];
      engines.bus.consume({ name: 'test', subjects: [noteTaken.subject] }, async (messages) => {
        published.push(...messages.map(({ id }) => id));
      });
      const copied = async () =>
        (await engines.events.readAll({ categories: [noteCopy.category], limit: 1000 })).events;
      await waitUntil(async () => published.length >= notes.length && (await copied()).length >= notes.length, {
        what: 'all effects',
      });
      expect(published).toEqual(notes.map(({ id }) => id));
      expect((await copied()).map(({ data }) => data)).toEqual(notes.map(({ data }) => data));
    });
  },
);
