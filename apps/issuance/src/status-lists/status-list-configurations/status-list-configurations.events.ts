import type { Duration } from '@attestry/contracts';

export interface TokenDurations {
  timeToLiveDuration: Duration;
  expiryDuration: Duration;
}

export interface ConfiguredStatusLists extends TokenDurations {
  /** uuid */
  id: string;
  docType: string;
}

export type StatusListConfigurationsEvent =
  | { type: 'StatusListConfigurationCreated'; data: ConfiguredStatusLists }
  | { type: 'StatusListConfigurationUpdated'; data: { id: string } & TokenDurations }
  | { type: 'StatusListConfigurationDeleted'; data: { id: string } };
