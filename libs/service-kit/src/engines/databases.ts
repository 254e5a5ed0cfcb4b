import type { PlatformConfig } from '../config/config.js';

export interface DatabaseUse {
  url: string;
  schema: string;
  connections: number;
}

/** Database and schema of each use in PostgreSQL; `undefined` where no database is configured. */
export const databases = (config: PlatformConfig) => {
  const { databaseUrl, keysDatabaseUrl = databaseUrl, databaseSchema: schema, databasePool: connections } = config;
  if (databaseUrl === undefined || keysDatabaseUrl === undefined) return undefined;
  const use = (suffix: string, url = databaseUrl): DatabaseUse => ({ url, schema: `${schema}${suffix}`, connections });
  return {
    events: use(''),
    operations: use('_operations'),
    'read-models': use('_read'),
    analytics: use('_analytics'),
    keys: use('_keys', keysDatabaseUrl),
  };
};
