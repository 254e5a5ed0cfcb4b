import type { LoadOptions, Streams } from '@attestry/event-store';
import { RecentStates } from '../../reading/recent-states/recent-states.js';
import { CurrentConfigurations } from './current-configurations.js';

/** The streams of a process that has the state `cached` in memory while the store has `stored`. */
const processWith = (cached: string | undefined, stored: string) => {
  const clock = { now: () => new Date(at) };
  let at = Date.parse('2026-05-01T10:00:00Z');
  const loads: string[] = [];
  const load = async (_aggregate: object, _stream: string, options: LoadOptions = {}) => {
    const isCached = options.cached === true && cached !== undefined;
    loads.push(isCached ? 'cached' : 'stored');
    return { state: { status: isCached ? cached : stored }, ...(isCached && { cached: true }) };
  };
  const configurations = new CurrentConfigurations(new RecentStates({ load } as unknown as Streams, clock));
  /** Status of what is found after these milliseconds, and which states were loaded for it. */
  const find = async (afterMs: number) => {
    at += afterMs;
    loads.length = 0;
    const found = await configurations.find('t1', 'c1');
    return [found?.status, ...loads];
  };
  return find;
};

describe('the configurations of the wallet endpoints', () => {
  it('are taken from memory for less than a second after they were read', async () => {
    const find = processWith('active', 'active');
    expect(await find(0)).toEqual(['active', 'stored']);
    expect(await find(999)).toEqual(['active', 'cached']);
    expect(await find(1)).toEqual(['active', 'stored']);
    expect(await find(1000)).toEqual(['active', 'stored']);
  });

  it('are read again a second after the last read, however often they are used', async () => {
    const find = processWith('active', 'deleted');
    expect(await find(0)).toEqual([undefined, 'stored']);
    expect(await find(600)).toEqual(['active', 'cached']);
    expect(await find(600)).toEqual([undefined, 'stored']);
  });

  it('are never refused on a state from memory', async () => {
    const find = processWith('absent', 'active');
    expect(await find(0)).toEqual(['active', 'stored']);
    expect(await find(1)).toEqual(['active', 'cached', 'stored']);
    expect(await find(999)).toEqual(['active', 'cached', 'stored']);
  });

  it('are not loaded twice when the store has none', async () => {
    const find = processWith(undefined, 'absent');
    expect(await find(0)).toEqual([undefined, 'stored']);
    expect(await find(1)).toEqual([undefined, 'stored']);
  });
});
