import { timingSafeEqual } from 'node:crypto';
import { openKeyStore, type KeyLocation } from './key-location.js';
import type { StoredKey, KeyStore, KeyTable, WrappedKey } from '../stored/key-store.js';
import { MasterKeys, versionOf, type MasterKeysGiven } from '../stored/master-keys.js';

export interface CopyKeysOptions {
  masterKeys: MasterKeysGiven;
  /** Only the keys of this tenant. */
  tenantId?: string;
  /**
   * Continues when the target has another pepper: then no secret of the source verifies there.
   * Default false: refused.
   */
  otherPepper?: boolean;
}

export interface CopiedKeys {
  added: number;
  /** The target already had them. */
  present: number;
  /** Destroyed at the source since they were copied: destroyed at the target too. */
  destroyed: number;
  /** Whether secrets of the source verify at the target. */
  secretsVerify: boolean;
}

/** The target holds another key under the same name. */
export class KeysDiffer extends Error {
  override readonly name = 'KeysDiffer';
  readonly code = 'KeysDiffer';
}

/** A value is copied after its key, and read in small pages: it may have half a megabyte. */
const PAGES: Record<KeyTable, number> = { tenant_keys: 500, signing_keys: 500, data_keys: 500, sealed_values: 16 };

/**
 * Copies sealed keys and the values stored with them unchanged, with the tombstones of destroyed keys. Both stores are sealed with the same MASTER_KEY, which is verified
 * with every tenant key and pepper. May be repeated: a key that was destroyed at either end is destroyed at the target. The checkpoints of
 * erasures are not copied, as positions differ: at its first start the target applies all of them again.
 *
 * @throws MasterKeyMismatch, KeysDiffer, NotMigrated
 */
export const copyKeys = async (from: KeyLocation, to: KeyLocation, options: CopyKeysOptions): Promise<CopiedKeys> => {
  const masterKeys = new MasterKeys(options.masterKeys);
  const source = await openKeyStore(from);
  try {
    const target = await openKeyStore(to);
    try {
      return await copy(source, target, masterKeys, options);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
};

const same = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b);

const copy = async (
  source: KeyStore,
  target: KeyStore,
  masterKeys: MasterKeys,
  { tenantId, otherPepper = false }: CopyKeysOptions,
): Promise<CopiedKeys> => {
  const secretsVerify = await copyPeppers(source, target, masterKeys, otherPepper);
  const counts: CopiedKeys = { added: 0, present: 0, destroyed: 0, secretsVerify };
  for (const [table, limit] of Object.entries(PAGES) as [KeyTable, number][])
    for (let after: string | undefined; ;) {
      const page = await source.call('pageOfKeys', { table, limit, ...(after && { after }), tenantId });
      // Values are no keys: they are not counted.
      const counted = table === 'sealed_values' ? { ...counts } : counts;
      await copyPage(table, page.rows, target, masterKeys, counted);
      after = page.next;
      if (after === undefined) break;
    }
  await target.call('scrub');
  return counts;
};

/** Returns whether MACs of the source verify at the target. */
const copyPeppers = async (
  source: KeyStore,
  target: KeyStore,
  masterKeys: MasterKeys,
  otherPepper: boolean,
): Promise<boolean> => {
  const { peppers } = await source.call('wrappedKeys');
  const there = new Map((await target.call('wrappedKeys')).peppers.map((pepper) => [pepper.id, pepper]));
  const differs = peppers.some((pepper) => {
    const found = there.get(pepper.id);
    return found && !same(masterKeys.unwrap('pepper', pepper), masterKeys.unwrap('pepper', found));
  });
  if (differs && !otherPepper)
    throw new KeysDiffer(
      'the target has a different pepper: it belongs to another platform, or a platform was started there before. ' +
        'Client secrets and codes of open offers would be invalid there; use --new-secrets to copy the keys nevertheless',
    );
  if (!differs)
    for (const pepper of peppers)
      if (!there.has(pepper.id)) await target.call('putPepper', rewrapped(masterKeys, 'pepper', pepper));
  return !differs;
};

/** Unchanged, where the current MASTER_KEY wrapped it. @throws MasterKeyMismatch */
const rewrapped = (masterKeys: MasterKeys, kind: 'tenant-key' | 'pepper', key: WrappedKey): WrappedKey => {
  const opened = masterKeys.unwrap(kind, key);
  return versionOf(key.wrapped) === masterKeys.current ? key : masterKeys.wrap(kind, key.id, opened);
};

const nameOf = ({ tenantId, id, purpose }: StoredKey): string => JSON.stringify([tenantId, id, purpose]);

const copyPage = async (
  table: KeyTable,
  rows: readonly StoredKey[],
  target: KeyStore,
  masterKeys: MasterKeys,
  counts: CopiedKeys,
): Promise<void> => {
  if (!rows.length) return;
  const stored = await target.call('findKeys', { table, keys: rows.map(({ tenantId, id }) => ({ tenantId, id })) });
  const byName = new Map(stored.map((row) => [nameOf(row), row]));
  const dead = new Set(stored.filter(({ live }) => !live).map(({ tenantId, id }) => JSON.stringify([tenantId, id])));
  const add: StoredKey[] = [];
  const destroy: StoredKey[] = [];
  const unwrapped = ({ tenantId: id, sealed: wrapped }: StoredKey) => masterKeys.unwrap('tenant-key', { id, wrapped });
  for (const row of rows) {
    const found = byName.get(nameOf(row));
    const isDead = dead.has(JSON.stringify([row.tenantId, row.id]));
    if (found?.live && !row.live) destroy.push(row);
    else if (found ?? (isDead && row.live)) {
      const equal =
        !row.live ||
        isDead ||
        (table === 'tenant_keys' ? same(unwrapped(row), unwrapped(found!)) : same(row.sealed, found!.sealed));
      if (!equal) throw new KeysDiffer(`the target has a different key of ${row.tenantId} (${table} ${row.id})`);
      counts.present++;
    } else if (table === 'tenant_keys' && row.live) {
      const { wrapped: sealed } = rewrapped(masterKeys, 'tenant-key', { id: row.tenantId, wrapped: row.sealed });
      add.push({ ...row, sealed });
    } else add.push(row);
  }
  counts.added += add.length;
  counts.destroyed += destroy.length;
  await target.call('keepKeys', { table, add, destroy });
};
