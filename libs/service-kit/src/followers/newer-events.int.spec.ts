import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Aggregate, CheckpointedSubscription, Vocabulary } from '@attestry/event-store';
import { waitUntil } from '@attestry/testing';
import { note, noteTaken, openNotes, takeNote } from '@attestry/testing/services';
import type { Engines } from '../engines/engines.js';
import { serviceContext } from '../operations/event-context.js';
import { Health } from '../process/health.js';
import { fact, Reactions } from './reactions.js';

type SignedEvent = { type: 'NoteSigned'; data: { id: string } };

/** The same aggregate in the next release, which appends one more type. */
const newerNote: Aggregate<object, SignedEvent> & Vocabulary = {
  category: note.category,
  initial: {},
  types: { ...note.types, NoteSigned: 1 },
  evolve: (state) => state,
};
const noteSigned = { name: 'test.note-signed', subject: 'event.test.note-signed' };

describe('an event of a newer release', () => {
  let folder: string;
  let engines: Engines;
  const opened: Reactions[] = [];
  const published: { id: string; subject: string }[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-newer-events-'));
    engines = await openNotes(folder);
    published.length = 0;
    engines.bus.consume({ name: 'test', subjects: [noteTaken.subject, noteSigned.subject] }, async (messages) => {
      published.push(...messages.map(({ id, subject }) => ({ id, subject })));
    });
  });
  afterEach(async () => {
    for (const reactions of opened.splice(0)) await reactions.beforeApplicationShutdown();
    await engines.close();
    await rm(folder, { recursive: true });
  });

  /** The publisher of a process of either release. */
  const startPublisher = (of: Vocabulary): CheckpointedSubscription => {
    const { bus, metrics, tracing, logger, events, leases, checkpoints } = engines;
    const reactions = new Reactions(bus, new Health(), metrics, tracing, logger, events, leases, checkpoints);
    opened.push(reactions);
    return reactions.publishFacts('dids', [of], ({ type, data }) => [
      fact(type === 'NoteSigned' ? noteSigned : noteTaken, data as object),
    ]);
  };
  const signNote = (id: string) =>
    engines.streams.runDecision(
      newerNote,
      `note-t1+${id}`,
      (): SignedEvent[] => [{ type: 'NoteSigned', data: { id } }],
      serviceContext('dids.sign-note', 't1', id),
    );
  const stored = async () => (await engines.events.readAll({ categories: [note.category], limit: 1000 })).events;

  it('is published once, by a process that reads it, and what follows it is not skipped', async () => {
    const older = startPublisher(note);
    await takeNote(engines, 'first');
    await waitUntil(() => published.length === 1, { what: 'the note' });
    const newer = startPublisher(newerNote);
    // The lease is with the older one, which meets the event first.
    for (const id of ['second', 'third']) {
      await signNote(id);
      await takeNote(engines, `${id}-again`);
    }
    const events = await stored();
    await waitUntil(() => published.length >= events.length, { what: 'everything to be published' });
    expect(published).toEqual(
      events.map(({ id, type }) => ({ id, subject: type === 'NoteSigned' ? noteSigned.subject : noteTaken.subject })),
    );
    expect([older.health.healthy, newer.health.healthy]).toEqual([true, true]);
  });

  it('waits while no process reads it, without a fault, and nothing behind it is published', async () => {
    const older = startPublisher(note);
    await takeNote(engines, 'first');
    await signNote('second');
    await takeNote(engines, 'third');
    await waitUntil(() => older.health.error !== undefined, { what: 'the publisher to wait' });
    expect(older.health).toMatchObject({ healthy: true, error: expect.stringContaining('NoteSigned v1') });
    expect(published.length).toBeLessThanOrEqual(1);
    startPublisher(newerNote);
    const events = await stored();
    await waitUntil(() => published.length >= 3, { what: 'everything to be published' });
    expect(published.map(({ id }) => id)).toEqual(events.map(({ id }) => id));
  });
});
