import { cacheName, KeyCache } from './key-cache.js';

/** Reads that end when they are told to. */
const reads = () => {
  const pending: { resolve: (value: object) => void; reject: (error: Error) => void }[] = [];
  const read = () => new Promise<object>((resolve, reject) => pending.push({ resolve, reject }));
  return { pending, read };
};
const [one, two] = [{ n: 1 }, { n: 2 }];

describe('a cache of keys', () => {
  it('reads a key once, for all that request it meanwhile or later', async () => {
    const cache = new KeyCache<object>({ max: 10 });
    const { pending, read } = reads();
    const requested = [cache.loadOnce('a', read), cache.loadOnce('a', read)];
    pending[0]!.resolve(one);
    expect(await Promise.all(requested)).toEqual([one, one]);
    expect(await cache.loadOnce('a', read)).toBe(one);
    expect(pending).toHaveLength(1);
  });

  it('reads again what it had no room for', async () => {
    const cache = new KeyCache<object>({ max: 1 });
    expect(await cache.loadOnce('a', async () => one)).toBe(one);
    await cache.loadOnce('b', async () => one);
    expect(await cache.loadOnce('a', async () => two)).toBe(two);
  });

  it('passes on that a read failed, and reads again', async () => {
    const cache = new KeyCache<object>({ max: 10 });
    await expect(cache.loadOnce('a', () => Promise.reject(new Error('lost')))).rejects.toThrow('lost');
    expect(await cache.loadOnce('a', async () => one)).toBe(one);
  });

  it.each([
    ['succeeds', (read: ReturnType<typeof reads>['pending'][number]) => read.resolve(one)],
    ['fails', (read: ReturnType<typeof reads>['pending'][number]) => read.reject(new Error('lost'))],
  ])('does not keep what was evicted while it was read, when that read %s', async (_how, end) => {
    const cache = new KeyCache<object>({ max: 10 });
    const { pending, read } = reads();
    const first = cache.loadOnce('a', read);
    cache.evict('a');
    const second = cache.loadOnce('a', read);
    end(pending[0]!);
    await Promise.allSettled([first]);
    expect(cache.get('a')).toBeUndefined();
    // The second read is still shared.
    const third = cache.loadOnce('a', read);
    expect(pending).toHaveLength(2);
    pending[1]!.resolve(two);
    expect(await Promise.all([second, third])).toEqual([two, two]);
    expect(cache.get('a')).toBe(two);
  });

  it('evicts all keys of a prefix, those being read included, and no other', async () => {
    const cache = new KeyCache<object>({ max: 10 });
    const { pending, read } = reads();
    for (const at of ['a1', 'b1']) cache.set(at, one);
    const being = ['a2', 'b2'].map((at) => cache.loadOnce(at, read));
    cache.evictPrefix('a');
    for (const { resolve } of pending) resolve(one);
    await Promise.all(being);
    expect([...cache.keys()].sort()).toEqual(['b1', 'b2']);
  });

  it('has different names for different lists of parts', () => {
    expect(cacheName('a', 'bc')).not.toBe(cacheName('ab', 'c'));
    expect(cacheName('ab', 'c').startsWith(cacheName('a', ''))).toBe(false);
    expect(cacheName('a', 'c').startsWith(cacheName('a', ''))).toBe(true);
  });
});
