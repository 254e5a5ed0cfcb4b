import { PARTICIPANTS } from '@attestry/contracts';
import { loadEventTables, openEventStoreDb } from '@attestry/event-store';
import { EvictingReplayStore, inspectRedisServer, loadKeyTables } from '@attestry/keys';
import { inspectNatsBus } from '@attestry/messaging';
import type { Migrations, SchemaFault } from '@attestry/postgres';
import { loadReadModelTables } from '@attestry/read-model';
import type { PlatformConfig, Purpose } from '../config/config.js';
import { consumerOwners } from './consumer-owners.js';
import { databases, type DatabaseUse } from './databases.js';
import { evictionRefusal, refusalText } from './inspect-engines.js';
import { ownerUrl } from './migrate-engines.js';
import { natsOptions } from './nats-options.js';

export interface EnginesReached {
  /** Each with its setting and a remedy; without addresses with credentials. */
  faults: string[];
  passed: string[];
}

type FaultKind = SchemaFault['kind'];

const TIMEOUT_MS = 3000;

const BEGIN_EMPTY = 'export what you need with that version, and begin with an empty one (docs/releases.md)';

const REMEDIES: Record<string, Record<FaultKind, string>> = {
  postgres: {
    connection: 'start the server, or correct the address',
    credentials: 'correct user and password in the URL',
    rights: 'run "npm run migrate" with DATABASE_SERVICE_ROLE set to this user, which grants them',
    schema: 'run "npm run migrate" of this release',
    unreleased: BEGIN_EMPTY,
  },
  owner: {
    connection: 'start the server, or correct the address',
    credentials: 'correct user and password in the URL',
    rights: 'set MIGRATION_DATABASE_URL to the role that owns the schemas, or the database',
    schema: 'run "npm run migrate" of this release',
    unreleased: BEGIN_EMPTY,
  },
  nats: {
    connection: 'start a server, or correct the address',
    credentials:
      'set NATS_USER and NATS_PASSWORD, or NATS_CREDENTIALS_FILE, to the user of this service (docs/guides/nats.md)',
    rights: 'install deploy/nats/users.conf of this release for this namespace (docs/guides/nats.md)',
    schema: 'run "npm run migrate" of this release',
    unreleased: BEGIN_EMPTY,
  },
};

/** Connects to every engine that the process or the migration uses. Changes and creates nothing. */
export const reachEngines = async (config: PlatformConfig, purpose: Purpose): Promise<EnginesReached> => {
  const found: EnginesReached = { faults: [], passed: [] };
  const refuse = (setting: string, reason: string, remedy: string) =>
    void found.faults.push(refusalText({ setting, reason, remedy }));
  const used = new Set<string>(
    purpose === 'migrate'
      ? ['database', 'eventStore']
      : config.service === undefined
        ? ['database', 'eventStore', 'redis']
        : PARTICIPANTS[config.service].engines,
  );
  const checks: Promise<void>[] = [];
  const add = (setting: string, remedies: Record<FaultKind, string>, inspect: () => Promise<SchemaFault[]>) =>
    void checks.push(
      inspect().then((faults) => {
        // One fault for a server that does not answer, not one for each schema.
        const reasons = new Map(faults.map(({ reason, kind }) => [reason, kind]));
        for (const [reason, kind] of reasons) refuse(setting, reason, remedies[kind]);
        if (!faults.length) found.passed.push(`${setting}: connected, with the rights and the schema of this release`);
      }),
    );

  const database = databases(config);
  if (database && used.has('database'))
    for (const { setting, uses } of await usesBySetting(config, database)) {
      const schemas = uses.map(({ schema }) => schema);
      if (purpose === 'migrate') {
        const [first] = uses as [Use, ...Use[]];
        const owner = config.migrationDatabaseUrl;
        const url = owner === undefined ? first.url : ownerUrl(first.url, owner);
        const name =
          owner !== undefined && new URL(url).username === new URL(owner).username ? 'MIGRATION_DATABASE_URL' : setting;
        add(name, REMEDIES['owner']!, async () => {
          const { inspectOwner } = await import('@attestry/postgres');
          return inspectOwner({ url, schemas, timeoutMs: TIMEOUT_MS });
        });
      } else
        add(setting, REMEDIES['postgres']!, async () => {
          const { inspectSchema } = await import('@attestry/postgres');
          const inspect = ({ url, schema, components }: Use) =>
            inspectSchema({ url, schema, timeoutMs: TIMEOUT_MS }, components);
          return (await Promise.all(uses.map(inspect))).flat();
        });
    }
  if (config.eventStoreUrl !== undefined && used.has('eventStore'))
    checks.push(
      reachEventStoreDb(config.eventStoreUrl).then((reason) =>
        reason === undefined
          ? void found.passed.push('EVENTSTORE_URL: connected')
          : refuse(
              'EVENTSTORE_URL',
              reason,
              'start the server, or correct address, user and password; its user must be allowed to read $all',
            ),
      ),
    );
  if (config.redisUrl !== undefined && used.has('redis'))
    checks.push(
      inspectRedisServer(config.redisUrl, true).then(
        () => void found.passed.push('REDIS_URL: connected, maxmemory-policy is noeviction'),
        (error: unknown) =>
          error instanceof EvictingReplayStore
            ? void found.faults.push(refusalText(evictionRefusal(error)))
            : refuse('REDIS_URL', ...redisFault(error)),
      ),
    );
  if (config.natsServers !== undefined) {
    const name = purpose === 'migrate' ? 'migrate' : config.service;
    const owners = consumerOwners(purpose === 'migrate' || !config.service ? undefined : [config.service]);
    const options = { ...natsOptions(config), ...(name !== undefined && { name }) };
    add('NATS_URL', REMEDIES['nats']!, () => inspectNatsBus(options, owners, purpose === 'migrate'));
  }
  await Promise.all(checks);
  return found;
};

