import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Provider as ProviderClass } from 'oidc-provider';
import { hostFetch } from './host-fetch.js';
import { RedirectBrowser } from './redirect-browser.js';

/** A person of the provider. */
export interface ProviderAccount {
  sub: string;
  email?: string;
  email_verified?: boolean;
  name?: string;
  given_name?: string;
  family_name?: string;
}

const CLIENT = { client_id: 'portal', client_secret: 'a secret of the portal', redirect_uri: 'http://127.0.0.1/back' };

/** Client of a tenant of the platform: its callback, on whatever host, may be redirected to. */
export const TENANT_CLIENT = { clientId: 'attestry', clientSecret: 'the-secret-of-the-client-0815' };
const DISCOVERY = '/.well-known/openid-configuration';
const CALLBACK = '/v1/oauth/authentication/callback';

/** How the client of a tenant is registered. */
export interface ProviderOptions {
  /** Takes pushed authorization requests (RFC 9126). */
  pushed?: boolean;
  isPushRequired?: boolean;
  /** Keys by which the client authenticates, instead of its secret; not under Jest, where the provider refuses every key set. */
  jwksUri?: string;
}

/** The level that a request asks for. */
const levelOf = ({ acr_values, claims }: Record<string, unknown>): string =>
  [acr_values, claims].some((text) => typeof text === 'string' && /(^|")2("|$)/.test(text)) ? '2' : '1';

/** A real OpenID provider on a free port of this machine, at which people sign in by naming themselves. */
export class OpenIdProvider {
  /** Members of its discovery document that replace its own: of a provider that was moved, or broken into. */
  announced: Readonly<Record<string, string>> = {};

  private constructor(
    readonly issuer: string,
    private readonly server: Server,
    readonly accounts: Map<string, ProviderAccount>,
    private readonly audience: string,
    /** Requests to its authorization endpoint, in order. */
    readonly requests: URLSearchParams[],
    /** Counts the requests to its UserInfo endpoint. */
    readonly userInfo = { requests: 0 },
  ) {}

