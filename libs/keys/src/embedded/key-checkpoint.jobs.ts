import type { Database, Jobs } from '@attestry/sqlite';

export const createJobs = (db: Database): Jobs => {
  const checkpoint = db.prepare('SELECT position FROM key_checkpoints WHERE name = ?');
  const addCheckpoint = db.prepare('INSERT INTO key_checkpoints (name, position) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const setCheckpoint = db.prepare('UPDATE key_checkpoints SET position = ? WHERE name = ? AND position = ?');

  return {
    checkpoint: {
      kind: 'read',
      execute: (name: string): string | undefined =>
        (checkpoint.get(name) as { position: string } | undefined)?.position,
    },
    setCheckpoint: {
      kind: 'write',
      execute: ({
        name,
        position,
        previous,
      }: {
        name: string;
        position: string;
        previous: string | undefined;
      }): boolean =>
        (previous === undefined ? addCheckpoint.run(name, position) : setCheckpoint.run(position, name, previous))
          .changes === 1,
    },
  };
};
