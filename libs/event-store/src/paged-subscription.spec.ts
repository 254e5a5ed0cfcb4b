import { jest } from '@jest/globals';
import type { AllPage, ReadAllOptions } from './event-store.js';
import { PagedSubscription } from './paged-subscription.js';

describe('a subscription that reads pages', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] }));
  afterEach(() => void jest.useRealTimers());
  const following = (categories?: string[]) => {
    const reads: (string | undefined)[] = [];
    const reported: string[] = [];
    let head = '10';
    const store = {
      readAll: async ({ after }: ReadAllOptions): Promise<AllPage> => {
        reads.push(after);
        return { events: [], next: head, atEnd: true };
      },
    };
    const subscription = new PagedSubscription(
      store,
      { after: 0, categories },
      {
        onEvents: async (_, next) => void reported.push(next),
        onDropped: (error) => {
          throw error;
        },
      },
      () => undefined,
    );
    const settled = async () => {
      for (let tick = 0; tick < 20; tick++) await Promise.resolve();
    };
    const wake = () => {
      subscription.wake();
      return settled();
    };
    const appended = (to: number, ...args: Parameters<PagedSubscription['appended']>) => {
      head = String(to);
      subscription.appended(...args);
      return settled();
    };
    return { reads, reported, wake, appended };
  };

  it('skips events of other categories without reading them, also over gaps between positions', async () => {
    const { reads, reported, wake, appended } = following(['mine']);
    await wake();
    await appended(15, ['other', 'another'], 10, 15);
    await jest.advanceTimersByTimeAsync(50);
    await appended(30, ['other'], 15, 30);
    expect([reads, reported]).toEqual([[undefined], ['10', '15', '30']]);
    await appended(31, ['other', 'mine'], 30, 31);
    expect([reads, reported.at(-1)]).toEqual([[undefined, '30'], '31']);
  });

  it('reports positions of other categories at most every 50 ms, and with the next event', async () => {
    const { reported, wake, appended } = following(['mine']);
    await wake();
    await appended(11, ['other'], 10, 11);
    await appended(12, ['other'], 11, 12);
    await appended(13, ['other'], 12, 13);
    expect(reported).toEqual(['10', '11']);
    await jest.advanceTimersByTimeAsync(49);
    expect(reported).toEqual(['10', '11']);
    await jest.advanceTimersByTimeAsync(1);
    expect(reported).toEqual(['10', '11', '13']);
    await appended(14, ['other'], 13, 14);
    await appended(15, ['mine'], 14, 15);
    expect(reported).toEqual(['10', '11', '13', '15']);
    await jest.advanceTimersByTimeAsync(100);
    expect(reported).toEqual(['10', '11', '13', '15']);
  });

  it('reads when there may be events in between, or when it subscribes to every category', async () => {
    const one = following(['mine']);
    await one.wake();
    await one.appended(20, ['other'], 15, 20);
    expect(one.reads).toEqual([undefined, '10']);
    const all = following();
    await all.wake();
    await all.appended(11, ['other'], 10, 11);
    expect(all.reads).toEqual([undefined, '10']);
  });

  it('is not moved back by notifications of events that it has read', async () => {
    const { reads, reported, wake, appended } = following(['mine']);
    await wake();
    await appended(10, ['other'], 3, 7);
    expect([reads, reported]).toEqual([[undefined], ['10']]);
  });
});
