import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { notFound, oauthError, unavailable } from '@attestry/contracts';
import { Streams, type Clock, type EventContext } from '@attestry/event-store';
import {
  CLOCK,
  DocumentInvalid,
  fetchDocument,
  LOGGER,
  MAX_PROVIDER_BYTES,
  Outbound,
  PlatformConfig,
  ProviderKeys,
  type Logger,
} from '@attestry/service-kit';
import { LRUCache } from 'lru-cache';
import * as oidc from 'openid-client';
import { authenticationProviderClaim } from '../authentication-provider/authentication-provider.claim.js';
import { pinTokenEndpoint } from '../authentication-provider/authentication-provider.decisions.js';
import {
  authenticationProvider,
  authenticationProviderStream,
  type ActiveProvider,
} from '../authentication-provider/authentication-provider.state.js';
import { ProviderSecrets } from '../authentication-provider/provider-secrets.js';
import { Discovery, tokenEndpointOriginOf, type DiscoveryDocument } from '../authentication-provider/discovery.js';

import { ClientKeys } from '../client-keys/client-keys.js';
import { ClientKeyFailed, refusedBy } from './provider-errors.js';

/** Time for one request to a provider, milliseconds. */
const REQUEST_MS = 5000;
/** Check that refuses a token endpoint with another origin than the saved one. */
export const OTHER_ORIGIN = 'token-endpoint-origin';
/** How long a provider's document is cached. */
const FRESH_MS = 600_000;
/** Pause before the documents of a provider that failed are fetched again: sign-ins begin without authentication. */
const UNUSABLE_MS = 5000;

/** Size of the cached documents and key sets, as JSON. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Size of what else is kept with a document, about. */
const ENTRY_BYTES = 4096;

/** A client of a provider, made of its present document. */
export interface Connection {
  /** Its authorization endpoint has no query, which the library would push. */
  client: oidc.Configuration;
  /** With its query. */
  authorizationEndpoint: string;
  keys: ProviderKeys;
}

/** A provider that people can sign in with now. */
export interface SignInProvider extends Connection {
  settings: ActiveProvider;
}

interface Known {
  /** Revision of the provider's stream: its settings. */
  revision: number;
  connection: Connection;
  madeAt: number;
  bytes: number;
}

/** OpenID clients of the tenants' providers, which use only the guarded client. */
@Injectable()
export class SignInProviders {
  private readonly known = new LRUCache<string, Known>({ maxSize: MAX_BYTES, sizeCalculation: ({ bytes }) => bytes });
  private readonly unusable = new LRUCache<string, { revision: number; until: number }>({ max: 500 });

