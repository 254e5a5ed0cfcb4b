import {
  authorize,
  checkCredentialConfiguration,
  countDomainConfigurations,
  completeAuthorization,
  createOffer,
  createPreAuthorizedOffer,
  createUser,
  deletePreAuthorizedOffer,
  deleteUser,
  exchangeToken,
  issueCredential,
  issueNonce,
  jwtVcConfigurations,
  listUserCredentials,
  listUsers,
  retrieveAuthorizationServerMetadata,
  retrieveContext,
  retrieveIssuerMetadata,
  retrieveOauthKeys,
  retrieveOfferContent,
  retrieveUser,
  webSemanticConfigurations,
} from '@attestry/contracts';
import { command, query, type Endpoint } from '@attestry/service-kit';
import { Authorize } from './authorize/authorize.js';
import { CountDomainConfigurations } from './count-domain-configurations/count-domain-configurations.js';
import { CheckCredentialConfiguration } from './check-credential-configuration/check-credential-configuration.js';
import { CompleteAuthorization } from './complete-authorization/complete-authorization.js';
import { CreateCredentialConfiguration } from './create-credential-configuration/create-credential-configuration.js';
import { CreateUser } from './create-user/create-user.js';
import { DeleteCredentialConfiguration } from './delete-credential-configuration/delete-credential-configuration.js';
import { DeleteUser } from './delete-user/delete-user.js';
import { ListCredentialConfigurations } from './list-credential-configurations/list-credential-configurations.js';
import { ListUserCredentials } from './list-user-credentials/list-user-credentials.js';
import { ListUsers } from './list-users/list-users.js';
import { RetrieveContext } from './retrieve-context/retrieve-context.js';
import { RetrieveCredentialConfiguration } from './retrieve-credential-configuration/retrieve-credential-configuration.js';
import { RetrieveUser } from './retrieve-user/retrieve-user.js';
import { UpdateCredentialConfiguration } from './update-credential-configuration/update-credential-configuration.js';
import { CreateOffer } from './create-offer/create-offer.js';
import { CreatePreAuthorizedOffer } from './create-pre-authorized-offer/create-pre-authorized-offer.js';
import { DeletePreAuthorizedOffer } from './delete-pre-authorized-offer/delete-pre-authorized-offer.js';
import { ExchangeToken } from './exchange-token/exchange-token.js';
import { IssueCredential } from './issue-credential/issue-credential.js';
import { IssueNonce } from './issue-nonce/issue-nonce.js';
import { RetrieveAuthorizationServerMetadata } from './retrieve-authorization-server-metadata/retrieve-authorization-server-metadata.js';
import { RetrieveIssuerMetadata } from './retrieve-issuer-metadata/retrieve-issuer-metadata.js';
import { RetrieveOauthKeys } from './retrieve-oauth-keys/retrieve-oauth-keys.js';
import { RetrieveOfferContent } from './retrieve-offer-content/retrieve-offer-content.js';

/** Alike for every format: the handlers read the format from the operation's variant. */
const configurationEndpoints = (of: typeof webSemanticConfigurations | typeof jwtVcConfigurations): Endpoint[] => [
  command(of.create, CreateCredentialConfiguration),
  query(of.list, ListCredentialConfigurations),
  query(of.retrieve, RetrieveCredentialConfiguration),
  command(of.update, UpdateCredentialConfiguration),
  command(of.delete, DeleteCredentialConfiguration),
];

export const issuanceEndpoints: Endpoint[] = [
  // Credential configurations
  ...configurationEndpoints(webSemanticConfigurations),
  ...configurationEndpoints(jwtVcConfigurations),
  query(checkCredentialConfiguration, CheckCredentialConfiguration),
  query(countDomainConfigurations, CountDomainConfigurations),
  query(retrieveContext, RetrieveContext),

  // Users
  command(createUser, CreateUser),
  query(listUsers, ListUsers),
  query(retrieveUser, RetrieveUser),
  command(deleteUser, DeleteUser),
  query(listUserCredentials, ListUserCredentials),

  // Offers and the OID4VCI protocol
  query(createOffer, CreateOffer),
  command(createPreAuthorizedOffer, CreatePreAuthorizedOffer),
  command(deletePreAuthorizedOffer, DeletePreAuthorizedOffer),
  query(retrieveOfferContent, RetrieveOfferContent),
  command(authorize, Authorize),
  command(completeAuthorization, CompleteAuthorization),
  command(exchangeToken, ExchangeToken),
  query(issueNonce, IssueNonce),
  command(issueCredential, IssueCredential),
  query(retrieveIssuerMetadata, RetrieveIssuerMetadata),
  query(retrieveAuthorizationServerMetadata, RetrieveAuthorizationServerMetadata),
  query(retrieveOauthKeys, RetrieveOauthKeys),
];
