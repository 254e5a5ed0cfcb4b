import { lostRecorders, type OpenRecorder } from './lost-recorders.js';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const time = (ms: number) => new Date(ms).toISOString();
const recorder = (instance: string, startedAt: number, lastSign: number, participant = 'gateway'): OpenRecorder => ({
  instance,
  participant,
  started_at: time(startedAt),
  lastSign,
});
const instances = (open: OpenRecorder[], shared?: Parameters<typeof lostRecorders>[1]) =>
  lostRecorders(open, shared).map(({ instance, nextStart }) => [instance, nextStart]);

describe('lost recorders', () => {
  const first = recorder('first', NOW - 100_000, NOW - 40_000);
  const second = recorder('second', NOW - 1000, NOW - 1000);

  it('one that was never started again is not known to be lost', () => {
    expect(instances([first])).toEqual([]);
    expect(instances([first, recorder('other', NOW, NOW, 'issuance')])).toEqual([]);
  });

  it('on a data folder: every one but the last, at once, with the start of the next', () => {
    const third = recorder('third', NOW - 500, NOW - 500);
    expect(instances([third, first, second])).toEqual([
      ['first', second.started_at],
      ['second', third.started_at],
    ]);
  });

  it('between several processes: after three signs that were missed', () => {
    const shared = { now: NOW, heldSince: NOW - 200_000 };
    expect(instances([first, second], shared)).toEqual([['first', second.started_at]]);
    expect(instances([{ ...first, lastSign: NOW - 29_999 }, second], shared)).toEqual([]);
    expect(instances([{ ...first, lastSign: NOW - 30_000 }, second], shared)).toHaveLength(1);
  });

  it('between several processes: signs that were not received because analytics was away are not missed', () => {
    expect(instances([first, second], { now: NOW, heldSince: NOW - 29_999 })).toEqual([]);
  });
});
