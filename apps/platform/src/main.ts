import 'reflect-metadata';
import { createLogger, loadConfig, parseConfig, type PlatformConfig } from '@attestry/service-kit';
import { tryPort } from './listening-ports.js';
import { startPlatform } from './platform.js';
import { runCommand } from './run-command.js';

/** How long a stop may take before the process is ended anyway. */
const STOP_MS = 15_000;
/** The start of a new or small folder takes less. */
const MOST_MS_TO_READY = 2000;

const readConfig = async (): Promise<PlatformConfig> => {
  const config = await loadConfig(process.env);
  // BASE_DOMAIN's default contains the port, so a free one is chosen before the configuration is read.
  return config.port === 0 ? parseConfig(process.env, await tryPort(0, config.host)) : config;
};

const main = async (): Promise<void> => {
  const config = await readConfig();
  const logger = createLogger(config.logLevel, { service: config.service });
  let stopping: Promise<void> | undefined;
  const stop = (code: number): void => {
    stopping ??= (async () => {
      setTimeout(() => process.exit(code || 1), config.shutdownDelay * 1000 + STOP_MS).unref();
      await platform?.close();
      process.exit(code);
    })();
  };
  const platform = await startPlatform(config, { logger, callsByReference: true, onFatal: () => stop(1) });
  process.on('SIGTERM', () => stop(0));
  process.on('SIGINT', () => stop(0));
  // A client that starts at the line finds it ready at once. A platform that reads many events first is reported now, as it serves calls.
  await platform.engines.health.untilReady(MOST_MS_TO_READY);
  const line = ready(config, platform.adminPort);
  process.stdout.write(`${JSON.stringify(line)}\n`);
  // `npm start` measures the duration of a start.
  process.send?.(line);
};

/** The one line printed when the process is ready. */
const ready = (config: PlatformConfig, adminPort: number | undefined) => {
  const url = (host: string) => `${config.publicScheme}://${host}`;
  const [environment] = config.environments;
  return {
    level: 'info',
    msg: 'ready',
    management: url(config.managementDomain),
    auth: url(environment!.authorizationServerDomain),
    tenants: url(`<subdomain>.${environment!.domain}`),
    port: config.port,
    ...(config.service && { service: config.service }),
    ...(adminPort !== undefined && { adminPort }),
    dataDir: config.dataDir,
    ...(!config.managementClientId && { managementClientFile: `${config.dataDir}/management-client.json` }),
  };
};

runCommand(main);
