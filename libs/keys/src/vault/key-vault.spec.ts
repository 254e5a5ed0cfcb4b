import {
  KeyAlreadyExists,
  KeyNotFound,
  KeyVaultUnavailable,
  MasterKeyMismatch,
  ReplayGuardUnavailable,
  SealBroken,
} from './key-vault.js';
import { MasterKeys, type MasterKeysGiven } from '../stored/master-keys.js';
import { ERASED, isErased } from './sealing.js';
import { StoredExpiringState } from '../stored/stored-expiring-state.js';

describe('an error of the key vault', () => {
  it.each([
    [new KeyNotFound('k1'), 'KeyNotFound: no key k1'],
    [new KeyAlreadyExists('k1'), 'KeyAlreadyExists: key k1 exists already'],
    [new SealBroken('a value'), 'SealBroken: the seal of a value is broken'],
    [new MasterKeyMismatch('x'), 'MasterKeyMismatch: x'],
    [new ReplayGuardUnavailable('x'), 'ReplayGuardUnavailable: x'],
    [new KeyVaultUnavailable('x'), 'KeyVaultUnavailable: x'],
  ])('has its name in logs: %s', (error, text) => expect(String(error)).toBe(text));
});

describe('the master keys', () => {
  const key = (version: number, bytes = 32, fill = version) => ({ version, key: new Uint8Array(bytes).fill(fill) });
  const faultOf = (given: MasterKeysGiven) => {
    try {
      return new MasterKeys(given);
    } catch (error) {
      return String(error);
    }
  };

  it.each([
    [0, 32],
    [1.5, 32],
    [2 ** 32, 32],
    [1, 31],
    [1, 33],
  ])('are refused: version %d, %d bytes', (version, bytes) => {
    const fault = `MasterKeyMismatch: a MASTER_KEY must have 32 bytes and a version of at least 1; version ${version} does not`;
    expect(faultOf({ current: key(version, bytes) })).toBe(fault);
    for (const others of ['previous', 'next'] as const)
      expect(faultOf({ current: key(7), [others]: [key(version, bytes)] })).toBe(fault);
  });

  it('may have the largest version that can be stored', () => {
    expect(new MasterKeys({ current: key(2 ** 32 - 1, 32, 1) }).current).toBe(2 ** 32 - 1);
  });

  it('have each version once', () => {
    for (const others of ['previous', 'next'] as const)
      expect(faultOf({ current: key(2), [others]: [key(2)] })).toBe(
        'MasterKeyMismatch: MASTER_KEY version 2 is set twice',
      );
  });

  it('unwrap what they wrapped, of the same kind and id', () => {
    const keys = new MasterKeys({ current: key(1) });
    const wrapped = keys.wrap('pepper', 'p1', key(5).key);
    expect(keys.unwrap('pepper', wrapped).equals(key(5).key)).toBe(true);
    const mismatch = /^MASTER_KEY version 1 is not the key that this store was encrypted with \(/;
    expect(() => keys.unwrap('tenant-key', wrapped)).toThrow(mismatch);
    expect(() => keys.unwrap('pepper', { ...wrapped, id: 'p2' })).toThrow(mismatch);
    const other = new MasterKeys({ current: { version: 1, key: key(9).key } });
    expect(() => other.unwrap('pepper', wrapped)).toThrow(
      'MASTER_KEY version 1 is not the key that this store was encrypted with (pepper p1)',
    );
    expect(() => new MasterKeys({ current: key(2) }).unwrap('pepper', wrapped)).toThrow(
      'the key store needs MASTER_KEY version 1 for pepper p1, which is not set',
    );
  });
});

describe('what was erased', () => {
  it.each([
    [ERASED, true],
    [{ erased: true }, true],
    [{ erased: false }, false],
    [{}, false],
    [null, false],
    [undefined, false],
    ['text', false],
  ])('is marked: %p', (value, expected) => expect(isErased(value)).toBe(expected));
});

describe('expiring state whose tenant ends while it is read', () => {
  const store = { call: async () => ({ version: 'v', expiresAt: 1, sealed: new Uint8Array(40) }) } as never;
  const read = (loadTenantKey: () => Promise<Buffer>) =>
    new StoredExpiringState(store, { loadTenantKey } as never).read('t', 'x');

  it('is erased', async () => {
    expect(await read(() => Promise.reject(new KeyNotFound('t')))).toBe(ERASED);
  });

  it('is not, where the key could not be read', async () => {
    await expect(read(() => Promise.reject(new KeyVaultUnavailable('x')))).rejects.toThrow(KeyVaultUnavailable);
  });

  it('is not opened where it was changed', async () => {
    await expect(read(async () => Buffer.alloc(32))).rejects.toThrow('the seal of expiring state is broken');
  });
});
