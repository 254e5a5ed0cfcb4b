import { CREDENTIAL_STATUSES, type ListCredentialsQuery } from '@attestry/contracts';
import { countFitting, storedBytes, type CursorKey } from '@attestry/read-model';
import { sql, type Kysely } from 'kysely';
import type { UserTables } from '../../users/user/users.read-model.js';

type CredentialRow = UserTables['issuance_credentials'];
type SizedRow = Pick<CredentialRow, 'id' | 'issued_at' | 'format'> & { bytes: number };

export interface Selection {
  tenantId: string;
  filters: Omit<ListCredentialsQuery, 'limit' | 'cursor'>;
  /** Most rows of the page. */
  limit: number;
  /** Only rows beyond this one. */
  after: CursorKey | undefined;
}

/** A page, which ends before it has more than 512 KB as they are stored, and the key of its last row where there are more. */
export interface CredentialPage {
  rows: CredentialRow[];
  last?: CursorKey;
}

/** Times as they are stored: UTC with milliseconds. Those beyond the years of four digits, which no credential has, are the last one. */
const storedTime = (time: string): string => {
  const stored = new Date(time).toISOString();
  return stored.startsWith('+') ? '9999-12-31T23:59:59.999Z' : stored;
};

/** A column that only filters the rows which another one selects: as an expression it selects no index. */
const checked = (column: 'configuration_id' | 'format' | 'status', value: string) =>
  sql<boolean>`(${sql.ref(column)} || '') = ${value}`;

/** The sizes are read first, the records only of those rows that make the page (ADR 0098). */
export const selectCredentials = async (db: Kysely<UserTables>, selection: Selection): Promise<CredentialPage> => {
  const { tenantId, limit } = selection;
  const found = await selectSizes(db, { ...selection, limit: limit + 1 });
  const shown = found.slice(0, countFitting(found.slice(0, limit).map(({ bytes }) => Number(bytes))));
  const end = shown.at(-1);
  if (!end) return { rows: [] };
  const loaded = await db
    .selectFrom('issuance_credentials')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where(
      'id',
      'in',
      shown.map(({ id }) => id),
    )
    .execute();
  const byId = new Map(loaded.map((row) => [row.id, row]));
  const rows = shown.flatMap(({ id }) => byId.get(id) ?? []);
  return { rows, ...(shown.length < found.length && { last: { time: end.issued_at, id: end.id } }) };
};

/**
 * Oldest first. Every index ends with status and time, so that without a status each one is read in its own branch, at most a page of it: the
 * cost does not grow with the number of credentials, whatever their statuses. Only those of one user are filtered row by row.
 */
const selectSizes = async (
  db: Kysely<UserTables>,
  { tenantId, filters, limit, after }: Selection,
): Promise<SizedRow[]> => {
  const { userId, credentialConfigurationId, status, format, issuedFrom, issuedTo } = filters;
  const ofTenant = db
    .selectFrom('issuance_credentials')
    .select(['id', 'issued_at', 'format', storedBytes(['record']).as('bytes')])
    .where('tenant_id', '=', tenantId);
  const page = (rows: typeof ofTenant) => {
    let ranged = rows;
    if (issuedFrom !== undefined) ranged = ranged.where('issued_at', '>=', storedTime(issuedFrom));
    if (issuedTo !== undefined) ranged = ranged.where('issued_at', '<=', storedTime(issuedTo));
    if (after) ranged = ranged.where(sql<boolean>`(issued_at, id) > (${after.time}, ${after.id})`);
    return ranged.orderBy('issued_at').orderBy('id').limit(limit);
  };

  if (userId !== undefined) {
    let rows = ofTenant.where('user_id', '=', userId);
    if (credentialConfigurationId !== undefined)
      rows = rows.where(checked('configuration_id', credentialConfigurationId));
    if (status !== undefined) rows = rows.where(checked('status', status));
    if (format !== undefined) rows = rows.where(checked('format', format));
    return page(rows).execute();
  }

  let rows = ofTenant;
  if (credentialConfigurationId !== undefined) {
    rows = rows.where('configuration_id', '=', credentialConfigurationId);
    // A configuration has one format: its rows are not searched for another one.
    const one = format !== undefined && (await rows.orderBy('status').orderBy('issued_at').limit(1).executeTakeFirst());
    if (one && one.format !== format) return [];
  } else if (format !== undefined) rows = rows.where('format', '=', format);
  if (status !== undefined) return page(rows.where('status', '=', status)).execute();
  const [first, ...more] = (['', ...CREDENTIAL_STATUSES] as const).map((each) =>
    db.selectFrom(page(rows.where('status', '=', each)).as('credentials')).selectAll(),
  );
  const union = more.reduce((all, next) => all.unionAll(next), first!);
  return union.orderBy('issued_at').orderBy('id').limit(limit).execute();
};
