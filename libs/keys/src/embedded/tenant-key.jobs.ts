import type { Database, Jobs } from '@attestry/sqlite';
import type { Found, Rewrap, WrappedKey } from '../stored/key-store.js';
import type { Row } from './key-row.js';

/** Keys of tenants and peppers, which the master key wraps. */
export const createJobs = (db: Database): Jobs => {
  const tenantKey = db.prepare('SELECT tenant, live, wrapped FROM tenant_keys WHERE tenant = ?');
  const insertTenantKey = db.prepare('INSERT INTO tenant_keys (tenant, live, wrapped) VALUES (?, 1, ?)');
  const wrappedTenantKeys = db.prepare('SELECT tenant, wrapped FROM tenant_keys WHERE live = 1');
  const peppers = db.prepare('SELECT id, wrapped FROM peppers ORDER BY seq');
  const insertPepper = db.prepare('INSERT OR IGNORE INTO peppers (id, wrapped) VALUES (?, ?)');
  const rewrapTenantKey = db.prepare('UPDATE tenant_keys SET wrapped = ? WHERE tenant = ? AND wrapped = ?');
  const rewrapPepper = db.prepare('UPDATE peppers SET wrapped = ? WHERE id = ? AND wrapped = ?');

  const findTenantKey = (tenant: string): Found<WrappedKey> => {
    const row = tenantKey.get(tenant) as Row | undefined;
    if (!row) return { state: 'absent' };
    if (!row['live']) return { state: 'destroyed' };
    return { state: 'live', row: { id: tenant, wrapped: row['wrapped'] as Uint8Array } };
  };
  const wrapped = (row: Row, id: string): WrappedKey => ({
    id: row[id] as string,
    wrapped: row['wrapped'] as Uint8Array,
  });

  return {
    tenantKey: { kind: 'read', execute: (tenant: string) => findTenantKey(tenant) },
    /** Keeps the first of two: concurrent creators get the same key. */
    putTenantKey: {
      kind: 'write',
      execute: (key: WrappedKey): Found<WrappedKey> => {
        const found = findTenantKey(key.id);
        if (found.state !== 'absent') return found;
        insertTenantKey.run(key.id, key.wrapped);
        return { state: 'live', row: key };
      },
    },
    wrappedKeys: {
      kind: 'read',
      execute: (): { tenantKeys: WrappedKey[]; peppers: WrappedKey[] } => ({
        tenantKeys: (wrappedTenantKeys.all() as Row[]).map((row) => wrapped(row, 'tenant')),
        peppers: (peppers.all() as Row[]).map((row) => wrapped(row, 'id')),
      }),
    },
    putPepper: {
      kind: 'write',
      execute: (pepper: WrappedKey): WrappedKey[] => {
        insertPepper.run(pepper.id, pepper.wrapped);
        return (peppers.all() as Row[]).map((row) => wrapped(row, 'id'));
      },
    },
    /** All or nothing; a row that another process rewrapped meanwhile is left alone. */
    rewrap: {
      kind: 'write',
      execute: (args: { tenantKeys: Rewrap[]; peppers: Rewrap[] }): void => {
        for (const k of args.tenantKeys) rewrapTenantKey.run(k.wrapped, k.id, k.before);
        for (const k of args.peppers) rewrapPepper.run(k.wrapped, k.id, k.before);
      },
    },
  };
};
