import type { KeyStore } from '../stored/key-store.js';

/**
 * Checkpoints of the consumers that destroy keys. They are stored with the keys, so that a restored older copy of the key store contains
 * its older checkpoints, and keys destroyed since then are destroyed again before the process is ready (ADR 0058).
 */
export abstract class KeyCheckpoints {
  abstract read(name: string): Promise<string | undefined>;
  /**
   * Durable when it resolves. Only where `previous` is still stored, so that a writer continues what it has read: neither a former holder of the
   * lease nor a process that runs while an older copy is restored can skip a destruction.
   * @returns whether it was
   */
  abstract write(name: string, position: string, previous: string | undefined): Promise<boolean>;
}

/** KeyCheckpoints in the store of the keys. */
export class StoredKeyCheckpoints extends KeyCheckpoints {
  constructor(private readonly store: KeyStore) {
    super();
  }

  read(name: string): Promise<string | undefined> {
    return this.store.call('checkpoint', name);
  }

  write(name: string, position: string, previous: string | undefined): Promise<boolean> {
    return this.store.call('setCheckpoint', { name, position, previous });
  }
}
