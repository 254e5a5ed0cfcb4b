import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type CopyCounts } from '@attestry/event-store';
import { copyKeys, type CopiedKeys, type MasterKeysGiven } from '@attestry/keys';
import { masterKeysOf, parseConfig } from '@attestry/service-kit';
import { lockDataFolder, type DataFolderLock } from '@attestry/sqlite';
import { copyHistory, type CopiedHistory } from './copy-history.js';
import { keyLocationOf, mustExist } from './key-location.js';
import { UsageError } from '../run-command.js';
import {
  kindsOf,
  nameOf,
  parseLocation,
  LOCATION_FORMATS,
  type HistoryKind,
  type StoreLocation,
} from './store-location.js';

const USAGE = `usage: npm run copy-events -- --from PLACE --to PLACE [--tenant ID] [--only events|operations]
  [--from-checkpoints PLACE] [--to-checkpoints PLACE] [--keys-from PLACE --keys-to PLACE] [--new-secrets]
  [--live] [--leave-unpublished]
PLACE: ${LOCATION_FORMATS}`;

const OPTIONS = {
  from: { type: 'string' },
  to: { type: 'string' },
  tenant: { type: 'string' },
  only: { type: 'string' },
  'from-checkpoints': { type: 'string' },
  'to-checkpoints': { type: 'string' },
  'keys-from': { type: 'string' },
  'keys-to': { type: 'string' },
  'new-secrets': { type: 'boolean' },
  live: { type: 'boolean' },
  'leave-unpublished': { type: 'boolean' },
} as const;

class Usage extends UsageError {
  constructor(message: string) {
    super(`${message}\n${USAGE}`);
  }
}

const readArguments = (words: readonly string[], prefix: string | undefined) => {
  let values;
  try {
    ({ values } = parseArgs({ args: [...words], options: OPTIONS }));
  } catch (error) {
    throw new Usage((error as Error).message);
  }
  const location = (name: 'from-checkpoints' | 'to-checkpoints' | 'keys-from' | 'keys-to') =>
    values[name] === undefined ? undefined : parseLocation(values[name], prefix);
  if (!values.from || !values.to) throw new Usage('--from and --to are required');
  const [from, to] = [values.from, values.to].map((text) => parseLocation(text, prefix)) as [
    StoreLocation,
    StoreLocation,
  ];
  const { only } = values;
  if (only !== undefined && only !== 'events' && only !== 'operations')
    throw new Usage(`--only must be events or operations, not ${only}`);
  const kinds = kindsOf(from).filter((kind) => kindsOf(to).includes(kind) && (only ?? kind) === kind);
  if (!kinds.length) throw new Usage(`there is nothing to copy from ${nameOf(from)} to ${nameOf(to)}`);
  const keys = { from: location('keys-from'), to: location('keys-to') };
  if (!keys.from !== !keys.to) throw new Usage('--keys-from and --keys-to must be given together');
  if (JSON.stringify(from) === JSON.stringify(to)) throw new Usage('--from and --to must be different places');
  return {
    values,
    from,
    to,
    kinds,
    keys,
    fromCheckpoints: location('from-checkpoints'),
    toCheckpoints: location('to-checkpoints'),
  };
};

/** No platform runs on a folder that is locked here. */
const lockFolders = async (locations: readonly (StoreLocation | undefined)[]): Promise<DataFolderLock[]> => {
  const folders = new Set(locations.flatMap((location) => (location && 'folder' in location ? [location.folder] : [])));
  const locks: DataFolderLock[] = [];
  for (const folder of folders) locks.push(await lockDataFolder(folder));
  return locks;
};

/** MASTER_KEY, or the key of a development installation in the source folder of the keys. */
const masterKeys = (keysFrom: StoreLocation, env: Record<string, string | undefined>): MasterKeysGiven => {
  const config = parseConfig(env, undefined, 'migrate');
  if (config.masterKey) return masterKeysOf(config);
  if (!('folder' in keysFrom) || !existsSync(join(keysFrom.folder, 'master.key')))
    throw new Error('MASTER_KEY is required to copy keys');
  return masterKeysOf(parseConfig({ ...env, DATA_DIR: keysFrom.folder }, undefined, 'migrate'));
};

const PROGRESS_MS = 1000;
const progressReporter = (kind: HistoryKind, report: (line: string) => void) => {
  let reportedAt = 0;
  return ({ read, copied, present }: CopyCounts): void => {
    if (Date.now() - reportedAt < PROGRESS_MS) return;
    reportedAt = Date.now();
    report(`${kind}: ${read} read, ${copied} copied, ${present} already present`);
  };
};

export interface Summary extends Partial<Record<HistoryKind, CopiedHistory>> {
  /** The target may be started. */
  complete: boolean;
  keys?: CopiedKeys;
  seconds: number;
}

/** Copies history, and keys if requested, by the arguments of a command. */
export const runCopy = async (
  words: readonly string[],
  env: Record<string, string | undefined>,
  signal: AbortSignal,
  report: (line: string) => void,
): Promise<Summary> => {
  const { eventStorePrefix, operationEventsDays } = parseConfig(env, undefined, 'migrate');
  const { values, from, to, kinds, keys, fromCheckpoints, toCheckpoints } = readArguments(words, eventStorePrefix);
  const begun = Date.now();
  for (const location of [from, keys.from])
    if (location && 'folder' in location && !existsSync(location.folder))
      throw new Error(`${nameOf(location)} does not exist`);
  const sources = values.live ? [] : [from, fromCheckpoints, keys.from];
  const locks = await lockFolders([...sources, to, toCheckpoints, keys.to]);
  try {
    const done: Omit<Summary, 'complete' | 'seconds'> = {};
    // Keys first: if the keys do not fit, the copy of history does not begin.
    if (keys.from && keys.to)
      done.keys = await copyKeys(mustExist(keyLocationOf(keys.from)), keyLocationOf(keys.to), {
        masterKeys: masterKeys(keys.from, env),
        otherPepper: values['new-secrets'] ?? false,
        ...(values.tenant !== undefined && { tenantId: values.tenant }),
      });
    else report('keys are not copied; use --keys-from and --keys-to to copy them');
    for (const kind of kinds)
      if (!signal.aborted)
        done[kind] = await copyHistory({
          kind,
          from,
          to,
          fromCheckpoints,
          toCheckpoints,
          tenantId: values.tenant,
          live: values.live,
          leaveUnpublished: values['leave-unpublished'],
          retentionDays: operationEventsDays,
          signal,
          onProgress: progressReporter(kind, report),
        });
    const complete = kinds.every((kind) => done[kind]?.complete);
    if (!complete) report('not complete: run the command again before you start a platform on the target');
    return { complete, ...done, seconds: (Date.now() - begun) / 1000 };
  } finally {
    for (const lock of locks) lock.release();
  }
};
