import { MasterKeyMismatch, SealBroken } from '../vault/key-vault.js';
import type { WrappedKey } from './key-store.js';
import { bind, openBytes, sealBytes } from './seal.js';

/** A version of MASTER_KEY: a positive whole number and 32 bytes. */
export interface MasterKey {
  version: number;
  key: Uint8Array;
}

/**
 * The versions of MASTER_KEY a vault may use: keys wrapped by a `previous` one are rewrapped when it opens, a `next` one is only used to
 * read.
 */
export interface MasterKeysGiven {
  current: MasterKey;
  previous?: readonly MasterKey[];
  next?: readonly MasterKey[];
}

/** Bytes of the master key's version before a wrapped key. */
const VERSION = 4;

export type WrappedKind = 'tenant-key' | 'pepper';

/** Wraps and unwraps tenant keys and peppers. */
export class MasterKeys {
  private readonly byVersion = new Map<number, Uint8Array>();
  readonly current: number;

  constructor({ current, previous = [], next = [] }: MasterKeysGiven) {
    for (const { version, key } of [...previous, current, ...next]) {
      if (!Number.isInteger(version) || version < 1 || version > 0xffffffff || key.length !== 32)
        throw new MasterKeyMismatch(
          `a MASTER_KEY must have 32 bytes and a version of at least 1; version ${version} does not`,
        );
      if (this.byVersion.has(version)) throw new MasterKeyMismatch(`MASTER_KEY version ${version} is set twice`);
      this.byVersion.set(version, key);
    }
    this.current = current.version;
  }

  wrap(kind: WrappedKind, id: string, key: Uint8Array): WrappedKey {
    const version = this.current;
    const sealed = sealBytes(this.byVersion.get(version)!, key, bind(kind, id, String(version)));
    const wrapped = Buffer.allocUnsafeSlow(VERSION + sealed.length);
    wrapped.writeUInt32BE(version);
    wrapped.set(sealed, VERSION);
    return { id, wrapped };
  }

  /** @throws MasterKeyMismatch when the version was not given */
  mustKnow(kind: WrappedKind, { id, wrapped }: WrappedKey): void {
    const version = versionOf(wrapped);
    if (!this.byVersion.has(version))
      throw new MasterKeyMismatch(
        `the key store needs MASTER_KEY version ${version} for ${kind} ${id}, which is not set`,
      );
  }

  /** @throws MasterKeyMismatch */
  unwrap(kind: WrappedKind, { id, wrapped }: WrappedKey): Buffer {
    const version = versionOf(wrapped);
    this.mustKnow(kind, { id, wrapped });
    try {
      return openBytes(
        this.byVersion.get(version)!,
        wrapped.subarray(VERSION),
        bind(kind, id, String(version)),
        `${kind} ${id}`,
      );
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error;
      throw new MasterKeyMismatch(
        `MASTER_KEY version ${version} is not the key that this store was encrypted with (${kind} ${id})`,
      );
    }
  }
}

/** Version of the master key that wrapped it. */
export const versionOf = (wrapped: Uint8Array): number => new DataView(wrapped.buffer, wrapped.byteOffset).getUint32(0);