interface Use extends DatabaseUse {
  components: readonly Migrations[];
}

/** Schemas of each URL, with what this release creates in them. */
const usesBySetting = async (
  config: PlatformConfig,
  { events, operations, 'read-models': readModels, analytics, keys }: NonNullable<ReturnType<typeof databases>>,
): Promise<{ setting: string; uses: Use[] }[]> => {
  const stored = config.eventStoreUrl === undefined;
  const retention = { days: undefined };
  const [eventTables, operationTables, readModelTables, keyTables] = await Promise.all([
    loadEventTables({ events: stored }),
    loadEventTables({ events: stored, retention }),
    loadReadModelTables(),
    loadKeyTables(),
  ]);
  const own: Use[] = [
    { ...events, components: eventTables },
    { ...operations, components: operationTables },
    { ...readModels, components: readModelTables },
    { ...analytics, components: readModelTables },
  ];
  const ofKeys: Use = { ...keys, components: keyTables };
  return config.keysDatabaseUrl === undefined
    ? [{ setting: 'DATABASE_URL', uses: [...own, ofKeys] }]
    : [
        { setting: 'DATABASE_URL', uses: own },
        { setting: 'KEYS_DATABASE_URL', uses: [ofKeys] },
      ];
};

/** @returns why it cannot be used; messages of the client are left out, because they may repeat the URL */
const reachEventStoreDb = async (url: string): Promise<string | undefined> => {
  try {
    await (await openEventStoreDb({ url, timeoutMs: TIMEOUT_MS, onFailure: () => undefined })).close();
    return undefined;
  } catch (error) {
    return `names a server that cannot be read (${error instanceof Error ? error.name : 'error'})`;
  }
};

const redisFault = (error: unknown): [reason: string, remedy: string] => {
  const { message = '', code } = error as { message?: string; code?: string };
  // Replies of the server begin with the kind of error.
  const kind = /\b(WRONGPASS|NOAUTH|NOPERM|ERR AUTH)\b/.exec(message)?.[1];
  if (kind === 'NOPERM')
    return [
      'gives a user that may not run the commands of the platform (NOPERM)',
      'grant it INFO, EVAL, EVALSHA, GET, SET and the keys attestry:*',
    ];
  if (kind !== undefined)
    return [`names a server that refuses the user or its password (${kind})`, 'correct user and password in the URL'];
  return [
    `names a server that cannot be used (${code ?? 'no answer in time'})`,
    'start the server, or correct the address',
  ];
};
