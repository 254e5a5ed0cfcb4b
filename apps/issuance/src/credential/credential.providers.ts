import { CredentialIssuer } from './credential-issuer/credential-issuer.js';
import { DeferredIssuances } from './deferred-issuance/deferred-issuances.js';
import { DeferredIssuancesReadModel } from './deferred-issuance/deferred-issuances.read-model.js';
import { ListedDeferrals } from './deferred-issuance/listed-deferrals.js';
import { MessageEncryption } from './message-encryption/message-encryption.js';

export const credentialProviders = [
  MessageEncryption,
  CredentialIssuer,
  DeferredIssuances,
  DeferredIssuancesReadModel,
  ListedDeferrals,
];
