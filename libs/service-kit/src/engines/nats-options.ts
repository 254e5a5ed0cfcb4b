import type { NatsOptions } from '@attestry/messaging';
import type { ParsedSettings } from '../config/config.js';

/** The connection to the NATS servers that the settings name. */
export const natsOptions = (config: ParsedSettings): NatsOptions => ({
  servers: config.natsServers ?? [],
  ...(config.natsNamespace !== undefined && { namespace: config.natsNamespace }),
  // Addresses that were not compared with PLAINTEXT_ENGINES.
  ignoreAdvertised: config.nodeEnv === 'production',
  ...(config.natsUser !== undefined && { user: config.natsUser, password: config.natsPassword ?? '' }),
  ...(config.natsCredentialsFile !== undefined && { credentials: config.natsCredentialsFile }),
  ...((config.natsCaFile ?? config.natsCertFile) !== undefined && {
    tls: {
      ...(config.natsCaFile !== undefined && { ca: config.natsCaFile }),
      ...(config.natsCertFile !== undefined && { cert: config.natsCertFile, key: config.natsKeyFile! }),
    },
  }),
});
