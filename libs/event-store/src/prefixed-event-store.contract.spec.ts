import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '@attestry/testing';
import { anEvent } from './testing.js';
import { EmbeddedEventStore } from './embedded/embedded-event-store.js';
import { describeEventStore } from './event-store.contract.js';
import { NO_STREAM, WrongExpectedRevision, type NewEvent, type RecordedEvent } from './event-store.js';
import { PrefixedEventStore } from './prefixed-event-store.js';

const folderOf = () => mkdtemp(join(tmpdir(), 'attestry-prefixed-'));

describeEventStore('embedded, with a prefix', async () => {
  const folder = await folderOf();
  const open = () => EmbeddedEventStore.openFile({ file: join(folder, 'events.db') });
  let inner = await open();
  const under = () => ({ store: new PrefixedEventStore(inner, 'one'), leases: inner.leases });
  return {
    ...under(),
    async reopen() {
      await inner.close();
      inner = await open();
      return under();
    },
    async close() {
      await inner.close();
      await rm(folder, { recursive: true });
    },
  };
});

describe('platforms that share an event store by prefix', () => {
  const event = (n: number): NewEvent => anEvent({ data: { n } });

  it("do not see each other's events under the same names", async () => {
    const folder = await folderOf();
    const inner = await EmbeddedEventStore.openFile({ file: join(folder, 'events.db') });
    const [one, other] = [new PrefixedEventStore(inner, 'one'), new PrefixedEventStore(inner, 'on')];
    const heard: RecordedEvent[] = [];
    const subscription = one.subscribe(
      {},
      { onEvents: async (events) => void heard.push(...events), onDropped: () => undefined },
    );
    await one.append('thing-1', [event(1)], NO_STREAM);
    await other.append('thing-1', [event(2), event(3)], NO_STREAM);
    await one.append('thing-1', [event(4)], 0);
    const numbers = (events: RecordedEvent[]) => events.map(({ data }) => (data as { n: number }).n);
    expect(numbers(await one.readStream('thing-1'))).toEqual([1, 4]);
    expect(numbers(await other.readStream('thing-1'))).toEqual([2, 3]);
    expect(numbers((await one.readAll({ limit: 10 })).events)).toEqual([1, 4]);
    expect(numbers((await other.readAll({ limit: 10, categories: ['thing'] })).events)).toEqual([2, 3]);
    await waitUntil(() => heard.length === 2);
    expect(heard.map(({ stream }) => stream)).toEqual(['thing-1', 'thing-1']);
    const refused = await one.append('thing-1', [event(5)], 5).catch((error: unknown) => error);
    expect(refused).toEqual(new WrongExpectedRevision('thing-1', 5, 1));
    await subscription.close();
    await inner.close();
    await rm(folder, { recursive: true });
  });
});
