import { ApiClient, type Answer } from './api-client.js';
import { interfaceClient } from './interface-client.js';
import type { components, paths } from './interface/tenant.js';

type Schemas = components['schemas'];
/** Query parameters of a list. */
type QueryOf<Path extends keyof paths> = paths[Path] extends { get: { parameters: { query?: infer Query } } }
  ? Query
  : never;

/** The tenant API by resource, with the token of one client. */
export class TenantApi {
  readonly client: ApiClient;
  private readonly calls;

  constructor(baseUrl: string, token: string) {
    this.client = new ApiClient(baseUrl, token);
    this.calls = interfaceClient<paths>(this.client);
  }

  get dids() {
    const { client, answerTo } = this.calls;
    return {
      create: (body: Schemas['CreateDidRequest']) => answerTo(client.POST('/v1/dids', { body })),
      list: (query?: QueryOf<'/v1/dids'>) => answerTo(client.GET('/v1/dids', { params: { query } })),
      retrieve: (id: string) => answerTo(client.GET('/v1/dids/{id}', { params: { path: { id } } })),
      updateDocument: (id: string) => answerTo(client.POST('/v1/dids/{id}/document', { params: { path: { id } } })),
      delete: (id: string) => answerTo(client.DELETE('/v1/dids/{id}', { params: { path: { id } } })),
    };
  }

  get jwtVc() {
    const { client, answerTo } = this.calls;
    const path = '/v2/credentials/jwt-vc/configurations';
    const one = '/v2/credentials/jwt-vc/configurations/{id}';
    const status = '/v2/credentials/jwt-vc/{id}/status';
    return {
      status: (id: string) => answerTo(client.GET(status, { params: { path: { id } } })),
      setStatus: (id: string, body: Schemas['SetCredentialStatusRequest']) =>
        answerTo(client.POST(status, { params: { path: { id } }, body })),
      create: (body: Schemas['JwtVcConfigurationRequest']) => answerTo(client.POST(path, { body })),
      list: (query?: QueryOf<typeof path>) => answerTo(client.GET(path, { params: { query } })),
      retrieve: (id: string) => answerTo(client.GET(one, { params: { path: { id } } })),
      update: (id: string, body: Schemas['JwtVcConfigurationRequest']) =>
        answerTo(client.PUT(one, { params: { path: { id } }, body })),
      delete: (id: string) => answerTo(client.DELETE(one, { params: { path: { id } } })),
    };
  }

  get sdJwt() {
    const { client, answerTo } = this.calls;
    const path = '/v2/credentials/sd-jwt/configurations';
    const one = '/v2/credentials/sd-jwt/configurations/{id}';
    const status = '/v2/credentials/sd-jwt/{id}/status';
    return {
      status: (id: string) => answerTo(client.GET(status, { params: { path: { id } } })),
      setStatus: (id: string, body: Schemas['SetCredentialStatusRequest']) =>
        answerTo(client.POST(status, { params: { path: { id } }, body })),
      create: (body: Schemas['SdJwtConfigurationRequest']) => answerTo(client.POST(path, { body })),
      list: (query?: QueryOf<typeof path>) => answerTo(client.GET(path, { params: { query } })),
      retrieve: (id: string) => answerTo(client.GET(one, { params: { path: { id } } })),
      update: (id: string, body: Schemas['SdJwtConfigurationRequest']) =>
        answerTo(client.PUT(one, { params: { path: { id } }, body })),
      delete: (id: string) => answerTo(client.DELETE(one, { params: { path: { id } } })),
    };
  }

  get compact() {
    const { client, answerTo } = this.calls;
    const path = '/v2/credentials/compact/configurations';
    const one = '/v2/credentials/compact/configurations/{id}';
    const status = '/v2/credentials/compact/{id}/revocation-status';
    const lists = '/v2/credentials/compact/revocation-lists';
    const issued = '/v2/credentials/compact/{id}';
    return {
      deleteCredential: (id: string) => answerTo(client.DELETE(issued, { params: { path: { id } } })),
      revocationLists: (query?: QueryOf<typeof lists>) => answerTo(client.GET(lists, { params: { query } })),
      revocationStatus: (id: string) => answerTo(client.GET(status, { params: { path: { id } } })),
      setRevocationStatus: (id: string, body: Schemas['SetRevocationStatusRequest']) =>
        answerTo(client.POST(status, { params: { path: { id } }, body })),
      create: (body: Schemas['CompactConfigurationRequest']) => answerTo(client.POST(path, { body })),
      list: (query?: QueryOf<typeof path>) => answerTo(client.GET(path, { params: { query } })),
      retrieve: (id: string) => answerTo(client.GET(one, { params: { path: { id } } })),
      update: (id: string, body: Schemas['CompactConfigurationRequest']) =>
        answerTo(client.PUT(one, { params: { path: { id } }, body })),
      delete: (id: string) => answerTo(client.DELETE(one, { params: { path: { id } } })),
    };
  }

