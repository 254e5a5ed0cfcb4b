import { ConfigurationsReadModel } from './credential-configuration/configurations.read-model.js';
import { CurrentConfigurations } from './credential-configuration/current-configurations.js';
import { PublishedConfigurations } from './credential-configuration/published-configurations.js';
import { HookSecrets } from './openid-settings/hook-secrets.js';
import { ProofMethods } from './proof-methods/proof-methods.js';

export const settingsProviders = [
  ConfigurationsReadModel,
  ProofMethods,
  HookSecrets,
  CurrentConfigurations,
  PublishedConfigurations,
];
