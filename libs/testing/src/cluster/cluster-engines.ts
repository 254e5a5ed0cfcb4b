import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findNatsServer, NatsServer } from '../nats-server.js';
import { findPostgres, PostgresServer } from '../postgres-server.js';
import { findRedisServer, RedisServer } from '../redis-server.js';

/** The engines of a cluster: where they are, and those of them that were started here. */
export interface ClusterEngines {
  /** Their addresses, as the configuration names them. */
  env: Record<string, string>;
  nats?: NatsServer;
  postgres?: PostgresServer;
  redis?: RedisServer;
  stop(): Promise<void>;
  release(): void;
}

export interface MissingEngine {
  name: string;
  /** How to have it. */
  debian: string;
  macos: string;
  /** The variable that names one that runs already. */
  variable: string;
}

const ENGINES = {
  nats: { name: 'nats-server', debian: 'nats-server', macos: 'nats-server', variable: 'NATS_URL' },
  postgres: { name: 'PostgreSQL', debian: 'postgresql', macos: 'postgresql@17', variable: 'DATABASE_URL' },
  redis: { name: 'Redis or Valkey', debian: 'redis-server', macos: 'valkey', variable: 'REDIS_URL' },
} as const;

/** Engines that are neither installed nor named by `env`. */
export const missingEngines = (env: Record<string, string | undefined>): MissingEngine[] =>
  (['nats', 'postgres', 'redis'] as const)
    .filter((engine) => {
      if (env[ENGINES[engine].variable]) return false;
      return { nats: findNatsServer, postgres: findPostgres, redis: findRedisServer }[engine]() === undefined;
    })
    .map((engine) => {
      const { name, debian, macos, variable } = ENGINES[engine];
      return { name, debian: `apt install ${debian}`, macos: `brew install ${macos}`, variable };
    });

const GIVEN = [
  ...['NATS_URL', 'NATS_USER', 'NATS_PASSWORD', 'NATS_CREDENTIALS_FILE', 'NATS_CA_FILE', 'NATS_CERT_FILE'],
  ...['NATS_KEY_FILE', 'DATABASE_URL', 'MIGRATION_DATABASE_URL', 'DATABASE_SERVICE_ROLE', 'KEYS_DATABASE_URL'],
  ...['REDIS_URL', 'EVENTSTORE_URL'],
];

/** Uses the engines that `env` names and starts the others, each on a free port with a separate data folder. */
export const startClusterEngines = async (
  folder: string,
  env: Record<string, string | undefined> = process.env,
): Promise<ClusterEngines> => {
  const missing = missingEngines(env);
  if (missing.length) throw new Error(`missing: ${missing.map(({ name }) => name).join(', ')}`);
  const given = Object.fromEntries(GIVEN.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
  // PostgreSQL does not run as root, and whom it runs as must get to its own folder.
  if (process.getuid?.() === 0) chmodSync(folder, 0o711);
  const own = (name: string) => {
    const path = join(folder, name);
    mkdirSync(path, { recursive: true });
    return path;
  };
  const engines: ClusterEngines = {
    env: given,
    async stop() {
      await Promise.all([engines.nats?.stop(), engines.postgres?.stop(), engines.redis?.stop()]);
    },
    release() {
      engines.nats?.release();
      engines.postgres?.release();
      engines.redis?.release();
    },
  };
  try {
    // All of them are waited for: one that starts while another has failed must be stopped too.
    const starting = await Promise.allSettled([
      given['NATS_URL'] ??
        NatsServer.start(findNatsServer()!, own('nats')).then((server) => {
          engines.nats = server;
          engines.env['NATS_URL'] = server.url;
        }),
      given['DATABASE_URL'] ??
        PostgresServer.start(findPostgres()!, own('postgres')).then((server) => {
          engines.postgres = server;
          engines.env['DATABASE_URL'] = server.url();
        }),
      given['REDIS_URL'] ??
        RedisServer.start(findRedisServer()!, own('redis')).then((server) => {
          engines.redis = server;
          engines.env['REDIS_URL'] = server.url;
        }),
    ]);
    for (const started of starting) if (started.status === 'rejected') throw started.reason;
    return engines;
  } catch (error) {
    await engines.stop();
    throw error;
  }
};
