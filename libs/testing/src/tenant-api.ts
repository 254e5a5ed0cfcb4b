import {
  createAuthenticationProvider,
  createCustomDomain,
  createDid,
  createPreAuthorizedOffer,
  createUser,
  createWebhook,
  deleteAuthenticationProvider,
  deleteCustomDomain,
  deleteDid,
  deletePreAuthorizedOffer,
  deleteUser,
  deleteWebhook,
  jwtVcConfigurations,
  listAuthenticationProviders,
  listDids,
  listEvents,
  listUserCredentials,
  listUsers,
  listWebhooks,
  retrieveAuthenticationProvider,
  retrieveCustomDomain,
  retrieveDid,
  retrieveIssuerMetadata,
  retrieveUser,
  retrieveWebhook,
  retrieveWebhookKeys,
  updateAuthenticationProvider,
  updateCustomDomain,
  updateWebhook,
  verifyCustomDomain,
  webSemanticConfigurations,
  type AnalyticsEvent,
  type AuthenticationProvider,
  type AuthenticationProviderRequest,
  type CreateDidRequest,
  type CreateUserRequest,
  type CustomDomain,
  type CustomDomainRequest,
  type DidRecord,
  type JwtVcConfiguration,
  type JwtVcConfigurationRequest,
  type ListedDid,
  type PageOf,
  type PreAuthorizedOffer,
  type PreAuthorizedOfferRequest,
  type User,
  type UserCredential,
  type Webhook,
  type WebhookKeySet,
  type WebhookRequest,
  type WebSemanticConfiguration,
  type WebSemanticConfigurationRequest,
} from '@attestry/contracts';
import { ApiClient, type Answer, type RequestParts } from './api-client.js';

type Query = RequestParts['query'];

const configurations = <Request, Configuration>(
  client: ApiClient,
  operations: typeof jwtVcConfigurations | typeof webSemanticConfigurations,
) => ({
  create: (body: Request) => client.call<Configuration>(operations.create, { body }),
  list: (query?: Query) => client.call<PageOf<Configuration>>(operations.list, { query }),
  retrieve: (id: string) => client.call<Configuration>(operations.retrieve, { params: { id } }),
  update: (id: string, body: Request) => client.call<Configuration>(operations.update, { params: { id }, body }),
  delete: (id: string) => client.call<undefined>(operations.delete, { params: { id } }),
});

/** The tenant API by resource, with the token of one client. */
export class TenantApi {
  readonly client: ApiClient;

  constructor(baseUrl: string, token: string) {
    this.client = new ApiClient(baseUrl, token);
  }

  readonly customDomain = {
    create: (body: CustomDomainRequest): Promise<Answer<CustomDomain>> =>
      this.client.call(createCustomDomain, { body }),
    retrieve: (): Promise<Answer<CustomDomain>> => this.client.call(retrieveCustomDomain),
    update: (body: CustomDomainRequest): Promise<Answer<CustomDomain>> =>
      this.client.call(updateCustomDomain, { body }),
    delete: (): Promise<Answer<undefined>> => this.client.call(deleteCustomDomain),
    verify: (): Promise<Answer<undefined>> => this.client.call(verifyCustomDomain),
  };

  readonly authenticationProviders = {
    create: (body: AuthenticationProviderRequest): Promise<Answer<AuthenticationProvider>> =>
      this.client.call(createAuthenticationProvider, { body }),
    list: (query?: Query): Promise<Answer<PageOf<AuthenticationProvider>>> =>
      this.client.call(listAuthenticationProviders, { query }),
    retrieve: (id: string): Promise<Answer<AuthenticationProvider>> =>
      this.client.call(retrieveAuthenticationProvider, { params: { id } }),
    update: (id: string, body: AuthenticationProviderRequest): Promise<Answer<AuthenticationProvider>> =>
      this.client.call(updateAuthenticationProvider, { params: { id }, body }),
    delete: (id: string): Promise<Answer<undefined>> =>
      this.client.call(deleteAuthenticationProvider, { params: { id } }),
  };

  readonly dids = {
    create: (body: CreateDidRequest): Promise<Answer<DidRecord>> => this.client.call(createDid, { body }),
    list: (query?: Query): Promise<Answer<PageOf<ListedDid>>> => this.client.call(listDids, { query }),
    retrieve: (id: string): Promise<Answer<DidRecord>> => this.client.call(retrieveDid, { params: { id } }),
    delete: (id: string): Promise<Answer<undefined>> => this.client.call(deleteDid, { params: { id } }),
  };

  get jwtVc() {
    return configurations<JwtVcConfigurationRequest, JwtVcConfiguration>(this.client, jwtVcConfigurations);
  }

  get webSemantic() {
    return configurations<WebSemanticConfigurationRequest, WebSemanticConfiguration>(
      this.client,
      webSemanticConfigurations,
    );
  }

  readonly offers = {
    create: (body: PreAuthorizedOfferRequest): Promise<Answer<PreAuthorizedOffer>> =>
      this.client.call(createPreAuthorizedOffer, { body }),
    delete: (id: string): Promise<Answer<undefined>> => this.client.call(deletePreAuthorizedOffer, { params: { id } }),
  };

  readonly users = {
    create: (body: CreateUserRequest = {}): Promise<Answer<User>> => this.client.call(createUser, { body }),
    list: (query?: Query): Promise<Answer<PageOf<User>>> => this.client.call(listUsers, { query }),
    retrieve: (id: string): Promise<Answer<User>> => this.client.call(retrieveUser, { params: { id } }),
    delete: (id: string): Promise<Answer<undefined>> => this.client.call(deleteUser, { params: { id } }),
    credentials: (userId: string, query?: Query): Promise<Answer<PageOf<UserCredential>>> =>
      this.client.call(listUserCredentials, { params: { userId }, query }),
  };

  readonly webhooks = {
    create: (body: WebhookRequest): Promise<Answer<Webhook>> => this.client.call(createWebhook, { body }),
    list: (query?: Query): Promise<Answer<PageOf<Webhook>>> => this.client.call(listWebhooks, { query }),
    retrieve: (webhookId: string): Promise<Answer<Webhook>> =>
      this.client.call(retrieveWebhook, { params: { webhookId } }),
    update: (webhookId: string, body: WebhookRequest): Promise<Answer<Webhook>> =>
      this.client.call(updateWebhook, { params: { webhookId }, body }),
    delete: (webhookId: string): Promise<Answer<undefined>> =>
      this.client.call(deleteWebhook, { params: { webhookId } }),
    keys: (): Promise<Answer<WebhookKeySet>> => this.client.call(retrieveWebhookKeys),
  };

  readonly analytics = {
    list: (query?: Query): Promise<Answer<PageOf<AnalyticsEvent>>> => this.client.call(listEvents, { query }),
  };

  metadata(): Promise<Answer<Record<string, unknown>>> {
    return this.client.call(retrieveIssuerMetadata);
  }
}
