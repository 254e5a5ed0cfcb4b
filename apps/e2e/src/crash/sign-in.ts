import { createHash, randomBytes } from 'node:crypto';
import { authorize, completeAuthorization, type Operation } from '@attestry/contracts';
import {
  expectStatus,
  OpenIdProvider,
  RedirectBrowser,
  registerWallet,
  TENANT_CLIENT,
  type Answer,
  type OperationParts,
  type TenantUnderTest,
} from '@attestry/testing';

const CLIENT_ID = 'wallet-under-load';
const BACK = 'https://wallet-under-load.example/back';

/** Sends a call of the wallet. Undefined: it was not answered. */
export type Send = (
  operation: Operation,
  parts: OperationParts,
  expected: readonly number[],
) => Promise<Answer | undefined>;

/** Form of a token request with an authorization code. */
export type CodeRequest = Record<'grant_type' | 'client_id' | 'redirect_uri' | 'code' | 'code_verifier', string>;

/** Where the people of a tenant sign in, and the wallet that they use. */
export class SignIn {
  private constructor(
    private readonly provider: OpenIdProvider,
    private readonly scope: string,
  ) {}

  /** @param scope of the credential that the wallet requests */
  static async start({ api }: TenantUnderTest, scope: string): Promise<SignIn> {
    const provider = await OpenIdProvider.start('https://management.example');
    await registerWallet(api, CLIENT_ID, BACK);
    const request = { url: provider.issuer, ...TENANT_CLIENT, forwardedRequestParameters: ['login_hint'] };
    expectStatus(await api.authenticationProviders.create(request), 201);
    return new SignIn(provider, scope);
  }

  stop(): Promise<void> {
    return this.provider.stop();
  }

  /**
   * Authorization request of the wallet, sign-in at the provider, and callback, each call of the issuer by `send`.
   * @returns undefined when a call was not answered, or with 503
   * @throws Error when the issuer returns an error to the wallet
   */
  async authorize(subject: string, send: Send): Promise<CodeRequest | undefined> {
    this.provider.accounts.set(subject, { sub: subject, given_name: subject });
    const verifier = randomBytes(32).toString('base64url');
    const query = {
      ...{ response_type: 'code', client_id: CLIENT_ID, redirect_uri: BACK, scope: this.scope, login_hint: subject },
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    };
    const begun = await send(authorize, { query }, [302]);
    if (begun?.status !== 302) return undefined;
    const { pathname } = new URL(completeAuthorization.http!.path, BACK);
    const back = await new RedirectBrowser().follow(locationOf(begun), (url) => new URL(url).pathname === pathname);
    const cookie = begun.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
    const parts = { query: Object.fromEntries(back.searchParams), headers: { cookie } };
    const completed = await send(completeAuthorization, parts, [302]);
    if (completed?.status !== 302) return undefined;
    const code = new URL(locationOf(completed)).searchParams.get('code');
    if (code === null) throw new Error(`the wallet got no code: ${locationOf(completed)}`);
    const names = { client_id: CLIENT_ID, redirect_uri: BACK };
    return { grant_type: 'authorization_code', ...names, code, code_verifier: verifier };
  }

  /** Form of a token request with a refresh token. */
  refresh(refreshToken: string): Record<string, string> {
    return { grant_type: 'refresh_token', client_id: CLIENT_ID, refresh_token: refreshToken };
  }
}

/** @throws Error when it is an error for the wallet */
const locationOf = ({ headers }: Answer): string => {
  const location = headers.get('location')!;
  if (location.startsWith(BACK) && new URL(location).searchParams.has('error'))
    throw new Error(`the wallet got an error: ${location}`);
  return location;
};