  get compactSemantic() {
    const { client, answerTo } = this.calls;
    const path = '/v2/credentials/compact-semantic/configurations';
    const one = '/v2/credentials/compact-semantic/configurations/{id}';
    const status = '/v2/credentials/compact-semantic/{id}/revocation-status';
    const lists = '/v2/credentials/compact-semantic/revocation-lists';
    const issued = '/v2/credentials/compact-semantic/{id}';
    return {
      deleteCredential: (id: string) => answerTo(client.DELETE(issued, { params: { path: { id } } })),
      revocationLists: (query?: QueryOf<typeof lists>) => answerTo(client.GET(lists, { params: { query } })),
      revocationStatus: (id: string) => answerTo(client.GET(status, { params: { path: { id } } })),
      setRevocationStatus: (id: string, body: Schemas['SetRevocationStatusRequest']) =>
        answerTo(client.POST(status, { params: { path: { id } }, body })),
      create: (body: Schemas['CompactSemanticConfigurationRequest']) => answerTo(client.POST(path, { body })),
      list: (query?: QueryOf<typeof path>) => answerTo(client.GET(path, { params: { query } })),
      retrieve: (id: string) => answerTo(client.GET(one, { params: { path: { id } } })),
      update: (id: string, body: Schemas['CompactSemanticConfigurationRequest']) =>
        answerTo(client.PUT(one, { params: { path: { id } }, body })),
      delete: (id: string) => answerTo(client.DELETE(one, { params: { path: { id } } })),
    };
  }

  get mobile() {
    const { client, answerTo } = this.calls;
    const path = '/v2/credentials/mobile/configurations';
    const one = '/v2/credentials/mobile/configurations/{id}';
    const credential = '/v2/credentials/mobile/{id}';
    return {
      status: (id: string) => answerTo(client.GET(`${credential}/status`, { params: { path: { id } } })),
      setStatus: (id: string, body: Schemas['SetCredentialStatusRequest']) =>
        answerTo(client.POST(`${credential}/status`, { params: { path: { id } }, body })),
      deleteCredential: (id: string) => answerTo(client.DELETE(credential, { params: { path: { id } } })),
      create: (body: Schemas['MobileConfigurationRequest']) => answerTo(client.POST(path, { body })),
      list: (query?: QueryOf<typeof path>) => answerTo(client.GET(path, { params: { query } })),
      retrieve: (id: string) => answerTo(client.GET(one, { params: { path: { id } } })),
      update: (id: string, body: Schemas['MobileConfigurationRequest']) =>
        answerTo(client.PUT(one, { params: { path: { id } }, body })),
      delete: (id: string) => answerTo(client.DELETE(one, { params: { path: { id } } })),
    };
  }

  get webSemantic() {
    const { client, answerTo } = this.calls;
    const path = '/v2/credentials/web-semantic/configurations';
    const one = '/v2/credentials/web-semantic/configurations/{id}';
    const status = '/v2/credentials/web-semantic/{id}/revocation-status';
    return {
      revocationStatus: (id: string) => answerTo(client.GET(status, { params: { path: { id } } })),
      setRevocationStatus: (id: string, body: Schemas['SetRevocationStatusRequest']) =>
        answerTo(client.POST(status, { params: { path: { id } }, body })),
      notification: (id: string, body: Schemas['RevocationNotificationRequest']) =>
        answerTo(client.POST(`${status}/notification`, { params: { path: { id } }, body })),
      create: (body: Schemas['WebSemanticConfigurationRequest']) => answerTo(client.POST(path, { body })),
      list: (query?: QueryOf<typeof path>) => answerTo(client.GET(path, { params: { query } })),
      retrieve: (id: string) => answerTo(client.GET(one, { params: { path: { id } } })),
      update: (id: string, body: Schemas['WebSemanticConfigurationRequest']) =>
        answerTo(client.PUT(one, { params: { path: { id } }, body })),
      delete: (id: string) => answerTo(client.DELETE(one, { params: { path: { id } } })),
    };
  }

