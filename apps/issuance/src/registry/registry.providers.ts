import { CredentialReportsReadModel } from './credential-reports/credential-reports.read-model.js';
import { DeliveryInterest } from './delivery-interest/delivery-interest.directory.js';
import { CredentialErasures } from './persisted-credential/credential-erasures.js';
import { PersistedCredentials } from './persisted-credential/persisted-credentials.js';

export const registryProviders = [
  PersistedCredentials,
  CredentialErasures,
  CredentialReportsReadModel,
  DeliveryInterest,
];
