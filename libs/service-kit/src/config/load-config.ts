import {
  ConfigError,
  parseConfig,
  readSettings,
  type Environment,
  type PlatformConfig,
  type Purpose,
} from './config.js';
import {
  EngineInspector,
  refusalText,
  type BusUser,
  type EnginesInspection,
  type Lookup,
} from '../engines/inspect-engines.js';
import { natsOptions } from '../engines/nats-options.js';

export interface InspectOptions {
  purpose?: Purpose;
  /** Default: `SERVICE`; without it nothing when `purpose` is `migrate`. */
  busUser?: BusUser;
  lookup?: Lookup;
  /** Whether NATS servers are tested, as far as they respond. Default true. */
  tryServers?: boolean;
}

export interface ConfigInspection {
  /** Everything that prevents the process from starting, each with its setting. */
  faults: string[];
  passed: string[];
  skipped: string[];
}

/** Faults that prevent a process from starting, and in production what its engines lack. Changes and creates nothing. */
export const inspectConfig = async (
  env: Environment,
  { purpose = 'run', busUser, lookup, tryServers = true }: InspectOptions = {},
): Promise<ConfigInspection> => {
  const { faults, parsed } = readSettings(env, purpose);
  // Without a valid NODE_ENV the rules of production apply.
  if (parsed.nodeEnv !== undefined && parsed.nodeEnv !== 'production') return { faults, passed: [], skipped: [] };
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0')
    faults.push(
      'NODE_TLS_REJECT_UNAUTHORIZED=0 accepts the certificate of any server: remove it, and name your own authority in NODE_EXTRA_CA_CERTS',
    );
  const user = busUser ?? parsed.service ?? (purpose === 'migrate' ? 'none' : undefined);
  const inspector = new EngineInspector(parsed, user, lookup);
  let found: EnginesInspection = await inspector.inspect();
  if (
    tryServers &&
    parsed.natsServers !== undefined &&
    found.refusals.every(({ setting }) => !setting.startsWith('NATS'))
  )
    found = await inspector.inspectNatsServers(natsOptions(parsed));
  const isUsed = purpose === 'run' && parsed.redisUrl !== undefined;
  if (tryServers && isUsed && found.refusals.every(({ setting }) => setting !== 'REDIS_URL'))
    found = await inspector.inspectRedisServer(parsed.redisUrl!);
  return { faults: [...faults, ...found.refusals.map(refusalText)], passed: found.passed, skipped: found.skipped };
};

/**
 * Parses the environment as {@link parseConfig}; in production also refuses open engines.
 * @throws ConfigError naming every error and refusal at once
 */
export const loadConfig = async (env: Environment, options: InspectOptions = {}): Promise<PlatformConfig> => {
  const { faults } = await inspectConfig(env, options);
  if (faults.length) throw new ConfigError(faults);
  return parseConfig(env, undefined, options.purpose);
};