  /** Issued credentials of the JSON format. */
  get webSemanticCredentials() {
    const { client, answerTo } = this.calls;
    const path = '/v2/credentials/web-semantic';
    const one = '/v2/credentials/web-semantic/{id}';
    return {
      list: (query?: QueryOf<typeof path>) => answerTo(client.GET(path, { params: { query } })),
      retrieve: (id: string) => answerTo(client.GET(one, { params: { path: { id } } })),
      delete: (id: string) => answerTo(client.DELETE(one, { params: { path: { id } } })),
    };
  }

  get iacas() {
    const { client, answerTo } = this.calls;
    const path = '/v2/credentials/mobile/iacas';
    const one = '/v2/credentials/mobile/iacas/{id}';
    return {
      create: (body: Schemas['IacaRequest']) => answerTo(client.POST(path, { body })),
      list: (query?: QueryOf<typeof path>) => answerTo(client.GET(path, { params: { query } })),
      retrieve: (id: string) => answerTo(client.GET(one, { params: { path: { id } } })),
      update: (id: string, active: boolean) =>
        answerTo(client.PUT(one, { params: { path: { id } }, body: { active } })),
      delete: (id: string) => answerTo(client.DELETE(one, { params: { path: { id } } })),
      uploadCrl: (id: string, crlPem: string) =>
        answerTo(client.PUT(`${one}/crl`, { params: { path: { id } }, body: { crlPem } })),
    };
  }

  get documentSigners() {
    const { client, answerTo } = this.calls;
    const path = '/v2/credentials/mobile/document-signers';
    const one = '/v2/credentials/mobile/document-signers/{id}';
    return {
      create: (iacaId: string) => answerTo(client.POST(path, { body: { iacaId } })),
      list: (query?: QueryOf<typeof path>) => answerTo(client.GET(path, { params: { query } })),
      retrieve: (id: string) => answerTo(client.GET(one, { params: { path: { id } } })),
      update: (id: string, body: Schemas['UpdateDocumentSignerRequest']) =>
        answerTo(client.PUT(one, { params: { path: { id } }, body })),
      delete: (id: string) => answerTo(client.DELETE(one, { params: { path: { id } } })),
      revoke: (id: string) => answerTo(client.POST(`${one}/revoke`, { params: { path: { id } } })),
    };
  }

  get statusListSigners() {
    const { client, answerTo } = this.calls;
    const path = '/v2/credentials/mobile/status-list-signers';
    const one = '/v2/credentials/mobile/status-list-signers/{id}';
    return {
      create: (iacaId: string) => answerTo(client.POST(path, { body: { iacaId } })),
      list: (query?: QueryOf<typeof path>) => answerTo(client.GET(path, { params: { query } })),
      update: (id: string, body: Schemas['UpdateDocumentSignerRequest']) =>
        answerTo(client.PUT(one, { params: { path: { id } }, body })),
      delete: (id: string) => answerTo(client.DELETE(one, { params: { path: { id } } })),
    };
  }

  /** Status lists of mobile documents. */
  get statusLists() {
    const { client, answerTo } = this.calls;
    const path = '/v2/credentials/mobile/status-lists';
    const configurations = '/v2/credentials/mobile/status-lists/configurations';
    return {
      list: (query?: QueryOf<typeof path>) => answerTo(client.GET(path, { params: { query } })),
      distribution: () => answerTo(client.GET(`${path}/distribution`)),
      configure: (body: Schemas['StatusListConfigurationRequest']) => answerTo(client.POST(configurations, { body })),
    };
  }

  get wallets() {
    const { client, answerTo } = this.calls;
    const path = '/v1/openid/wallets';
    const one = '/v1/openid/wallets/{id}';
    return {
      create: (body: Schemas['WalletRequest']) => answerTo(client.POST(path, { body })),
      list: (query?: QueryOf<typeof path>) => answerTo(client.GET(path, { params: { query } })),
      retrieve: (id: string) => answerTo(client.GET(one, { params: { path: { id } } })),
      update: (id: string, body: Schemas['WalletRequest']) =>
        answerTo(client.PUT(one, { params: { path: { id } }, body })),
      delete: (id: string) => answerTo(client.DELETE(one, { params: { path: { id } } })),
    };
  }

