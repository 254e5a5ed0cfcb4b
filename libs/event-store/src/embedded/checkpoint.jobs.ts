import type { Database, Jobs } from '@attestry/sqlite';

export const createJobs = (db: Database): Jobs => {
  const readCheckpoint = db.prepare('SELECT position FROM checkpoints WHERE name = ?');
  const allCheckpoints = db.prepare('SELECT name, position FROM checkpoints ORDER BY name');
  const newestEpoch = db.prepare(
    'SELECT max(epoch) AS epoch FROM (SELECT epoch FROM leases WHERE name = ?1 UNION ALL SELECT epoch FROM checkpoints WHERE name = ?1)',
  );
  const writeCheckpoint = db.prepare(
    `INSERT INTO checkpoints (name, position, epoch) VALUES (?, ?, ?)
     ON CONFLICT (name) DO UPDATE SET position = excluded.position, epoch = excluded.epoch`,
  );

  return {
    readCheckpoint: {
      kind: 'read',
      execute: (name: string): string | undefined =>
        (readCheckpoint.get(name) as { position: string } | undefined)?.position,
    },
    listCheckpoints: {
      kind: 'read',
      execute: () => allCheckpoints.all().map(({ name, position }) => ({ name, position })),
    },
    writeCheckpoint: {
      kind: 'write',
      execute([name, position, epoch]: [string, string, number]): void {
        const newest = (newestEpoch.get(name) as { epoch: number | null }).epoch ?? 0;
        const fault = 'StaleEpoch';
        if (newest > epoch)
          throw Object.assign(new Error(`checkpoint ${name} is at epoch ${newest}, not ${epoch}`), {
            name: fault,
            code: fault,
          });
        writeCheckpoint.run(name, position, epoch);
      },
    },
  };
};
