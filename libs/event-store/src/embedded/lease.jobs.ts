import type { Database, Jobs } from '@attestry/sqlite';

/** [epoch, expiresAt] */
export type LeaseAnswer = [number, number] | undefined;

export const createJobs = (db: Database): Jobs => {
  const readLease = db.prepare('SELECT holder, epoch, expires_at FROM leases WHERE name = ?');
  const writeLease = db.prepare(
    `INSERT INTO leases (name, holder, epoch, expires_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, epoch = excluded.epoch, expires_at = excluded.expires_at`,
  );
  const renewLease = db.prepare(
    'UPDATE leases SET expires_at = ? WHERE name = ? AND holder = ? AND epoch = ? AND expires_at > ?',
  );
  const releaseLease = db.prepare('UPDATE leases SET expires_at = 0 WHERE name = ? AND holder = ? AND epoch = ?');
  const heldLease = db.prepare('SELECT 1 FROM leases WHERE name = ? AND holder = ? AND epoch = ? AND expires_at > ?');

  return {
    acquireLease: {
      kind: 'write',
      execute([name, holder, ttl]: [string, string, number]): LeaseAnswer {
        const now = Date.now();
        const current = readLease.get(name) as { holder: string; epoch: number; expires_at: number } | undefined;
        const held = current !== undefined && current.expires_at > now;
        if (held && current.holder !== holder) return undefined;
        const epoch = held ? current.epoch : (current?.epoch ?? 0) + 1;
        writeLease.run(name, holder, epoch, now + ttl);
        return [epoch, now + ttl];
      },
    },
    renewLease: {
      kind: 'write',
      execute([name, holder, epoch, ttl]: [string, string, number, number]): number | undefined {
        const now = Date.now();
        return renewLease.run(now + ttl, name, holder, epoch, now).changes ? now + ttl : undefined;
      },
    },
    releaseLease: {
      kind: 'write',
      execute: ([name, holder, epoch]: [string, string, number]): void => void releaseLease.run(name, holder, epoch),
    },
    isLeaseHeld: {
      kind: 'read',
      execute: ([name, holder, epoch]: [string, string, number]): boolean =>
        heldLease.get(name, holder, epoch, Date.now()) !== undefined,
    },
  };
};
