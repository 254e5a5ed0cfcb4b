import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import { waitUntil } from '@attestry/testing';
import type { Found, KeyJobs, KeyStore, SigningKeyRow } from './key-store.js';
import { KeyAlreadyExists, KeyNotFound, MasterKeyMismatch, SealBroken } from '../vault/key-vault.js';
import { MasterKeys } from './master-keys.js';
import { ERASED } from '../vault/sealing.js';
import { StoredKeyVault } from './stored-key-vault.js';

const T = 'tenant-1';
type Calls = { [Job in keyof KeyJobs]?: (args: KeyJobs[Job][0]) => Promise<KeyJobs[Job][1]> };

/** A store in memory whose calls are recorded; a test holds them back, or replaces them. */
const vaultOver = async (replaced: Calls = {}, believeMs?: number) => {
  const called: (keyof KeyJobs)[] = [];
  const tenantKeys = new Map<string, Found<never>>();
  const dataKeys = new Map<string, Found<never>>();
  const absent = { state: 'absent' } as const;
  const put = (into: Map<string, Found<never>>, at: string, row: unknown) => {
    const found = into.get(at);
    if (found) return found;
    into.set(at, { state: 'live', row: row as never });
    return { state: 'live', row: row as never, created: true } as const;
  };
  let gate: Promise<unknown> = Promise.resolve();
  let closed = false;
  const calls: Calls = {
    wrappedKeys: async () => ({ tenantKeys: [], peppers: [] }),
    putPepper: async (pepper) => [pepper],
    scrub: async () => true,
    tenantKey: async (tenant) => tenantKeys.get(tenant) ?? absent,
    putTenantKey: async (key) => put(tenantKeys, key.id, key),
    dataKey: async ({ id }) => dataKeys.get(id) ?? absent,
    putDataKey: async (row) => {
      await gate;
      return put(dataKeys, row.id, row);
    },
    destroy: async ({ keyIds }) => {
      await gate;
      for (const id of keyIds) dataKeys.set(id, { state: 'destroyed' });
    },
    endTenant: async () => {
      await gate;
      for (const id of dataKeys.keys()) dataKeys.set(id, { state: 'destroyed' });
    },
    destroyRows: async () => undefined,
    ...replaced,
  };
  const store = {
    engine: {},
    newKeyJob: 'putNewDataKey',
    call: (job: keyof KeyJobs, args: never) => {
      if (closed) throw new Error('the store is closed');
      called.push(job);
      return (calls[job] as unknown as (args: never) => Promise<never>)(args);
    },
    close: async () => void (closed = true),
  } as KeyStore;
  const masterKeys = { current: { version: 1, key: new Uint8Array(32).fill(1) } };
  const vault = await StoredKeyVault.load(async () => store, { masterKeys, ...(believeMs && { believeMs }) });
  called.length = 0;
  return {
    vault,
    sealing: vault.sealing,
    called,
    calls,
    dataKeys,
    /** Writes wait until it is called. */
    hold: () => {
      let release = () => {};
      gate = new Promise<void>((resolve) => (release = resolve));
      return release;
    },
  };
};
const count = (called: readonly string[], job: keyof KeyJobs) => called.filter((it) => it === job).length;

