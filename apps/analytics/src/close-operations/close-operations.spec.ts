import { CloseOperations } from './close-operations.worker.js';

const START = Date.parse('2026-11-21T10:00:00.000Z');
const time = (ms: number) => new Date(START + ms).toISOString();

/** Two gateways that run at once; the signs of the first one are missing. */
const sweepOfSharedFeed = () => {
  const state = { now: 0, lastSign: 0, isReachable: true, onUpToDate: () => {} };
  const reported: string[] = [];
  const rows = [
    { instance: 'first', participant: 'gateway', started_at: time(-2000), seen_at: time(0) },
    { instance: 'second', participant: 'gateway', started_at: time(-1000), seen_at: time(0) },
  ];
  const worker = new CloseOperations(
    {
      overdue: async () => [],
      nextDeadline: async () => undefined,
      discardBefore: async () => {},
      recorders: async () => rows.filter(({ instance }) => !reported.includes(instance)),
      running: { waitForHead: async () => true, progress: async () => String(reported.length) },
    } as never,
    {
      waitFor: async () => {
        state.onUpToDate();
        return state.isReachable;
      },
      lastSignOf: () => START + state.lastSign,
      append: async (events: { requestId: string }[]) =>
        void reported.push(...events.map(({ requestId }) => requestId)),
    } as never,
    { head: async () => '1' } as never,
    { hasDataFolder: false, operationEventsDays: 30 } as never,
    { counter: () => ({ inc: () => {} }) } as never,
    { now: () => new Date(START + state.now) },
    { warn: () => {} } as never,
  );
  const sweepAt = async (ms: number) => {
    state.now = ms;
    await worker['sweep']();
    return reported;
  };
  return { state, sweepAt };
};

describe('recorders of several processes', () => {
  it('without signs for 30 s are reported as lost', async () => {
    const { sweepAt } = sweepOfSharedFeed();
    expect(await sweepAt(0)).toEqual([]);
    expect(await sweepAt(29_000)).toEqual([]);
    expect(await sweepAt(30_000)).toEqual(['first']);
  });

  it('are not lost when their signs were on their way', async () => {
    const { state, sweepAt } = sweepOfSharedFeed();
    await sweepAt(0);
    state.onUpToDate = () => (state.lastSign = 39_000);
    expect(await sweepAt(40_000)).toEqual([]);
  });

  it('are not lost because the feed could not be read', async () => {
    const { state, sweepAt } = sweepOfSharedFeed();
    await sweepAt(0);
    state.isReachable = false;
    await sweepAt(30_000);
    state.isReachable = true;
    expect(await sweepAt(31_000)).toEqual([]);
    expect(await sweepAt(60_000)).toEqual([]);
    expect(await sweepAt(61_000)).toEqual(['first']);
  });
});
