import type { Migrations } from '@attestry/postgres';

/** The registry's tables, as projection-registry.ts creates them in SQLite. Services create those of the projections. */
const registry = (schema: string): string => `
    CREATE TABLE ${schema}.projection (
      name text COLLATE "C" PRIMARY KEY,
      active_version bigint,
      active_generation bigint
    );
    CREATE TABLE ${schema}.projection_checkpoint (
      name text COLLATE "C" NOT NULL,
      version bigint NOT NULL,
      generation bigint NOT NULL,
      epoch bigint NOT NULL,
      position text COLLATE "C",
      tables text NOT NULL,
      retired_at bigint,
      CONSTRAINT projection_checkpoint_pk PRIMARY KEY (name, version, generation)
    );`;

export const READ_MODEL_TABLES: Migrations = {
  component: 'read-models',
  steps: [registry],
  grants: () => [
    { on: 'projection', privileges: 'SELECT, INSERT, UPDATE' },
    { on: 'projection_checkpoint', privileges: 'SELECT, INSERT, UPDATE, DELETE' },
  ],
  ownTables: true,
};