  /** Wallets with root certificates. */
  get attestedWallets() {
    const { client, answerTo } = this.calls;
    const path = '/v1/openid/wallet-attestation-configurations';
    const one = '/v1/openid/wallet-attestation-configurations/{id}';
    return {
      create: (body: Schemas['AttestedWalletRequest']) => answerTo(client.POST(path, { body })),
      list: (query?: QueryOf<typeof path>) => answerTo(client.GET(path, { params: { query } })),
      retrieve: (id: string) => answerTo(client.GET(one, { params: { path: { id } } })),
      update: (id: string, body: Schemas['AttestedWalletRequest']) =>
        answerTo(client.PUT(one, { params: { path: { id } }, body })),
      delete: (id: string) => answerTo(client.DELETE(one, { params: { path: { id } } })),
    };
  }

  /** Settings of the OID4VCI endpoints. */
  get openIdConfiguration() {
    const { client, answerTo } = this.calls;
    const path = '/v1/openid/configuration';
    return {
      retrieve: () => answerTo(client.GET(path)),
      update: (body: Schemas['OpenIdConfigurationRequest']) => answerTo(client.PUT(path, { body })),
    };
  }

  get claimSources() {
    const { client, answerTo } = this.calls;
    const path = '/v1/claim-sources';
    const one = '/v1/claim-sources/{id}';
    return {
      create: (body: Schemas['ClaimSourceRequest']) => answerTo(client.POST(path, { body })),
      list: (query?: QueryOf<typeof path>) => answerTo(client.GET(path, { params: { query } })),
      retrieve: (id: string) => answerTo(client.GET(one, { params: { path: { id } } })),
      update: (id: string, body: Schemas['ClaimSourceRequest']) =>
        answerTo(client.PUT(one, { params: { path: { id } }, body })),
      delete: (id: string) => answerTo(client.DELETE(one, { params: { path: { id } } })),
    };
  }

  get offers() {
    const { client, answerTo } = this.calls;
    return {
      /** Creates an offer of the authorization code flow. */
      createOpen: (body: Schemas['OfferRequest']) => answerTo(client.POST('/v1/openid/offers', { body })),
      deleteOpen: (id: string) => answerTo(client.DELETE('/v1/openid/offers/{id}', { params: { path: { id } } })),
      create: (body: Schemas['PreAuthorizedOfferRequest']) =>
        answerTo(client.POST('/v1/openid/offers/pre-authorized', { body })),
      list: (query?: QueryOf<'/v1/openid/offers/pre-authorized'>) =>
        answerTo(client.GET('/v1/openid/offers/pre-authorized', { params: { query } })),
      retrieve: (id: string) =>
        answerTo(client.GET('/v1/openid/offers/pre-authorized/{id}', { params: { path: { id } } })),
      delete: (id: string) =>
        answerTo(client.DELETE('/v1/openid/offers/pre-authorized/{id}', { params: { path: { id } } })),
    };
  }

  get deferred() {
    const { client, answerTo } = this.calls;
    const path = '/v1/openid/deferred';
    return {
      list: (query?: QueryOf<typeof path>) => answerTo(client.GET(path, { params: { query } })),
      approve: (id: string) => answerTo(client.POST('/v1/openid/deferred/{id}/approve', { params: { path: { id } } })),
      deny: (id: string) => answerTo(client.POST('/v1/openid/deferred/{id}/deny', { params: { path: { id } } })),
    };
  }

  get users() {
    const { client, answerTo } = this.calls;
    return {
      create: (body: Schemas['CreateUserRequest'] = {}) => answerTo(client.POST('/v1/users', { body })),
      list: (query?: QueryOf<'/v1/users'>) => answerTo(client.GET('/v1/users', { params: { query } })),
      search: (body: Schemas['SearchUsersRequest']) => answerTo(client.POST('/v1/users/search', { body })),
      retrieve: (id: string) => answerTo(client.GET('/v1/users/{id}', { params: { path: { id } } })),
      update: (id: string, body: Schemas['UpdateUserRequest']) =>
        answerTo(client.PUT('/v1/users/{id}', { params: { path: { id } }, body })),
      delete: (id: string) => answerTo(client.DELETE('/v1/users/{id}', { params: { path: { id } } })),
      credentials: (userId: string, query?: QueryOf<'/v1/users/{userId}/credentials'>) =>
        answerTo(client.GET('/v1/users/{userId}/credentials', { params: { path: { userId }, query } })),
    };
  }

