import { CredentialIssuer } from './credential-issuer/credential-issuer.js';
import { SignedCredentials } from './credential-issuer/signed-credentials.js';
import { DeferredIssuances } from './deferred-issuance/deferred-issuances.js';
import { DeferredIssuancesReadModel } from './deferred-issuance/deferred-issuances.read-model.js';
import { ListedDeferrals } from './deferred-issuance/listed-deferrals.js';
import { CredentialRequests } from './issue-credential/credential-requests.js';
import { DeferredRights } from './issue-deferred-credential/deferred-rights.js';
import { MessageEncryption } from './message-encryption/message-encryption.js';

export const credentialProviders = [
  MessageEncryption,
  SignedCredentials,
  CredentialIssuer,
  CredentialRequests,
  DeferredIssuances,
  DeferredRights,
  DeferredIssuancesReadModel,
  ListedDeferrals,
];
