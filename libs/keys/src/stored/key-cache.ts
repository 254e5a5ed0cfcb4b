import { LRUCache } from 'lru-cache';

/** Keys by name. Concurrent callers share one read of a key. */
export class KeyCache<V extends object> extends LRUCache<string, V> {
  /** Reads in progress; an eviction removes them, so that their results are not cached. */
  private readonly loading = new Map<string, Promise<V>>();

  loadOnce(at: string, read: () => Promise<V>): Promise<V> {
    const known = this.get(at);
    if (known) return Promise.resolve(known);
    const under = this.loading.get(at);
    if (under) return under;
    const loaded: Promise<V> = read().then(
      (value) => {
        if (this.loading.get(at) === loaded) {
          this.loading.delete(at);
          this.set(at, value);
        }
        return value;
      },
      (error: unknown) => {
        if (this.loading.get(at) === loaded) this.loading.delete(at);
        throw error;
      },
    );
    this.loading.set(at, loaded);
    return loaded;
  }

  evict(at: string): void {
    this.delete(at);
    this.loading.delete(at);
  }

  evictPrefix(prefix: string): void {
    for (const at of [...this.keys(), ...this.loading.keys()]) if (at.startsWith(prefix)) this.evict(at);
  }
}

/** Name of an entry. Neither tenants nor key ids contain NUL. */
export const cacheName = (...parts: readonly string[]): string => parts.join('\0');
