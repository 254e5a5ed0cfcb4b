import pg, { type Client } from 'pg';
import { newestVersion, schemaVersion, UnreleasedData, type Grant, type Migrations } from './migrate-schema.js';
import { poolSettings } from './open-pool.js';

/** Why a process cannot use a schema. Messages of the server are left out: they may repeat a part of the URL. */
export interface SchemaFault {
  kind: 'connection' | 'credentials' | 'rights' | 'schema' | 'unreleased';
  reason: string;
}

interface SchemaLocation {
  url: string;
  schema: string;
  timeoutMs?: number;
}

/** Whether a service can use the components as this release needs them. Reads the catalog, changes nothing. */
export const inspectSchema = (location: SchemaLocation, components: readonly Migrations[]): Promise<SchemaFault[]> =>
  connected(location, async (client) => {
    const { schema } = location;
    const faults: SchemaFault[] = [];
    for (const { component, steps, grants, ownTables } of components) {
      const version = await schemaVersion(client, schema, component);
      const needed = newestVersion({ steps });
      if (version < needed) {
        const reason = `${schema}: ${component} has schema version ${version}, this release needs ${needed}`;
        faults.push({ kind: 'schema', reason });
        continue;
      }
      for (const grant of grants(schema)) faults.push(...(await missingRights(client, schema, grant)));
      if (ownTables && !(await holds(client, 'has_schema_privilege($1, $2)', schema, 'CREATE')))
        faults.push({ kind: 'rights', reason: `may not create tables in ${schema}` });
    }
    return faults;
  });

/** Whether the role can migrate the schemas: own or create them. */
export const inspectOwner = ({
  schemas,
  ...location
}: {
  url: string;
  schemas: readonly string[];
  timeoutMs?: number;
}): Promise<SchemaFault[]> =>
  connected({ ...location, schema: schemas[0]! }, async (client) => {
    const { rows } = await client.query<{ name: string; owned: boolean }>(
      `SELECT nspname AS name, pg_has_role(nspowner, 'USAGE') AS owned FROM pg_namespace WHERE nspname = ANY($1)`,
      [schemas],
    );
    const foreign = rows.filter(({ owned }) => !owned).map(({ name }) => name);
    if (foreign.length) return [{ kind: 'rights', reason: `does not own the schemas ${foreign.join(', ')}` }];
    const creates = `has_database_privilege(current_database(), 'CREATE')`;
    if (rows.length === schemas.length || (await holds(client, creates))) return [];
    return [{ kind: 'rights', reason: 'may not create schemas in this database' }];
  });

const connected = async (
  location: SchemaLocation,
  inspect: (client: Client) => Promise<SchemaFault[]>,
): Promise<SchemaFault[]> => {
  const { url, schema, timeoutMs = 3000 } = location;
  const client = new pg.Client(poolSettings({ url, schema, timeoutMs }));
  // A connection that is lost fails the query, too.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await inspect(client);
  } catch (error) {
    return [faultOf(error, schema)];
  } finally {
    // One that failed has ended.
    await Promise.allSettled([client.end()]);
  }
};

const CREDENTIALS = ['28P01', '28000'];

/** By the SQLSTATE, or the code of the socket. */
const faultOf = (error: unknown, schema: string): SchemaFault => {
  if (error instanceof UnreleasedData) return { kind: 'unreleased', reason: `cannot be used: ${error.message}` };
  const { code } = error as { code?: string };
  if (code !== undefined && CREDENTIALS.includes(code))
    return { kind: 'credentials', reason: `names a server that refuses the user or its password (${code})` };
  if (code === '3D000') return { kind: 'connection', reason: `names a database that does not exist (${code})` };
  if (code === '42501') return { kind: 'rights', reason: `may not use the schema ${schema} (${code})` };
  return { kind: 'connection', reason: `names a server that cannot be used (${code ?? 'no answer in time'})` };
};

const missingRights = async (client: Client, schema: string, { on, privileges }: Grant): Promise<SchemaFault[]> => {
  const [name, kind = 'TABLE'] = on.split(' ').reverse() as [string, string?];
  const missing: string[] = [];
  for (const privilege of privileges.split(', '))
    if (!(await holds(client, `has_${kind.toLowerCase()}_privilege($1, $2)`, `${schema}.${name}`, privilege)))
      missing.push(privilege);
  return missing.length ? [{ kind: 'rights', reason: `lacks ${missing.join(', ')} on ${schema}.${name}` }] : [];
};

const holds = async (client: Client, check: string, ...values: string[]): Promise<boolean> => {
  const { rows } = await client.query<{ holds: boolean }>(`SELECT ${check} AS holds`, values);
  return rows[0]!.holds;
};