describe('a data key', () => {
  it('is used by the process that made it without reading it', async () => {
    const { sealing, called } = await vaultOver();
    await sealing.createDataKey(T, 'user', 'u1');
    const sealed = await sealing.sealText(T, 'user', 'u1', 'text');
    expect(await sealing.openSealed(T, 'user', sealed)).toBe('text');
    expect(count(called, 'dataKey')).toBe(0);
  });

  it('that other processes may destroy is read again after a time', async () => {
    const { sealing, called } = await vaultOver({}, 1);
    await sealing.createDataKey(T, 'user', 'u1');
    const sealed = await sealing.sealText(T, 'user', 'u1', 'text');
    await pause(20);
    called.length = 0;
    expect(await sealing.openSealed(T, 'user', sealed)).toBe('text');
    expect(count(called, 'dataKey')).toBe(1);
  });

  it.each(['user', 'session', 'delivery', 'tenant'] as const)(
    'of a %s is read again after its eviction',
    async (purpose) => {
      const { vault, sealing, called } = await vaultOver();
      await sealing.createDataKey(T, purpose, 'k1');
      await sealing.createDataKey(T, purpose, 'k2');
      const sealed = await Promise.all(['k1', 'k2'].map((id) => sealing.sealText(T, purpose, id, id)));
      vault.evict(T, ['k1']);
      expect(await Promise.all(sealed.map((text) => sealing.openSealed(T, purpose, text)))).toEqual(['k1', 'k2']);
      expect(count(called, 'dataKey')).toBe(1);
    },
  );

  it('that must be new is used before it is durable', async () => {
    const { sealing, hold } = await vaultOver();
    const release = hold();
    const { sealed, newKey } = sealing.sealWithNewKey(T, 'user', 'u1', 'one');
    const durable = newKey.store();
    const second = await sealing.sealText(T, 'user', 'u1', 'two');
    expect(await sealing.openSealed(T, 'user', sealed)).toBe('one');
    release();
    await durable;
    expect(await sealing.openSealed(T, 'user', second)).toBe('two');
  });

  it('that is refused is not used for what is sealed meanwhile', async () => {
    const { sealing, vault } = await vaultOver();
    const first = sealing.sealWithNewKey(T, 'user', 'u1', 'one').newKey.store();
    const refused = sealing.sealWithNewKey(T, 'user', 'u1', 'two').newKey.store();
    const meanwhile = await sealing.sealText(T, 'user', 'u1', 'three');
    await first;
    await expect(refused).rejects.toThrow(KeyAlreadyExists);
    const again = sealing.sealWithNewKey(T, 'user', 'u1', 'four').newKey.store();
    const later = await sealing.sealText(T, 'user', 'u1', 'five');
    await expect(again).rejects.toThrow(KeyAlreadyExists);
    vault.evict(T);
    expect(await sealing.openSealed(T, 'user', meanwhile)).toBe('three');
    expect(await sealing.openSealed(T, 'user', later)).toBe('five');
  });

  it.each<[string, readonly string[] | undefined]>([
    ['it', ['u1']],
    ['its tenant', undefined],
  ])('that becomes durable after %s was evicted is not used', async (_what, keyIds) => {
    const { vault, sealing, called, hold } = await vaultOver();
    const release = hold();
    const { sealed, newKey } = sealing.sealWithNewKey(T, 'user', 'u1', 'text');
    const kept = sealing.sealWithNewKey('tenant-2', 'user', 'u2', 'text');
    const stored = [newKey.store(), kept.newKey.store()];
    vault.evict(T, keyIds);
    release();
    await Promise.all(stored);
    expect(await sealing.openSealed('tenant-2', 'user', kept.sealed)).toBe('text');
    expect(count(called, 'dataKey')).toBe(0);
    expect(await sealing.openSealed(T, 'user', sealed)).toBe('text');
    expect(count(called, 'dataKey')).toBe(1);
  });

  it('has an id of 1 to 200 visible ASCII characters', async () => {
    const { sealing } = await vaultOver();
    for (const id of ['', 'a b', 'ä', 'a'.repeat(201), 'a\n'])
      expect(() => sealing.sealWithNewKey(T, 'user', id, 'text')).toThrow(
        new TypeError('a key id is 1 to 200 visible ASCII characters'),
      );
    await sealing.createDataKey(T, 'user', 'a'.repeat(200));
  });

  it('that was changed is named by the error', async () => {
    const { sealing, vault, dataKeys } = await vaultOver();
    await sealing.createDataKey(T, 'user', 'u1');
    const sealed = await sealing.sealText(T, 'user', 'u1', 'text');
    const faultOf = async (text: string) => sealing.openSealed(T, 'user', text).catch((error: unknown) => error);
    expect(await faultOf(`${sealed.slice(0, -4)}AAAA`)).toEqual(new SealBroken('a value under key u1'));
    for (const text of [`x${sealed}`, `${sealed}!`, 'v1.u1'])
      expect(await faultOf(text)).toEqual(new SealBroken('a value'));
    vault.evict(T);
    dataKeys.set('u1', { state: 'live', row: { sealed: new Uint8Array(60) } as never });
    expect(await faultOf(sealed)).toEqual(new SealBroken('key u1'));
    for (const length of [0, 10, 27]) {
      dataKeys.set('u1', { state: 'live', row: { sealed: new Uint8Array(length) } as never });
      expect(await faultOf(sealed)).toEqual(new SealBroken('key u1'));
    }
  });
});

