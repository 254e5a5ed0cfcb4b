import { CredentialIssuer } from './credential-issuer/credential-issuer.js';
import { IssuanceInputs } from './credential-issuer/issuance-inputs.js';
import { DeferredIssuances } from './deferred-issuance/deferred-issuances.js';
import { DeferredIssuancesReadModel } from './deferred-issuance/deferred-issuances.read-model.js';
import { ListedDeferrals } from './deferred-issuance/listed-deferrals.js';
import { CredentialRequests } from './issue-credential/credential-requests.js';
import { DeferredRights } from './issue-deferred-credential/deferred-rights.js';
import { MessageEncryption } from './message-encryption/message-encryption.js';

export const credentialProviders = [
  MessageEncryption,
  IssuanceInputs,
  CredentialIssuer,
  CredentialRequests,
  DeferredIssuances,
  DeferredRights,
  DeferredIssuancesReadModel,
  ListedDeferrals,
];
