import { DatabaseSync } from 'node:sqlite';

/** Tables of the keys in the file of the events (libs/keys, key-schema.jobs.ts). */
const TABLES = [
  'tenant_keys',
  'signing_keys',
  'data_keys',
  'sealed_values',
  'peppers',
  'expiring_state',
  'key_checkpoints',
];

/** Puts the keys of an older copy of `events.db` into a newer one whose platform does not run; the events stay. */
export const restoreKeys = (file: string, older: string): void => {
  const db = new DatabaseSync(file);
  try {
    db.prepare('ATTACH ? AS older').run(older);
    db.exec('BEGIN');
    for (const table of TABLES)
      db.exec(`DELETE FROM main.${table}; INSERT INTO main.${table} SELECT * FROM older.${table}`);
    db.exec('COMMIT');
  } finally {
    db.close();
  }
};