describe('a destruction', () => {
  it('drops the key before it is written, and what was read meanwhile afterwards', async () => {
    const { sealing, called, hold } = await vaultOver();
    await sealing.createDataKey(T, 'user', 'u1');
    const sealed = await sealing.sealText(T, 'user', 'u1', 'text');
    const release = hold();
    const destroyed = sealing.destroyDataKeys(T, ['u1']);
    expect(await sealing.openSealed(T, 'user', sealed)).toBe('text');
    expect(count(called, 'dataKey')).toBe(1);
    release();
    await destroyed;
    expect(await sealing.openSealed(T, 'user', sealed)).toBe(ERASED);
  });

  it('of a tenant does so, too, and is told to listeners until they are removed', async () => {
    const { vault, sealing, hold } = await vaultOver();
    await sealing.createDataKey(T, 'user', 'u1');
    const sealed = await sealing.sealText(T, 'user', 'u1', 'text');
    const heard: unknown[] = [];
    const remove = vault.onDestroyed((destroyed) => heard.push(destroyed));
    const release = hold();
    const destroyed = vault.destroyTenant(T);
    expect(await sealing.openSealed(T, 'user', sealed)).toBe('text');
    release();
    await destroyed;
    expect(await sealing.openSealed(T, 'user', sealed)).toBe(ERASED);
    remove();
    await sealing.destroyDataKeys(T, ['u1']);
    expect(heard).toEqual([{ tenantId: T }]);
  });

  it('of no key writes nothing', async () => {
    const { sealing, called } = await vaultOver();
    await sealing.destroyDataKeys(T, []);
    expect(called).toEqual([]);
  });

  it('is followed by one scrub for all that were written before it', async () => {
    let release = () => {};
    const { sealing, called, calls } = await vaultOver();
    calls.scrub = () => new Promise<boolean>((resolve) => (release = () => resolve(true)));
    await pause(100);
    const first = sealing.destroyDataKeys(T, ['a']);
    await turn();
    const others = ['b', 'c', 'd'].map((id) => sealing.destroyDataKeys(T, [id]));
    await turn();
    expect(count(called, 'scrub')).toBe(1);
    release();
    await first;
    const since = performance.now();
    await waitUntil(async () => count(called, 'scrub') === 2);
    // Less often than ten times a second.
    expect(performance.now() - since).toBeGreaterThan(90);
    release();
    await Promise.all(others);
    expect(count(called, 'scrub')).toBe(2);
  });

  it('is scrubbed before the store is closed', async () => {
    let release = () => {};
    const { sealing, called, calls, vault } = await vaultOver();
    calls.scrub = () => new Promise<boolean>((resolve) => (release = () => resolve(true)));
    const destroyed = [sealing.destroyDataKeys(T, ['a'])];
    await waitUntil(async () => count(called, 'scrub') === 1);
    let isClosed = false;
    const closed = vault.close().then(() => (isClosed = true));
    await turn();
    expect(isClosed).toBe(false);
    release();
    await Promise.all([...destroyed, closed]);
  });

  it('is scrubbed before the store is closed, also when another scrub runs', async () => {
    let release = () => {};
    const { sealing, called, calls, vault } = await vaultOver();
    calls.scrub = () => new Promise<boolean>((resolve) => (release = () => resolve(true)));
    const first = sealing.destroyDataKeys(T, ['a']);
    await waitUntil(async () => count(called, 'scrub') === 1);
    const second = sealing.destroyDataKeys(T, ['b']);
    await turn();
    const closed = vault.close();
    release();
    await first;
    await waitUntil(async () => count(called, 'scrub') === 2);
    release();
    await Promise.all([second, closed]);
  });

  it('does not wait for the scrub while the file is read, which is tried again later', async () => {
    const { sealing, called, calls, vault } = await vaultOver();
    const done = [false, true];
    calls.scrub = async () => done.shift()!;
    await sealing.destroyDataKeys(T, ['a']);
    expect(count(called, 'scrub')).toBe(1);
    await waitUntil(async () => count(called, 'scrub') === 2);
    await pause(1200);
    expect(count(called, 'scrub')).toBe(2);
    await vault.close();
  });
});

describe('a key that another process has made', () => {
  it('is used, even while this one tries to make it', async () => {
    const other = await vaultOver();
    await other.sealing.createDataKey(T, 'user', 'u1');
    const { sealing, calls } = await vaultOver({ ...other.calls });
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const { putDataKey } = other.calls;
    calls.putDataKey = async (row) => {
      await held;
      return putDataKey!(row);
    };
    const made = sealing.createDataKey(T, 'user', 'u1');
    const sealed = sealing.sealText(T, 'user', 'u1', 'text');
    await turn();
    release();
    await made;
    expect(await other.sealing.openSealed(T, 'user', await sealed)).toBe('text');
  });
});

describe('a key of a tenant that ends while it is made', () => {
  it('is refused', async () => {
    const { vault } = await vaultOver({
      putSigningKeys: async () => 'destroyed',
      newestSigningKey: async () => undefined,
      ensureSigningKey: async () => ({ state: 'destroyed' }),
    });
    const refused = new KeyNotFound(T);
    await expect(vault.signingKeys.createSigningKey(T, 'did', 'Ed25519')).rejects.toEqual(refused);
    await expect(vault.signingKeys.ensureSigningKey(T, 'did', 'Ed25519')).rejects.toEqual(refused);
  });
});

