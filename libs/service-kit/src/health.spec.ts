import { Health } from './health.js';

describe('readiness', () => {
  const readiness = (of: { healthy: boolean; caughtUp: boolean; error?: string }) => {
    const health = new Health();
    health.follow('dids.lists', () => of);
    return health.report();
  };

  it.each([
    ['catches up', { healthy: true, caughtUp: false }, false],
    ['has caught up', { healthy: true, caughtUp: true }, true],
    ['waits for a newer release after it caught up', { healthy: true, caughtUp: true, error: 'unknown type' }, true],
    ['waits for a newer release before it caught up', { healthy: true, caughtUp: false, error: 'unknown type' }, false],
    ['fails', { healthy: false, caughtUp: true, error: 'disk full' }, false],
  ])('of what %s', (_what, follower, ready) => {
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

  it('accepts a name once', () => {
    const health = new Health();
    health.register('a', () => []);
    expect(() => health.follow('a', () => ({ healthy: true, caughtUp: true }))).toThrow('a is registered twice');
  });
});
