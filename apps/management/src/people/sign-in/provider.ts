import type { Provider } from 'oidc-provider';
import { PLATFORM, type SignInRecords, type Macs, type Sealing, type Signer, type SigningKeys } from '@attestry/keys';
import type { Logger, PlatformConfig } from '@attestry/service-kit';
import type { Accounts } from './accounts.js';
import { ACCESS_TOKEN_SECONDS, storedRecords } from './stored-records.js';
import { form, html, page } from './pages.js';

/** The public client of people at a command line; loopback redirects on any port (RFC 8252 §7.3). */
export const COMMAND_LINE_CLIENT = 'attestry-cli';

export const SESSION_SECONDS = 8 * 3600;
const CODE_SECONDS = 60;
const INTERACTION_SECONDS = 900;

/** Scope and resource of a token request. */
const SCOPES = 'openid manage';

export interface ProviderParts {
  config: PlatformConfig;
  macs: Macs;
  sealing: Sealing;
  signingKeys: SigningKeys;
  records: SignInRecords;
  accounts: Accounts;
  logger: Logger;
  now: () => number;
}

type AnyContext = { body?: unknown; type?: string };

/** Signing keys of the sign-in, oldest first; the newest signs. */
export const listProviderKeys = async (signingKeys: SigningKeys) => {
  await signingKeys.ensureSigningKey(PLATFORM, 'sign-in', 'P-256');
  return signingKeys.listSigningKeys(PLATFORM, 'sign-in');
};

/** The OpenID provider of the built-in sign-in. Its keys stay in the vault, its state in a file. */
export const openProvider = async ({
  config,
  macs,
  sealing,
  signingKeys,
  records,
  accounts,
  logger,
  now,
}: ProviderParts): Promise<Provider> => {
  // Loaded when it is needed, as it prints a message when it is loaded.
  const library = await import('oidc-provider');
  const issuer = config.signInIssuer;
  const audience = config.peopleAudience;

  class VaultKey extends library.ExternalSigningKey {
    constructor(private readonly signer: Signer) {
      super();
    }
    override get kid() {
      return this.signer.keyId;
    }
    override get alg() {
      return 'ES256';
    }
    override keyObject() {
      return this.signer.publicKey;
    }
    override sign(data: Uint8Array): Uint8Array {
      return this.signer.sign(data);
    }
  }
  const keys = await listProviderKeys(signingKeys);
  const newestFirst = await Promise.all(keys.reverse().map(({ keyId }) => signingKeys.loadSigner(PLATFORM, keyId)));

  const provider: Provider = new library.Provider(issuer, {
    adapter: await storedRecords(records, sealing, now),
    jwks: { keys: newestFirst.map((signer) => new VaultKey(signer)) as never },
    clients: [
      {
        client_id: COMMAND_LINE_CLIENT,
        client_name: 'the Attestry command line',
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code'],
        response_types: ['code'],
        redirect_uris: ['http://127.0.0.1/callback', 'http://[::1]/callback'],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    clientAuthMethods: ['none'],
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    responseTypes: ['code'],
    scopes: ['openid'],
    claims: { openid: ['sub', 'email', 'email_verified', 'name'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      externalSigningSupport: { enabled: true, ack: 'experimental-01' },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, resource) => {
          if (resource !== audience) throw new library.errors.InvalidTarget();
          return {
            scope: SCOPES,
            audience,
            accessTokenFormat: 'jwt',
            accessTokenTTL: ACCESS_TOKEN_SECONDS,
            jwt: { sign: { alg: 'ES256' } },
          };
        },
      },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx: AnyContext, given: string) => {
          const secret = /name="xsrf" value="([^"]*)"/.exec(given)?.[1] ?? '';
          ctx.body = page(
            'Sign out',
            form(
              `${new URL(issuer).pathname}/sign-out/confirm`,
              { xsrf: secret },
              html`<p>Signing out ends your session in this browser.</p>
                <button name="logout" value="yes">Sign out</button>`,
            ),
          );
        },
        postLogoutSuccessSource: (ctx: AnyContext) => {
          ctx.body = page(
            'You are signed out',
            html`<p><a href="${new URL(issuer).pathname}/sign-in">Sign in again</a></p>`,
          );
        },
      },
    },
    routes: { end_session: '/sign-out' },
    interactions: { url: (_ctx, { uid }) => `${new URL(issuer).pathname}/sign-in/${uid}` },
    findAccount: async (_ctx, accountId) => {
      const holder = await accounts.byId(accountId);
      if (!holder) return undefined;
      const { email, name } = holder;
      return { accountId, claims: () => ({ sub: accountId, email, email_verified: true, name }) };
    },
    // The link that opened the account was sent to the address.
    extraTokenClaims: async (_ctx, token) => {
      const { accountId, grantId } = token as { accountId?: string; grantId?: string };
      const holder = accountId === undefined ? undefined : await accounts.byId(accountId);
      // A token is revoked with its grant: see hasEnded.
      return { ...(holder && { email: holder.email, email_verified: true, name: holder.name }), grant_id: grantId };
    },
    // People consent each time (RFC 8252 §8.6), so the present request is the whole grant.
    loadExistingGrant: async (ctx) => {
      const { client, session } = ctx.oidc;
      if (!client || !session?.accountId) return undefined;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid');
      grant.addResourceScope(audience, SCOPES);
      await grant.save();
      return grant;
    },
    ttl: {
      AccessToken: ACCESS_TOKEN_SECONDS,
      AuthorizationCode: CODE_SECONDS,
      Grant: SESSION_SECONDS,
      IdToken: ACCESS_TOKEN_SECONDS,
      Interaction: INTERACTION_SECONDS,
      Session: SESSION_SECONDS,
    },
    cookies: {
      keys: [macs.mac('cookies', 'people-cookies').mac],
      names: { session: 'attestry_session', interaction: 'attestry_interaction', resume: 'attestry_resume' },
      long: { httpOnly: true, sameSite: 'lax', signed: true, path: new URL(issuer).pathname },
      short: { httpOnly: true, sameSite: 'lax', signed: true },
    },
    clientBasedCORS: () => false,
    renderError: (ctx, { error, error_description: description }) => {
      ctx.type = 'html';
      ctx.body = page(
        'The sign-in cannot continue',
        html`<p>Go back to the application that you came from and start again.</p>
          <p>Details: ${description ?? error}</p>`,
      );
    },
  });
  // The gateway sets scheme and host; the library reads them from these headers.
  provider.proxy = true;
  // Koa's own event, which is written to the console when it has no listener.
  (provider as NodeJS.EventEmitter).on('error', (error: Error) =>
    logger.error({ error: error.stack ?? error.message }, 'sign-in failed'),
  );
  provider.on('server_error', (_ctx, error: Error) =>
    logger.error({ error: error.stack ?? error.message }, 'sign-in failed'),
  );
  return provider;
};

/** The redirect origin of an authorization request's client, as a source of a policy. */
export const originOf = (redirectUri: unknown): string[] =>
  typeof redirectUri === 'string' && URL.canParse(redirectUri) ? [new URL(redirectUri).origin] : [];
