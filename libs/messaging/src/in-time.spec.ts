import { inTime } from './in-time.js';

describe('work with a deadline', () => {
  const late = () => new Error('late');
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

  it('has its own result or error, and leaves no timer', async () => {
    const before = timers();
    await expect(inTime(Promise.resolve(7), 60_000, late)).resolves.toBe(7);
    await expect(inTime(Promise.reject(new Error('own')), 60_000, late)).rejects.toThrow('own');
    expect(timers()).toBe(before);
  });

  it('fails at its deadline, and what it returns later is dropped', async () => {
    const work = Promise.withResolvers<number>();
    const failing = Promise.withResolvers<number>();
    const waiting = [inTime(work.promise, 5, late), inTime(failing.promise, 5, late)];
    for (const result of waiting) await expect(result).rejects.toThrow('late');
    work.resolve(7);
    failing.reject(new Error('own'));
    await new Promise(setImmediate);
  });

  it('has a deadline beyond the longest timer', async () => {
    const work = Promise.withResolvers<number>();
    const waiting = inTime(work.promise, 2 ** 40, late);
    await new Promise((resolve) => setTimeout(resolve, 10));
    work.resolve(7);
    await expect(waiting).resolves.toBe(7);
  });
});
