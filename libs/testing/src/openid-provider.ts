import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Provider as ProviderClass } from 'oidc-provider';

/** A person of the provider. */
export interface ProviderAccount {
  sub: string;
  email?: string;
  email_verified?: boolean;
  name?: string;
}

const MAX_HOPS = 20;
const CLIENT = { client_id: 'portal', client_secret: 'a secret of the portal', redirect_uri: 'http://127.0.0.1/back' };

/** A real OpenID provider on a free port of this machine, at which people sign in by naming themselves. */
export class OpenIdProvider {
  private constructor(
    readonly issuer: string,
    private readonly server: Server,
    readonly accounts: Map<string, ProviderAccount>,
    private readonly audience: string,
  ) {}

  /** @param audience of the access tokens: the resource they are for (RFC 8707) */
  static async start(audience: string): Promise<OpenIdProvider> {
    // Loaded by those who need it, for it greets everybody who loads it.
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
      ],
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
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
      scopes: ['openid'],
      interactions: { url: (_ctx, { uid }) => `/sign-in/${uid}` },
      findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
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
        grant.addOIDCScope('openid');
        grant.addResourceScope(audience, 'openid manage');
        await grant.save();
        return grant;
      },
      cookies: { keys: [randomBytes(16).toString('hex')] },
    });
    const handle = provider.callback();
    server.on('request', (request, response) => {
      if (!request.url?.startsWith('/sign-in/')) return void handle(request, response);
      void provider.interactionDetails(request, response).then(({ params }) =>
        provider.interactionFinished(request, response, {
          login: { accountId: String(params['login_hint']) },
          consent: {},
        }),
      );
    });
    return new OpenIdProvider(issuer, server, accounts, audience);
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
    const cookies = new Map<string, string>();
    let url = `${this.issuer}/auth?${query}`;
    for (let hops = 0; !url.startsWith(CLIENT.redirect_uri); hops++) {
      if (hops > MAX_HOPS) throw new Error(`the provider leads in circles: ${url}`);
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const answer = await fetch(url, { redirect: 'manual', headers: { cookie } });
      for (const line of answer.headers.getSetCookie()) {
        const [pair] = line.split(';');
        cookies.set(pair!.slice(0, pair!.indexOf('=')), pair!.slice(pair!.indexOf('=') + 1));
      }
      const location = answer.headers.get('location');
      if (!location) throw new Error(`${url} answers ${answer.status}: ${await answer.text()}`);
      url = new URL(location, url).href;
    }
    const code = new URL(url).searchParams.get('code');
    if (!code) throw new Error(`no code in ${url}`);
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
