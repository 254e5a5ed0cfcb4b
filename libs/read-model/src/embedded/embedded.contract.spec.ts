import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedEventStore } from '@attestry/event-store';
import { CompiledQuery } from 'kysely';
import { describeReadModels } from '../read-model.contract.js';
import { EmbeddedReadModels } from './embedded-read-models.js';

describeReadModels('embedded (SQLite)', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'attestry-read-model-'));
  const eventStore = await EmbeddedEventStore.openFile({ file: join(folder, 'events.db') });
  const { leases } = eventStore;
  return {
    eventStore,
    leases,
    open: (options) => EmbeddedReadModels.openFile({ file: join(folder, 'read.db'), eventStore, leases, ...options }),
    tables: async (db) => (await db.introspection.getTables()).map(({ name }) => name),
    async sorts(db, { sql, parameters }) {
      const { rows } = await db.executeQuery<{ detail: string }>(
        CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]),
      );
      return rows.some(({ detail }) => detail.includes('TEMP B-TREE'));
    },
    async close() {
      await eventStore.close();
      await rm(folder, { recursive: true });
    },
  };
});
