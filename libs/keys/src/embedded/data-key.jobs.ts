import type { Database, Jobs } from '@attestry/sqlite';
import type { DataKeyRow, Found } from '../stored/key-store.js';
import type { Row } from './key-row.js';

const fault = (code: string, message: string) => Object.assign(new Error(message), { code });

/** Data keys, and values that are stored with their key. */
export const createJobs = (db: Database): Jobs => {
  const tenantEnded = db.prepare('SELECT 1 FROM tenant_keys WHERE tenant = ? AND live = 0');
  const dataKey = db.prepare('SELECT live, sealed FROM data_keys WHERE tenant = ? AND id = ? AND purpose = ?');
  const dataKeyEnded = db.prepare('SELECT 1 FROM data_keys WHERE tenant = ? AND id = ? AND live = 0 LIMIT 1');
  const insertDataKey = db.prepare('INSERT INTO data_keys (tenant, purpose, id, live, sealed) VALUES (?, ?, ?, 1, ?)');
  const storedValue = db.prepare('SELECT value FROM sealed_values WHERE tenant = ? AND id = ? AND purpose = ?');
  const insertValue = db.prepare('INSERT INTO sealed_values (tenant, id, purpose, value) VALUES (?, ?, ?, ?)');
  const addDataKey = ({ tenant, purpose, id, sealed, value }: DataKeyRow): void => {
    insertDataKey.run(tenant, purpose, id, sealed);
    if (value) insertValue.run(tenant, id, purpose, value);
  };

  return {
    putDataKey: {
      kind: 'write',
      execute: (key: DataKeyRow): Found<DataKeyRow> => {
        if (tenantEnded.get(key.tenant) || dataKeyEnded.get(key.tenant, key.id)) return { state: 'destroyed' };
        const row = dataKey.get(key.tenant, key.id, key.purpose) as Row | undefined;
        if (row) return { state: 'live', row: { ...key, sealed: row['sealed'] as Uint8Array }, created: false };
        addDataKey(key);
        return { state: 'live', row: key, created: true };
      },
    },
    putNewDataKey: {
      kind: 'write',
      execute: (key: DataKeyRow): void => {
        if (tenantEnded.get(key.tenant) || dataKeyEnded.get(key.tenant, key.id))
          throw fault('KeyDestroyed', `key ${key.id} was destroyed`);
        if (dataKey.get(key.tenant, key.id, key.purpose)) throw fault('KeyExists', `key ${key.id} exists`);
        addDataKey(key);
      },
    },
    dataKey: {
      kind: 'read',
      execute: (key: { tenant: string; purpose: string; id: string }): Found<DataKeyRow> => {
        if (tenantEnded.get(key.tenant) || dataKeyEnded.get(key.tenant, key.id)) return { state: 'destroyed' };
        const row = dataKey.get(key.tenant, key.id, key.purpose) as Row | undefined;
        return row ? { state: 'live', row: { ...key, sealed: row['sealed'] as Uint8Array } } : { state: 'absent' };
      },
    },
    storedValue: {
      kind: 'read',
      execute: (key: { tenant: string; purpose: string; id: string }): Found<{ value: Uint8Array }> => {
        if (tenantEnded.get(key.tenant) || dataKeyEnded.get(key.tenant, key.id)) return { state: 'destroyed' };
        const row = storedValue.get(key.tenant, key.id, key.purpose) as Row | undefined;
        return row ? { state: 'live', row: { value: row['value'] as Uint8Array } } : { state: 'absent' };
      },
    },
  };
};
