import { setTimeout as pause } from 'node:timers/promises';
import { Health } from './health.js';

describe('readiness', () => {
  const readiness = (of: { healthy: boolean; caughtUp: boolean; error?: string }) => {
    const health = new Health();
    health.follow('dids.lists', () => of);
    return health.report();
  };

  it.each([
    [false, 'is catching up', { healthy: true, caughtUp: false }],
    [true, 'has caught up', { healthy: true, caughtUp: true }],
    [true, 'waits for a newer release after it caught up', { healthy: true, caughtUp: true, error: 'unknown type' }],
    [false, 'waits for a newer release before it caught up', { healthy: true, caughtUp: false, error: 'unknown type' }],
    [false, 'has failed', { healthy: false, caughtUp: true, error: 'disk full' }],
  ])('is %j while a follower %s', (ready, _what, follower) => {
    const { healthy, caughtUp, ...error } = follower;
    const check = { name: 'dids.lists', healthy, starting: !caughtUp, ...error };
    expect(readiness(follower)).toEqual({ ready, checks: [check] });
  });

  it('ends with the process', () => {
    const health = new Health();
    expect(health.report().ready).toBe(true);
    health.close();
    expect(health.report().ready).toBe(false);
  });

  it('is waited for until every check is ready', async () => {
    const health = new Health();
    const follower = { healthy: true, caughtUp: false };
    health.follow('dids.lists', () => follower);
    let isReady = false;
    const ready = health.untilReady(60_000, 1).then(() => (isReady = true));
    await pause(20);
    expect(isReady).toBe(false);
    follower.caughtUp = true;
    await ready;
    expect(health.report().ready).toBe(true);
    follower.caughtUp = false;
    await health.untilReady(20, 1);
    expect(health.report().ready).toBe(false);
  });

  it('accepts a name once', () => {
    const health = new Health();
    health.register('a', () => []);
    expect(() => health.follow('a', () => ({ healthy: true, caughtUp: true }))).toThrow('a is registered twice');
  });
});
