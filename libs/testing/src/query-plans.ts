import { CompiledQuery, sql, type Kysely, type KyselyPlugin, type QueryId, type RootOperationNode } from 'kysely';

/** How one statement is carried out. */
export interface QueryPlan {
  sql: string;
  /** The steps, one per line: for SQLite as in `EXPLAIN QUERY PLAN`, for PostgreSQL node and index. */
  steps: string[];
  /** Rows that scans returned or skipped during execution; PostgreSQL only. */
  rowsRead?: number;
}

interface PostgresNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PostgresNode[];
}

const nodesOf = (node: PostgresNode): PostgresNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

const readBy = (node: PostgresNode): number =>
  (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)) *
  node['Actual Loops'];

export const isOnPostgres = <Tables>(db: Kysely<Tables>): boolean =>
  db.getExecutor().adapter.constructor.name.startsWith('Postgres');

/** Statistics of a table that was just filled, on which PostgreSQL decides. */
export const analyze = async <Tables>(db: Kysely<Tables>, table: keyof Tables & string): Promise<void> => {
  if (isOnPostgres(db)) await sql`analyze ${sql.table(table)}`.execute(db);
};

/** Plans of the database for the statements that `work` sends through the handle it is given. */
export const plansOf = async <Tables>(
  db: Kysely<Tables>,
  work: (db: Kysely<Tables>) => Promise<unknown>,
): Promise<QueryPlan[]> => {
  const seen: { node: RootOperationNode; queryId: QueryId }[] = [];
  const watch: KyselyPlugin = {
    transformQuery: ({ node, queryId }) => {
      seen.push({ node, queryId });
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  await work(db.withPlugin(watch));
  const executor = db.getExecutor();
  const onPostgres = isOnPostgres(db);
  const plans: QueryPlan[] = [];
  for (const { node, queryId } of seen) {
    const { sql, parameters } = executor.compileQuery(node, queryId);
    const ask = async (words: string) =>
      (await db.executeQuery(CompiledQuery.raw(`${words} ${sql}`, [...parameters]))).rows as Record<string, unknown>[];
    if (!onPostgres) {
      const rows = await ask('EXPLAIN QUERY PLAN');
      plans.push({ sql, steps: rows.map((row) => String(row['detail'])) });
      continue;
    }
    const [row] = await ask('EXPLAIN (ANALYZE, FORMAT JSON)');
    const plan = row!['QUERY PLAN'];
    const [{ Plan: root }] = (typeof plan === 'string' ? JSON.parse(plan) : plan) as [{ Plan: PostgresNode }];
    const nodes = nodesOf(root);
    plans.push({
      sql,
      steps: nodes.map((one) => [one['Node Type'], one['Relation Name'], one['Index Name']].filter(Boolean).join(' ')),
      rowsRead: nodes
        .filter((one) => / Scan$/.test(one['Node Type']) && (one['Relation Name'] ?? one['Index Name']))
        .reduce((sum, one) => sum + readBy(one), 0),
    });
  }
  return plans;
};