  constructor(
    private readonly streams: Streams,
    private readonly secrets: ProviderSecrets,
    private readonly discovery: Discovery,
    private readonly clientKeys: ClientKeys,
    private readonly outbound: Outbound,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** The tenant's one provider. @throws 404, 503, `server_error` */
  async current(tenantId: string, events: EventContext): Promise<SignInProvider> {
    const { state } = await this.streams.load(
      authenticationProviderClaim,
      authenticationProviderClaim.stream(tenantId),
    );
    if (state.status === 'free') throw notFound();
    return this.find(tenantId, state.owner, events);
  }

  /**
   * @throws 404 when it was deleted, 503 when its documents are unavailable, `server_error` when its credentials would be sent to another
   * origin than when it was saved
   */
  async find(tenantId: string, providerId: string, events: EventContext): Promise<SignInProvider> {
    const { state, revision } = await this.streams.load(
      authenticationProvider,
      authenticationProviderStream(tenantId, providerId),
    );
    if (state.status !== 'active') throw notFound();
    return { settings: state, ...(await this.connection(tenantId, state, revision, events)) };
  }

  private async connection(
    tenantId: string,
    settings: ActiveProvider,
    revision: number,
    events: EventContext,
  ): Promise<Connection> {
    const { providerId } = settings;
    const now = this.clock.now().getTime();
    const known = this.known.get(providerId);
    if (known?.revision === revision && now - known.madeAt < FRESH_MS) return known.connection;
    const failed = this.unusable.get(providerId);
    if (failed?.revision === revision && now < failed.until)
      throw unavailable(
        'The authentication provider cannot be used',
        new Error('its discovery document was unusable a moment ago'),
      );
    const document = await this.discovery.document(tenantId, settings.url).catch((error: unknown) => {
      this.unusable.set(providerId, { revision, until: this.clock.now().getTime() + UNUSABLE_MS });
      this.logger.warn(
        { requestId: events.requestId, tenantId, providerId, error: String(error) },
        'authentication provider unusable',
      );
      throw unavailable('The authentication provider cannot be used', error);
    });
    const keep = (connection: Connection, keyBytes: number) => {
      const bytes = ENTRY_BYTES + bytesOf(document) + keyBytes;
      this.known.set(providerId, { revision, connection, madeAt: now, bytes });
    };
    const onKeys = (bytes: number) => {
      if (this.known.peek(providerId)?.connection === connection) keep(connection, bytes);
    };
    const connection = await this.connectWith(tenantId, settings, document, events, onKeys);
    keep(connection, 0);
    return connection;
  }

  /**
   * With the present document of the provider.
   * @param onKeys receives the size of each key set that is fetched
   * @throws `server_error` when its credentials would be sent to another origin than when it was saved
   */
  async connectWith(
    tenantId: string,
    settings: ActiveProvider,
    document: DiscoveryDocument,
    events: EventContext,
    onKeys?: (bytes: number) => void,
  ): Promise<Connection> {
    const secret = await this.secrets.openSecret(tenantId, settings);
    await this.checkTokenEndpoint(tenantId, settings, document, events);
    const { authorization_endpoint: authorizationEndpoint } = document;
    const client = new oidc.Configuration(
      { ...document, authorization_endpoint: withoutQuery(authorizationEndpoint) } as oidc.ServerMetadata,
      settings.clientId,
      {},
      settings.tokenEndpointAuthMethod === 'private_key_jwt'
        ? this.byKey(tenantId, document.issuer)
        : authentication(settings, secret),
    );
    client.timeout = REQUEST_MS / 1000;
    client[oidc.customFetch] = (url, options) => this.sendRequest(tenantId, url, options);
    if (this.config.allowPrivateTargets) oidc.allowInsecureRequests(client);
    return { client, authorizationEndpoint, keys: this.keysOf(tenantId, document, onKeys) };
  }

  /** `private_key_jwt` (OpenID Connect Core 1.0 §9), for the issuer alone: another audience would let a third party use it (RFC 7523bis). */
  private byKey(tenantId: string, issuer: string): oidc.ClientAuth {
    const authenticate = async (clientId: string, body: URLSearchParams): Promise<void> => {
      const now = Math.floor(this.clock.now().getTime() / 1000);
      const claims = { iss: clientId, sub: clientId, aud: issuer, jti: randomUUID(), iat: now, exp: now + 60 };
      body.set('client_id', clientId);
      body.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
      const assertion = await this.clientKeys.signJwt(tenantId, claims).catch((error: unknown) => {
        throw new ClientKeyFailed(error);
      });
      body.set('client_assertion', assertion);
    };
    // The library waits for it, which its type does not say.
    return (_server, { client_id: clientId }, body) => authenticate(clientId, body) as unknown as void;
  }

  /** The key set that a discovery document names. */
  keysOf(
    tenantId: string,
    { jwks_uri: url }: DiscoveryDocument,
    onKeys: (bytes: number) => void = () => {},
  ): ProviderKeys {
    return new ProviderKeys(async (deadline) => {
      const keys = await this.requestKeys(tenantId, url, deadline);
      onKeys(bytesOf(keys));
      return keys;
    });
  }

  private async requestKeys(tenantId: string, url: unknown, deadline: number): Promise<Record<string, unknown>> {
    if (typeof url !== 'string' || !URL.canParse(url))
      throw new DocumentInvalid('the discovery document has no jwks_uri', true);
    // The document may have changed since the provider was saved.
    const fault = this.outbound.faultOfPort(tenantId, url);
    if (fault !== undefined) throw new DocumentInvalid(`jwks_uri in the discovery document ${fault}`);
    return fetchDocument(this.outbound, url, { tenantId, deadline });
  }

  /**
   * The client's credentials, codes and PKCE verifiers are sent to the pinned origin only, whatever the present document names (ADR 0050).
   */
  private async checkTokenEndpoint(
    tenantId: string,
    { providerId, url, tokenEndpointOrigin: pinned }: ActiveProvider,
    document: DiscoveryDocument,
    events: EventContext,
  ): Promise<void> {
    const found = tokenEndpointOriginOf(document);
    if (found === pinned) return;
    if (pinned === undefined) {
      const { state } = await this.streams.runDecision(
        authenticationProvider,
        authenticationProviderStream(tenantId, providerId),
        (current) => pinTokenEndpoint(current, { url, tokenEndpointOrigin: found }),
        events,
      );
      if (state.status === 'active' && state.url === url && state.tokenEndpointOrigin === found) return;
    }
    this.logger.error(
      { requestId: events.requestId, tenantId, providerId, pinned, found },
      'token endpoint of a provider has another origin',
    );
    throw oauthError(
      'server_error',
      'the token endpoint of the authentication provider has another origin than when the provider was saved',
      { check: OTHER_ORIGIN },
    );
  }

  /** @throws ProviderRefused by an endpoint that the client authenticates at */
  private async sendRequest(
    tenantId: string,
    url: string,
    { method, headers, body }: oidc.CustomFetchOptions,
  ): Promise<Response> {
    if (method !== 'POST') throw new Error(`method ${method} is not supported for requests to a provider`);
    const answer = await this.outbound.send(url, {
      tenantId,
      method,
      headers,
      ...(body !== undefined &&
        body !== null && { body: body instanceof URLSearchParams ? body.toString() : textOf(body) }),
      timeoutMs: REQUEST_MS,
      maxBytes: MAX_PROVIDER_BYTES,
    });
    if (answer.status >= 300) throw refusedBy(answer.status, answer.body);
    const bytes = answer.body.byteLength ? new Uint8Array(answer.body) : null;
    return new Response(bytes, { status: answer.status, headers: answer.headers });
  }
}

const bytesOf = (document: object): number => Buffer.byteLength(JSON.stringify(document));

const withoutQuery = (url: string): string => {
  const bare = new URL(url);
  bare.search = '';
  return bare.href;
};

const textOf = (body: unknown): string => {
  if (typeof body !== 'string') throw new Error('the body of a request to a provider must be text');
  return body;
};

/** `client_secret_basic` or `client_secret_post` (RFC 6749 §2.3.1); without a secret only `client_id` is sent. */
const authentication = ({ tokenEndpointAuthMethod }: ActiveProvider, secret: string | undefined): oidc.ClientAuth => {
  if (secret === undefined) return oidc.None();
  return tokenEndpointAuthMethod === 'client_secret_post'
    ? oidc.ClientSecretPost(secret)
    : oidc.ClientSecretBasic(secret);
};