  /** Credentials of all users. */
  credentials(query?: QueryOf<'/v2/credentials'>) {
    const { client, answerTo } = this.calls;
    return answerTo(client.GET('/v2/credentials', { params: { query } }));
  }

  get webhooks() {
    const { client, answerTo } = this.calls;
    return {
      create: (body: Schemas['WebhookRequest']) => answerTo(client.POST('/v1/webhooks', { body })),
      list: (query?: QueryOf<'/v1/webhooks'>) => answerTo(client.GET('/v1/webhooks', { params: { query } })),
      retrieve: (webhookId: string) =>
        answerTo(client.GET('/v1/webhooks/{webhookId}', { params: { path: { webhookId } } })),
      update: (webhookId: string, body: Schemas['WebhookRequest']) =>
        answerTo(client.PUT('/v1/webhooks/{webhookId}', { params: { path: { webhookId } }, body })),
      delete: (webhookId: string) =>
        answerTo(client.DELETE('/v1/webhooks/{webhookId}', { params: { path: { webhookId } } })),
      test: (webhookId: string) =>
        answerTo(client.POST('/v1/webhooks/{webhookId}/test', { params: { path: { webhookId } } })),
      attempts: (webhookId: string, query?: QueryOf<'/v1/webhooks/{webhookId}/attempts'>) =>
        answerTo(client.GET('/v1/webhooks/{webhookId}/attempts', { params: { path: { webhookId }, query } })),
      redeliver: (webhookId: string, deliveryId: string) =>
        answerTo(
          client.POST('/v1/webhooks/{webhookId}/attempts/{deliveryId}/redeliver', {
            params: { path: { webhookId, deliveryId } },
          }),
        ),
      rotateKeys: () => answerTo(client.POST('/v1/webhooks/jwks/rotate')),
      keys: () => answerTo(client.GET('/v1/webhooks/jwks')),
    };
  }

  get analytics() {
    const { client, answerTo } = this.calls;
    return {
      // openapi-fetch 0.17 takes a member that is always null for one that is only written, and leaves it out of the type.
      list: (query?: QueryOf<'/v1/events'>) =>
        answerTo(client.GET('/v1/events', { params: { query } })) as Promise<Answer<Schemas['PageOfAnalyticsEvent']>>,
      types: () => answerTo(client.GET('/v1/events/types')),
      /** The answer's `text` has a line for each event. */
      export: (query: QueryOf<'/v1/events/export'>) =>
        answerTo(client.GET('/v1/events/export', { params: { query }, parseAs: 'text' })),
      credentialReport: (body: Schemas['CredentialReportRequest']) =>
        answerTo(client.POST('/v1/events/credential-reports', { body })),
    };
  }

  get customDomain() {
    const { client, answerTo } = this.calls;
    const path = '/v1/config/domain';
    return {
      create: (body: Schemas['CustomDomainRequest']) => answerTo(client.POST(path, { body })),
      retrieve: () => answerTo(client.GET(path)),
      update: (body: Schemas['CustomDomainRequest']) => answerTo(client.PUT(path, { body })),
      delete: () => answerTo(client.DELETE(path)),
      verify: () => answerTo(client.POST('/v1/config/domain/verify')),
    };
  }

  get authenticationProviders() {
    const { client, answerTo } = this.calls;
    const path = '/v1/users/authentication-providers';
    const one = '/v1/users/authentication-providers/{id}';
    return {
      create: (body: Schemas['AuthenticationProviderRequest']) => answerTo(client.POST(path, { body })),
      list: (query?: QueryOf<typeof path>) => answerTo(client.GET(path, { params: { query } })),
      retrieve: (id: string) => answerTo(client.GET(one, { params: { path: { id } } })),
      update: (id: string, body: Schemas['AuthenticationProviderRequest']) =>
        answerTo(client.PUT(one, { params: { path: { id } }, body })),
      delete: (id: string) => answerTo(client.DELETE(one, { params: { path: { id } } })),
      check: (id: string) => answerTo(client.POST(`${one}/check`, { params: { path: { id } } })),
    };
  }

  metadata() {
    const { client, answerTo } = this.calls;
    return answerTo(client.GET('/.well-known/openid-credential-issuer'));
  }
}
