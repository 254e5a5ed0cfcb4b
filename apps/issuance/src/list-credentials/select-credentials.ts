import { CREDENTIAL_STATUSES, type ListCredentialsQuery } from '@attestry/contracts';
import type { CursorKey } from '@attestry/read-model';
import { sql, type Kysely } from 'kysely';
import type { UserTables } from '../user/users.read-model.js';

type CredentialRow = UserTables['issuance_credentials'];

export interface Selection {
  tenantId: string;
  filters: Omit<ListCredentialsQuery, 'limit' | 'cursor'>;
  /** Most rows. */
  limit: number;
  /** Only rows beyond this one. */
  after: CursorKey | undefined;
}

/** Times as they are stored: UTC with milliseconds. Those beyond the years of four digits, which no credential has, are the last one. */
const storedTime = (time: string): string => {
  const stored = new Date(time).toISOString();
  return stored.startsWith('+') ? '9999-12-31T23:59:59.999Z' : stored;
};

/** A column that only filters the rows which another one selects: as an expression it selects no index. */
const checked = (column: 'configuration_id' | 'format' | 'status', value: string) =>
  sql<boolean>`(${sql.ref(column)} || '') = ${value}`;

/**
 * Oldest first. Every index ends with status and time, so that without a status each one is read in its own branch, at most a page of it: the
 * cost does not grow with the number of credentials, whatever their statuses. Only those of one user are filtered row by row.
 */
export const selectCredentials = async (
  db: Kysely<UserTables>,
  { tenantId, filters, limit, after }: Selection,
): Promise<CredentialRow[]> => {
  const { userId, credentialConfigurationId, status, format, issuedFrom, issuedTo } = filters;
  const ofTenant = db.selectFrom('issuance_credentials').selectAll().where('tenant_id', '=', tenantId);
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
