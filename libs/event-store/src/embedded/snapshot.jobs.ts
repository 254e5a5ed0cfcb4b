import type { Database, Jobs } from '@attestry/sqlite';

/** [revision, chain value, state version, state] */
export type SnapshotRow = [number, string, string, Uint8Array];

export const createJobs = (db: Database): Jobs => {
  const readSnapshot = db.prepare('SELECT revision, chain, state_version, state FROM snapshots WHERE stream = ?');
  readSnapshot.setReturnArrays(true);
  const writeSnapshot = db.prepare(
    `INSERT INTO snapshots (stream, revision, chain, state_version, state) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (stream) DO UPDATE SET revision = excluded.revision, chain = excluded.chain,
       state_version = excluded.state_version, state = excluded.state
     WHERE excluded.state_version <> state_version OR excluded.revision > revision`,
  );

  return {
    readSnapshot: {
      kind: 'read',
      execute: (stream: string): SnapshotRow | undefined =>
        readSnapshot.get(stream) as unknown as SnapshotRow | undefined,
    },
    writeSnapshot: {
      kind: 'write',
      execute: (row: (string | number | Uint8Array)[]): void => void writeSnapshot.run(...row),
    },
  };
};
