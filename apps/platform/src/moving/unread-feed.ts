import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Consumers of a folder's feed that lag: the feed is not copied. */
export const unreadFeed = (folder: string): string[] => {
  const file = join(folder, 'feed.db');
  if (!existsSync(file)) return [];
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = db
      .prepare('SELECT name FROM consumer WHERE acknowledged < (SELECT coalesce(max(sequence), 0) FROM message)')
      .all() as { name: string }[];
    return rows.map(({ name }) => name);
  } finally {
    db.close();
  }
};
