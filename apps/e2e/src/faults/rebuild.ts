import { expectStatus, haveCaughtUp, waitUntil } from '@attestry/testing';
import type { Stage } from './stage.js';

export const PROJECTIONS = [
  ['read', 'management.tenant-lists'],
  ['read', 'dids.did-lists'],
  ['read', 'issuance.configurations'],
  ['read', 'issuance.due-certificates'],
  ['read', 'issuance.users'],
  ['read', 'issuance.session-keys'],
  ['read', 'issuance.token-families'],
  ['read', 'issuance.status-lists'],
  ['read', 'issuance.status-list-tokens'],
  ['read', 'webhooks.webhooks'],
  ['analytics', 'analytics.events'],
] as const;

/** Rebuilds every projection, as an operator would, and waits until readers have switched. */
export const rebuildAll = async ({ cluster, tables }: Stage): Promise<void> => {
  const generations = () =>
    Promise.all(PROJECTIONS.map(async ([of, name]) => (await tables.active(of, name)).generation));
  const before = await generations();
  await cluster.command('rebuild-projection', ['--all']);
  await waitUntil(
    async () => {
      const now = await generations();
      const left = PROJECTIONS.filter((_, at) => now[at]! <= before[at]!);
      if (left.length) throw new Error(`not rebuilt: ${left.map(([, name]) => name).join()}`);
      return true;
    },
    { timeoutMs: 60_000, intervalMs: 100, what: 'the rebuild' },
  );
};

type Rows = Record<string, string[]>;

/** All rows of all projections, when none of them is due to change. */
export const settledRows = async (stage: Stage): Promise<Rows> => {
  const adminPorts = stage.cluster.processes.map(({ adminPort }) => adminPort);
  const all = async () =>
    Object.assign({}, ...(await Promise.all(PROJECTIONS.map(([of, name]) => stage.tables.rows(of, name))))) as Rows;
  let before = '';
  return waitUntil(
    async () => {
      // Asked before: what a projection handles after the rows are read is not in them.
      const isUpToDate = await haveCaughtUp(adminPorts);
      const { operation_recorders: _signsOfLife, ...rows } = await all();
      const open = rows['analytics_operations']!.some(
        (row) => (JSON.parse(row) as { outcome: unknown }).outcome === null,
      );
      const text = JSON.stringify(rows);
      const settled = text === before && rows['delivery']!.length === 0 && !open && isUpToDate;
      before = text;
      return settled && rows;
    },
    { timeoutMs: 60_000, intervalMs: 500, what: 'the projections to come to rest' },
  );
};

/** Tables whose rows differ, with the rows that only one of the two has. */
export const differentRows = (one: Rows, other: Rows): Record<string, { gone: string[]; added: string[] }> => {
  const without = (rows: readonly string[] = [], others: readonly string[] = []) => {
    const known = new Set(others);
    return rows.filter((row) => !known.has(row));
  };
  const tables = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  const differences = tables.map((table) => {
    const [gone, added] = [without(one[table], other[table]), without(other[table], one[table])];
    return [table, { gone, added }] as const;
  });
  return Object.fromEntries(differences.filter(([, { gone, added }]) => gone.length + added.length > 0));
};

/** Reads lists until it is stopped: entries from before the rebuild are always listed. */
export const readLists = async ({ scene }: Stage, userId: string, signal: AbortSignal) => {
  const { api } = scene.tenant;
  const { management } = scene;
  const { data: dids } = expectStatus(await api.dids.list(), 200);
  const [credential] = await waitUntil(async () => {
    const { data } = expectStatus(await api.users.credentials(userId), 200);
    return data.length > 0 && data;
  });
  const faults: string[] = [];
  let reads = 0;
  const has = async (what: string, list: () => Promise<{ status: number; text: string }>, wanted: string) => {
    const { status, text } = await list();
    reads += 1;
    if (status !== 200 || !text.includes(wanted)) faults.push(`${what}: ${status}, without ${wanted}`);
  };
  while (!signal.aborted)
    await Promise.all([
      has('users', () => api.users.list({ limit: 1000 }), userId),
      has('credentials', () => api.users.credentials(userId), credential!.id),
      has('DIDs', () => api.dids.list(), dids[0]!.did),
      has('configurations', () => api.jwtVc.list({ limit: 1000 }), scene.configurationId),
      has('webhooks', () => api.webhooks.list({ limit: 100 }), scene.webhookId),
      has('tenants', () => management.tenants.list({ limit: 1000 }), scene.tenant.id),
    ]);
  return { faults, reads };
};
