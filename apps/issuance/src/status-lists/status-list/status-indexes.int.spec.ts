/** @engines embedded postgres */
import { setImmediate } from 'node:timers/promises';
import { EventStoreUnavailable, type EventStore } from '@attestry/event-store';
import { waitUntil } from '@attestry/testing';
import fc from 'fast-check';
import { firstListId } from './first-list-id.js';
import { seriesName } from './list-series.js';
import { statusList, statusListStream } from './status-list.state.js';
import {
  firstList,
  newId,
  replica,
  seriesOf,
  service,
  startService,
  tenantOf,
  urlOf,
} from './status-lists.spec-fixture.js';

startService();

describe('indexes', () => {
  it('are given out once, by all processes together, also when requests come at once and processes end [T144]', async () => {
    const tenantId = newId();
    const series = seriesOf(tenantId, 5000);
    const seen = new Set<string>();
    const listIds = new Set<string>();
    let given = 0;
    for (let round = 0; round < 4; round++) {
      // Indexes that processes of an earlier round have claimed and not used are wasted.
      const processes = [replica(), replica(), replica()];
      const wanted = processes.flatMap((process) =>
        Array.from({ length: 60 }, (_, n) => process.allocate(tenantOf(tenantId), series, 1 + (n % 10))),
      );
      for (const { listId, uri, index } of (await Promise.all(wanted)).flat()) {
        given += 1;
        seen.add(`${listId} ${index}`);
        listIds.add(listId);
        expect(uri).toBe(`${urlOf(tenantId)}/v2/credentials/status-lists/${listId}/token`);
        expect(index).toBeLessThan(5000);
      }
    }
    expect(given).toBe(4 * 3 * 330);
    expect(seen.size).toBe(given);
    expect(listIds).toContain(firstListId(tenantId, seriesName(series)));
  }, 60_000);

  it('continue in the next list, which is opened before the last one is used up', async () => {
    const tenantId = newId();
    const series = seriesOf(tenantId, 2100);
    const first = firstListId(tenantId, seriesName(series));
    const process = replica();
    const [one] = await process.allocate(tenantOf(tenantId), series, 1);
    expect(one!.listId).toBe(first);
    const { state } = await service.engines.streams.load(statusList, statusListStream(tenantId, first));
    if (state.status !== 'open' || state.successorId === undefined) throw new Error('no successor is named');
    const next = await service.engines.streams.load(statusList, statusListStream(tenantId, state.successorId));
    expect(next.state).toMatchObject({ status: 'open', next: 0, size: 2100 });
    const rest = await process.allocate(tenantOf(tenantId), series, 2100);
    expect(rest.slice(0, -1).every(({ listId }) => listId === first)).toBe(true);
    expect(rest.at(-1)!.listId).toBe(state.successorId);
    expect(new Set([one!, ...rest].filter(({ listId }) => listId === first).map(({ index }) => index)).size).toBe(2100);
    // A process that starts later follows the lists.
    const [later] = await replica().allocate(tenantOf(tenantId), series, 1);
    expect(later!.listId).not.toBe(first);
  });

  it('of a claim with an unknown outcome are wasted', async () => {
    const tenantId = newId();
    const series = seriesOf(tenantId);
    await replica().openSeries(tenantOf(tenantId), series);
    // The first append is stored, but its answer is lost.
    let isLost = false;
    const failing = new Proxy(service.engines.events, {
      get(store, name) {
        const value: unknown = Reflect.get(store, name, store);
        if (name !== 'append') return typeof value === 'function' ? value.bind(store) : value;
        return async (...given: Parameters<EventStore['append']>) => {
          const result = await store.append(...given);
          if (isLost) return result;
          isLost = true;
          throw new EventStoreUnavailable('the answer is lost');
        };
      },
    });
    const process = replica(failing);
    await expect(process.allocate(tenantOf(tenantId), series, 1)).rejects.toThrow(EventStoreUnavailable);
    const got = await process.allocate(tenantOf(tenantId), series, 10);
    expect(new Set(got.map(({ index }) => index)).size).toBe(10);
    const { state } = await service.engines.streams.load(statusList, statusListStream(tenantId, firstList(tenantId)));
    expect(state).toMatchObject({ next: 128 });
  });

  it('that are returned are given out again, each to one request, and those that were used never', async () => {
    const step = fc.record({ count: fc.integer({ min: 1, max: 10 }), isUsed: fc.boolean(), others: fc.nat(3) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 60, maxLength: 120 }), async (steps) => {
        const tenantId = newId();
        const process = replica();
        const used = new Set<string>();
        const held = new Set<string>();
        const request = async ({ count, isUsed, others }: (typeof steps)[number]) => {
          const statuses = await process.allocate(tenantOf(tenantId), seriesOf(tenantId, 5000), count);
          const names = statuses.map(({ listId, index }) => `${listId} ${index}`);
          for (const name of names) {
            expect(used.has(name) || held.has(name)).toBe(false);
            held.add(name);
          }
          for (let n = 0; n < others; n++) await setImmediate();
          for (const name of names) {
            held.delete(name);
            if (isUsed) used.add(name);
          }
          if (isUsed) return;
          process.giveBack(statuses);
          // There is nothing left to return twice.
          expect(statuses).toEqual([]);
          process.giveBack(statuses);
        };
        for (let at = 0; at < steps.length; at += 4) await Promise.all(steps.slice(at, at + 4).map(request));
      }),
      { numRuns: 10 },
    );
  });

  it('of which some were taken are returned when the claim of the others fails', async () => {
    const tenantId = newId();
    const series = seriesOf(tenantId);
    let isFailing = false;
    const failing = new Proxy(service.engines.events, {
      get(store, name) {
        const value: unknown = Reflect.get(store, name, store);
        if (name === 'append' && isFailing) throw new EventStoreUnavailable('it is away');
        return typeof value === 'function' ? (value.bind(store) as unknown) : value;
      },
    });
    const process = replica(failing);
    const first = await process.allocate(tenantOf(tenantId), series, 20);
    isFailing = true;
    for (let n = 0; n < 3; n++)
      await expect(process.allocate(tenantOf(tenantId), series, 50)).rejects.toThrow(EventStoreUnavailable);
    const rest = await process.allocate(tenantOf(tenantId), series, 44);
    expect(new Set([...first, ...rest].map(({ index }) => index)).size).toBe(64);
  });

  it('are claimed ahead, so that later requests append nothing', async () => {
    const tenantId = newId();
    const series = seriesOf(tenantId);
    const process = replica();
    const revision = async () =>
      (await service.engines.streams.load(statusList, statusListStream(tenantId, firstList(tenantId)))).revision;
    await process.allocate(tenantOf(tenantId), series, 31);
    // Opened, and one block claimed.
    expect(await revision()).toBe(1);
    await process.allocate(tenantOf(tenantId), series, 1);
    await waitUntil(async () => (await revision()) === 2, { what: 'the next block' });
    await process.allocate(tenantOf(tenantId), series, 32);
    expect(await revision()).toBe(2);
  });
});