describe('a signing key', () => {
  it.each(['P-256', 'Ed25519', 'X25519', 'Bls12381G2'] as const)(
    'of type %s that is the newest of its purpose is read again after its eviction',
    async (algorithm) => {
      const made: SigningKeyRow[] = [];
      const { vault, called } = await vaultOver({
        newestSigningKey: async () => made.at(-1),
        ensureSigningKey: async (row) => ({ state: 'live', row: made[made.push(row) - 1]! }),
      });
      const ensure = async () => (await vault.signingKeys.ensureSigningKey(T, 'did', algorithm)).keyId;
      const keyId = await ensure();
      expect([await ensure(), count(called, 'newestSigningKey')]).toEqual([keyId, 1]);
      vault.evict(T, [keyId]);
      expect([await ensure(), count(called, 'newestSigningKey'), made.length]).toEqual([keyId, 2, 1]);
    },
  );
});

describe('a vault that was closed', () => {
  it('has no key any more', async () => {
    const rows: SigningKeyRow[] = [];
    const { vault } = await vaultOver({
      putSigningKeys: async ({ rows: given }) => {
        rows.push(...given);
        return 'made';
      },
      signingKey: async () => rows[0],
      newestSigningKey: async () => rows[0],
    });
    const { sealing, signingKeys, macs } = vault;
    await sealing.createDataKey(T, 'user', 'u1');
    const sealed = await sealing.sealText(T, 'user', 'u1', 'text');
    const { keyId } = await signingKeys.createSigningKey(T, 'did', 'Ed25519');
    await signingKeys.loadSigner(T, keyId);
    await signingKeys.ensureSigningKey(T, 'did', 'Ed25519');
    await vault.close();
    const isClosed = 'the store is closed';
    await expect(sealing.openSealed(T, 'user', sealed)).rejects.toThrow(isClosed);
    await expect(sealing.createDataKey(T, 'user', 'u2')).rejects.toThrow(isClosed);
    await expect(signingKeys.loadSigner(T, keyId)).rejects.toThrow(isClosed);
    await expect(signingKeys.ensureSigningKey(T, 'did', 'Ed25519')).rejects.toThrow(isClosed);
    expect(() => macs.mac('secret')).toThrow();
  });
});

describe('a store with a key of a later MASTER_KEY that is not given', () => {
  it('is refused, with the key and the version', async () => {
    const later = new MasterKeys({ current: { version: 2, key: new Uint8Array(32).fill(2) } });
    const stored = { tenantKeys: [later.wrap('tenant-key', T, Buffer.alloc(32))], peppers: [] };
    const pepper = new MasterKeys({ current: { version: 1, key: new Uint8Array(32).fill(1) } });
    const peppers = [pepper.wrap('pepper', 'p1', Buffer.alloc(32))];
    await expect(vaultOver({ wrappedKeys: async () => ({ ...stored, peppers }) })).rejects.toThrow(
      new MasterKeyMismatch(`the key store needs MASTER_KEY version 2 for tenant-key ${T}, which is not set`),
    );
  });

  it('or of another MASTER_KEY of the same version is refused', async () => {
    const other = new MasterKeys({ current: { version: 1, key: new Uint8Array(32).fill(2) } });
    const peppers = [other.wrap('pepper', 'p1', Buffer.alloc(32))];
    await expect(vaultOver({ wrappedKeys: async () => ({ tenantKeys: [], peppers }) })).rejects.toThrow(
      new MasterKeyMismatch('MASTER_KEY version 1 is not the key that this store was encrypted with (pepper p1)'),
    );
  });
});

describe('a signing key that was changed', () => {
  it('is named by the error', async () => {
    const row = { keyId: 'k1', tenant: T, purpose: 'did', algorithm: 'Ed25519', publicJwk: '{}', createdAt: '' };
    const { vault } = await vaultOver({ signingKey: async () => ({ ...row, sealed: new Uint8Array(60) }) });
    await expect(vault.signingKeys.loadSigner(T, 'k1')).rejects.toEqual(new SealBroken('key k1'));
  });
});

describe('a store with tenants and without a pepper', () => {
  it('is refused as damaged, and closed', async () => {
    const wrapped = { id: T, wrapped: new Uint8Array(64) };
    await expect(vaultOver({ wrappedKeys: async () => ({ tenantKeys: [wrapped], peppers: [] }) })).rejects.toThrow(
      'the key store is damaged: it has tenant keys but no pepper',
    );
  });
});
