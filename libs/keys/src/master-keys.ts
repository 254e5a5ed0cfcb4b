import { MasterKeyMismatch, SealBroken } from './key-vault.js';
import type { WrappedKey } from './key-storage.js';
import { bind, openBytes, sealBytes } from './seal.js';

/** A version of MASTER_KEY: a positive whole number and 32 bytes. */
export interface MasterKey {
  version: number;
  key: Uint8Array;
}

export interface MasterKeyOptions {
  current: MasterKey;
  /** Further versions that keys may still be wrapped by. */
  previous?: readonly MasterKey[];
}

/** Bytes of the master key's version before a wrapped key. */
const VERSION = 4;

export class MasterKeys {
  private readonly byVersion = new Map<number, Uint8Array>();
  readonly current: number;

  constructor({ current, previous = [] }: MasterKeyOptions) {
    for (const { version, key } of [...previous, current]) {
      if (!Number.isInteger(version) || version < 1 || version > 0xffffffff || key.length !== 32)
        throw new MasterKeyMismatch(`a MASTER_KEY needs a version from 1 on and 32 bytes; version ${version} does not`);
      if (this.byVersion.has(version)) throw new MasterKeyMismatch(`MASTER_KEY version ${version} is given twice`);
      this.byVersion.set(version, key);
    }
    this.current = current.version;
  }

  wrap(kind: 'tenant-key' | 'pepper', id: string, key: Uint8Array): WrappedKey {
    const version = this.current;
    const sealed = sealBytes(this.byVersion.get(version)!, key, bind(kind, id, String(version)));
    const wrapped = Buffer.allocUnsafeSlow(VERSION + sealed.length);
    wrapped.writeUInt32BE(version);
    wrapped.set(sealed, VERSION);
    return { id, wrapped };
  }

  /** @throws MasterKeyMismatch */
  unwrap(kind: 'tenant-key' | 'pepper', { id, wrapped }: WrappedKey): Buffer {
    const version = versionOf(wrapped);
    const master = this.byVersion.get(version);
    if (!master)
      throw new MasterKeyMismatch(
        `the key store needs MASTER_KEY version ${version} for ${kind} ${id}, which is not given`,
      );
    try {
      return openBytes(master, wrapped.subarray(VERSION), bind(kind, id, String(version)), `${kind} ${id}`);
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error;
      throw new MasterKeyMismatch(
        `MASTER_KEY version ${version} is not the key this store was sealed with (${kind} ${id})`,
      );
    }
  }
}
export const versionOf = (wrapped: Uint8Array): number => new DataView(wrapped.buffer, wrapped.byteOffset).getUint32(0);