  /**
   * @param audience of the access tokens: the resource they are for (RFC 8707)
   * @param userInfo where the claims are: by default in the ID token; otherwise only in UserInfo, as JSON or as a JWT
   */
  static async start(
    audience: string,
    userInfo?: 'json' | 'jwt',
    { pushed = false, isPushRequired = false, jwksUri }: ProviderOptions = {},
  ): Promise<OpenIdProvider> {
    // Loaded on demand, because it prints a message when it is loaded.
    const { Provider } = await import('oidc-provider');
    const accounts = new Map<string, ProviderAccount>();
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const provider = new Provider(issuer, {
      clients: [
        {
          client_id: CLIENT.client_id,
          client_secret: CLIENT.client_secret,
          redirect_uris: [CLIENT.redirect_uri],
          grant_types: ['authorization_code', 'client_credentials'],
          response_types: ['code'],
          application_type: 'native',
        },
        {
          client_id: TENANT_CLIENT.clientId,
          ...(jwksUri === undefined
            ? { client_secret: TENANT_CLIENT.clientSecret }
            : {
                token_endpoint_auth_method: 'private_key_jwt' as const,
                token_endpoint_auth_signing_alg: 'ES256' as const,
                jwks_uri: jwksUri,
              }),
          redirect_uris: [`https://tenant.example${CALLBACK}`],
          response_types: ['code'],
          ...(userInfo === 'jwt' && { userinfo_signed_response_alg: 'RS256' as const }),
        },
      ],
      claims: {
        openid: ['sub'],
        profile: ['name', 'given_name', 'family_name', 'birthdate'],
        email: ['email', 'email_verified'],
      },
      // Fetches the key set; its own refuses addresses of this machine.
      fetch: (url, init) => hostFetch(url, init as RequestInit),
      conformIdTokenClaims: userInfo !== undefined,
      acrValues: ['1', '2'],
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        claimsParameter: { enabled: true },
        pushedAuthorizationRequests: {
          enabled: pushed || isPushRequired,
          requirePushedAuthorizationRequests: isPushRequired,
        },
        jwtUserinfo: { enabled: userInfo === 'jwt' },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_ctx, resource) => ({
            scope: 'openid manage',
            audience: resource,
            accessTokenFormat: 'jwt',
            accessTokenTTL: 3600,
          }),
          useGrantedResource: () => true,
        },
      },
      interactions: { url: (_ctx, { uid }) => `/sign-in/${uid}` },
      findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ ...accounts.get(sub), sub }) }),
      extraTokenClaims: (_ctx, token) => {
        const { sub: _, ...rest } = accounts.get((token as { accountId?: string }).accountId ?? '') ?? { sub: '' };
        return rest;
      },
      loadExistingGrant: async (ctx) => {
        const {
          client,
          session,
          provider: self,
        } = ctx.oidc as unknown as {
          client: { clientId: string };
          session: { accountId: string };
          provider: ProviderClass;
        };
        const grant = new self.Grant({ clientId: client.clientId, accountId: session.accountId });
        grant.addOIDCScope('openid profile email');
        grant.addResourceScope(audience, 'openid manage');
        await grant.save();
        return grant;
      },
      cookies: { keys: [randomBytes(16).toString('hex')] },
    });
    const { redirectUriAllowed } = provider.Client.prototype;
    provider.Client.prototype.redirectUriAllowed = function (uri) {
      return this.clientId === TENANT_CLIENT.clientId ? uri.endsWith(CALLBACK) : redirectUriAllowed.call(this, uri);
    };
    const requests: URLSearchParams[] = [];
    const handle = provider.callback();
    const started = new OpenIdProvider(issuer, server, accounts, audience, requests);
    server.on('request', (request, response) => {
      const { pathname, search, searchParams } = new URL(request.url!, issuer);
      if (pathname === '/auth') requests.push(searchParams);
      if (pathname === '/me') started.userInfo.requests++;
      if (pathname === DISCOVERY && search === '')
        return void fetch(`${issuer}${DISCOVERY}?own`)
          .then((own) => own.json() as Promise<object>)
          .then((own) =>
            response
              .writeHead(200, { 'content-type': 'application/json' })
              .end(JSON.stringify({ ...own, ...started.announced })),
          );
      if (!pathname.startsWith('/sign-in/')) return void handle(request, response);
      // A request without a login is a cancelled sign-in.
      void provider
        .interactionDetails(request, response)
        .then(({ params }) =>
          provider.interactionFinished(
            request,
            response,
            params['login_hint'] === undefined
              ? { error: 'access_denied', error_description: 'nobody signed in' }
              : { login: { accountId: String(params['login_hint']), acr: levelOf(params) }, consent: {} },
          ),
        );
    });
    return started;
  }

  /** Authorization code with PKCE (RFC 7636), as a portal would: what the token endpoint answers. */
  async signIn(account: ProviderAccount): Promise<{ access_token: string; id_token: string }> {
    this.accounts.set(account.sub, account);
    const verifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({
      client_id: CLIENT.client_id,
      redirect_uri: CLIENT.redirect_uri,
      response_type: 'code',
      scope: 'openid manage',
      resource: this.audience,
      login_hint: account.sub,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    const url = await new RedirectBrowser().follow(`${this.issuer}/auth?${query}`, (at) =>
      at.startsWith(CLIENT.redirect_uri),
    );
    const code = url.searchParams.get('code');
    if (!code) throw new Error(`no code in ${url.href}`);
    return this.token({
      grant_type: 'authorization_code',
      code,
      redirect_uri: CLIENT.redirect_uri,
      code_verifier: verifier,
    }) as Promise<{ access_token: string; id_token: string }>;
  }

  /** A token of the portal itself, which is no person. */
  async machineToken(): Promise<string> {
    const { access_token } = await this.token({
      grant_type: 'client_credentials',
      resource: this.audience,
      scope: 'manage',
    });
    return access_token!;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async token(body: Record<string, string>): Promise<Record<string, string>> {
    const basic = [CLIENT.client_id, CLIENT.client_secret].map(encodeURIComponent).join(':');
    const answer = await fetch(`${this.issuer}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(basic).toString('base64')}` },
      body: new URLSearchParams(body),
    });
    if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Record<string, string>;
  }
}
