import pg, { type ClientBase, type Pool } from 'pg';
import { checkedSchema, openPool, type PostgresOptions } from './open-pool.js';

/** Privileges of the role services connect as, on one object: `{ on: 'events', privileges: 'SELECT, INSERT' }`. */
export interface Grant {
  /** A table, or another object with its kind: `SEQUENCE positions`. */
  on: string;
  privileges: string;
}

/** SQL for a schema. */
type Sql = (schema: string) => string;

/** Tables of one component in one schema. A release adds steps and changes none. */
export interface Migrations {
  component: string;
  /** In order. Steps only add: the previous release continues beside this one. */
  steps: readonly Sql[];
  /** SQL that is run each time, after the steps: for the present configuration. */
  settings?: (schema: string) => string;
  /** Rights of services; all else is denied to them. */
  grants: (schema: string) => readonly Grant[];
  /** Services create, own and drop their tables in the schema. */
  ownTables?: boolean;
}

/** Version after the first step; lower ones are of versions before the first release. */
const FIRST_VERSION = 100;

/** Version of a component's tables after all of its steps. */
export const newestVersion = ({ steps }: Pick<Migrations, 'steps'>): number => FIRST_VERSION - 1 + steps.length;

/** A step made of several parts. */
export const together =
  (...parts: readonly Sql[]): Sql =>
  (schema) =>
    parts.map((part) => part(schema)).join('');

/** Data of a version before the first release, which no release reads. */
export class UnreleasedData extends Error {
  override readonly name = 'UnreleasedData';
  constructor(schema: string) {
    super(`the schema ${schema} has data of version 0.1.0`);
  }
}

/** Version of a component's tables, 0 without tables. @throws UnreleasedData */
export const schemaVersion = (
  client: Pick<Pool, 'query'> | Pick<ClientBase, 'query'>,
  schema: string,
  component: string,
): Promise<number> => versionOf(client as ClientBase, schema, component).catch(absent);

const versionOf = async (client: Pick<ClientBase, 'query'>, schema: string, component: string): Promise<number> => {
  const { rows } = await client.query<{ component: string; version: number }>(
    `SELECT component, version FROM ${schema}.schema_versions`,
  );
  if (rows.some(({ version }) => version < FIRST_VERSION)) throw new UnreleasedData(schema);
  return rows.find((row) => row.component === component)?.version ?? 0;
};

/**
 * Creates what is missing of a component's tables. May run twice and in several processes concurrently.
 *
 * @param options.serviceRole the role services connect as, when it is not the migrating one
 * @throws UnreleasedData, and then nothing is changed
 */
export const migrateSchema = async (
  { url, schema, serviceRole }: { url: string; schema: string; serviceRole?: string },
  { component, steps, settings, grants, ownTables = false }: Migrations,
): Promise<void> => {
  checkedSchema(schema);
  const client = new pg.Client({ connectionString: url, application_name: 'attestry migrate' });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('attestry migrate', 0))`);
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await client.query(
      `CREATE TABLE IF NOT EXISTS ${schema}.schema_versions (component text PRIMARY KEY, version integer NOT NULL)`,
    );
    const found = await versionOf(client, schema, component);
    const newest = newestVersion({ steps });
    for (const step of steps.slice(found && found - FIRST_VERSION + 1)) await client.query(step(schema));
    if (found < newest)
      await client.query(
        `INSERT INTO ${schema}.schema_versions VALUES ($1, $2)
         ON CONFLICT (component) DO UPDATE SET version = excluded.version`,
        [component, newest],
      );
    if (settings) await client.query(settings(schema));
    if (serviceRole !== undefined) {
      const role = client.escapeIdentifier(serviceRole);
      const all = [{ on: 'schema_versions', privileges: 'SELECT' }, ...grants(schema)];
      await client.query(`GRANT USAGE${ownTables ? ', CREATE' : ''} ON SCHEMA ${schema} TO ${role}`);
      for (const { on, privileges } of all) {
        const name = on.split(' ').at(-1)!;
        await client.query(
          `GRANT ${privileges} ON ${on.slice(0, on.length - name.length)}${schema}.${name} TO ${role}`,
        );
      }
    }
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    await client.end();
  }
};

/** Reads the schema and changes nothing. @throws UnreleasedData */
export const requireReleasedSchema = async ({ url, schema }: { url: string; schema: string }): Promise<void> => {
  const client = new pg.Client({ connectionString: url, application_name: 'attestry migrate' });
  await client.connect();
  try {
    await schemaVersion(client, checkedSchema(schema), '');
  } finally {
    await client.end();
  }
};

/** The tables are missing, or those of an older release. */
export class NotMigrated extends Error {
  override readonly name = 'NotMigrated';
}

/** @throws NotMigrated, UnreleasedData */
export const requireVersion = async (
  pool: Pool,
  schema: string,
  { component, steps }: Pick<Migrations, 'component' | 'steps'>,
): Promise<void> => {
  const version = await schemaVersion(pool, schema, component);
  const needed = newestVersion({ steps });
  if (version < needed)
    throw new NotMigrated(
      `${schema}: ${component} has schema version ${version}, this release needs ${needed}: run "npm run migrate"`,
    );
};

/**
 * A pool on a schema that was migrated.
 * @throws NotMigrated, UnreleasedData
 */
export const openDatabase = async (options: PostgresOptions, ...needed: readonly Migrations[]): Promise<Pool> => {
  const pool = openPool(options);
  try {
    for (const component of needed) await requireVersion(pool, options.schema, component);
    return pool;
  } catch (error) {
    await pool.end();
    throw error;
  }
};

/** `undefined_table` and `invalid_schema_name`: nothing was migrated yet. */
const absent = (error: { code?: string }): number => {
  if (error.code === '42P01' || error.code === '3F000') return 0;
  // eslint-disable-next-line @typescript-eslint/only-throw-error -- what pg rejects with is an Error
  throw error;
};
