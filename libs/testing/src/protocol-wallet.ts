import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { ApiClient, expectStatus, type Answer } from './api-client.js';
import { repository } from './platform-process.js';
import { RedirectBrowser } from './redirect-browser.js';
import type { WalletProvider } from './wallet-provider.js';
import { makeHolderKey, type HolderKey, type TokenAnswer } from './wallet.js';

/** Module that a platform preloads whose clock a test sets: it sends the milliseconds that the clock is ahead. */
export const SHIFTED_CLOCK = join(repository, 'libs/testing/dist/shifted-clock.js');

type Members = Record<string, unknown>;
/** Changes of a JWT; an undefined member is left out. */
export interface JwtChange {
  header?: Members;
  claims?: Members;
  by?: HolderKey;
}
/** Parameters of a form; undefined leaves one out. */
export type Parameters = Record<string, string | undefined>;
/** Headers in place of the wallet's own; null leaves one out. */
export interface SentProofs {
  attestation?: string | null;
  pop?: string | null;
  dpop?: string | null;
}
export interface OAuthFault {
  error: string;
  error_description?: string;
}
export type PushedAnswer = OAuthFault & { request_uri: string; expires_in: number };

const PAR = '/v1/oauth/par';
const TOKEN = '/v1/oauth/token';
const NONCE = '/v1/openid/nonce';
const CREDENTIAL = '/v1/openid/credential';
const DEFERRED = '/v1/openid/deferred-credential';
const NOTIFICATION = '/v1/openid/notification';

const seconds = (): number => Math.floor(Date.now() / 1000);
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');
const formOf = (parameters: Parameters): URLSearchParams =>
  new URLSearchParams(Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined));

/** A compact JWS by ES256, whatever its header says. */
export const signJws = async (header: object, claims: object, { privateKey }: HolderKey): Promise<string> => {
  const input = `${encoded(header)}.${encoded(claims)}`;
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' };
  const signature = await crypto.subtle.sign(algorithm, privateKey, Buffer.from(input));
  return `${input}.${Buffer.from(signature).toString('base64url')}`;
};

/** The JWS with another signature. */
export const withBrokenSignature = (jws: string): string => {
  const [header, claims, signature] = jws.split('.');
  return [header, claims, `${signature![0] === 'A' ? 'B' : 'A'}${signature!.slice(1)}`].join('.');
};

/**
 * A wallet that speaks the protocol itself, so that each of its messages can be changed: it attests itself, pushes its requests and binds its tokens to
 * a DPoP key. The wallet of a conformance test; {@link Wallet} is the one that is independent of this project.
 */
export class ProtocolWallet {
  /** Verifier of the last authorization request. */
  codeVerifier = '';
  private state = '';

  private constructor(
    readonly issuer: string,
    readonly clientId: string,
    readonly redirectUri: string,
    private readonly provider: WalletProvider,
    /** Attested by the provider. */
    readonly instanceKey: HolderKey,
    readonly dpopKey: HolderKey,
  ) {}

  static async create(issuer: string, clientId: string, provider: WalletProvider): Promise<ProtocolWallet> {
    const [instanceKey, dpopKey] = await Promise.all([makeHolderKey(), makeHolderKey()]);
    return new ProtocolWallet(issuer, clientId, `${clientId}/back`, provider, instanceKey, dpopKey);
  }

  /** Client attestation of this instance. */
  attest({ claims, header }: JwtChange = {}): Promise<string> {
    return this.provider.attest(this.clientId, this.instanceKey.publicJwk, claims as never, header as never);
  }

  /** Proof of possession of the attested key. */
  pop({ header, claims, by = this.instanceKey }: JwtChange = {}): Promise<string> {
    return signJws(
      { typ: 'oauth-client-attestation-pop+jwt', alg: 'ES256', ...header },
      { aud: this.issuer, jti: randomUUID(), iat: seconds(), ...claims },
      by,
    );
  }

  dpop(path: string, { header, claims, by = this.dpopKey }: JwtChange = {}, token?: string): Promise<string> {
    const ath = token === undefined ? {} : { ath: digest(token) };
    return signJws(
      { typ: 'dpop+jwt', alg: 'ES256', jwk: by.publicJwk, ...header },
      { htm: 'POST', htu: `${this.issuer}${path}`, jti: randomUUID(), iat: seconds(), ...ath, ...claims },
      by,
    );
  }

  /** Parameters of an authorization request with a new state and a new code verifier. */
  parameters(scope: string, more: Parameters = {}): Parameters {
    this.codeVerifier = randomBytes(32).toString('base64url');
    this.state = randomBytes(16).toString('base64url');
    return {
      ...{ response_type: 'code', client_id: this.clientId, redirect_uri: this.redirectUri, scope, state: this.state },
      ...{ code_challenge: digest(this.codeVerifier), code_challenge_method: 'S256', login_hint: 'zoe' },
      ...more,
    };
  }

  async push(parameters: Parameters, sent: SentProofs = {}, method = 'POST'): Promise<Answer<PushedAnswer>> {
    const body = method === 'GET' ? {} : { body: formOf(parameters) };
    return new ApiClient(this.issuer).request(method, PAR, { ...body, headers: await this.authenticated(PAR, sent) });
  }

  authorizationUrl(parameters: Parameters): string {
    return `${this.issuer}/v1/oauth/authorize?${formOf({ client_id: this.clientId, ...parameters })}`;
  }

  /** Signs in at the provider. @returns the address that the wallet is called back at */
  authorize(requestUri: string, browser = new RedirectBrowser(), more: Parameters = {}): Promise<URL> {
    const url = this.authorizationUrl({ request_uri: requestUri, ...more });
    return browser.follow(url, (at) => at.startsWith(this.clientId));
  }

  /** PAR and sign-in. @throws Error when there is no code, or a response that is not for this request (RFC 9207 §2.4) */
  async obtainCode(scope: string, more: Parameters = {}, sent: SentProofs = {}): Promise<string> {
    const pushed = expectStatus(await this.push(this.parameters(scope, more), sent), 201);
    const back = await this.authorize(pushed.request_uri);
    const { code, iss, state } = Object.fromEntries(back.searchParams);
    if (code === undefined || iss !== this.issuer || state !== this.state) throw new Error(`no code: ${back.href}`);
    return code;
  }

  async exchange(
    code: string,
    more: Parameters = {},
    sent: SentProofs = {},
  ): Promise<Answer<TokenAnswer & OAuthFault>> {
    const form = {
      ...{ grant_type: 'authorization_code', client_id: this.clientId, redirect_uri: this.redirectUri, code },
      ...{ code_verifier: this.codeVerifier, ...more },
    };
    const headers = await this.authenticated(TOKEN, sent);
    return new ApiClient(this.issuer).request('POST', TOKEN, { body: formOf(form), headers });
  }

  /** PAR, sign-in and token endpoint. */
  async obtainToken(scope: string, more: Parameters = {}): Promise<string> {
    return expectStatus(await this.exchange(await this.obtainCode(scope, more)), 200).access_token;
  }

  nonce(): Promise<Answer<{ c_nonce: string }>> {
    return new ApiClient(this.issuer).request('POST', NONCE);
  }

  /** Key proof with a new nonce, unless `claims` has another. */
  async keyProof(key: HolderKey, { header, claims, by = key }: JwtChange = {}): Promise<string> {
    const { c_nonce: nonce } = expectStatus(await this.nonce(), 200);
    return signJws(
      { typ: 'openid4vci-proof+jwt', alg: 'ES256', jwk: key.publicJwk, ...header },
      { iss: this.clientId, aud: this.issuer, iat: seconds(), nonce, ...claims },
      by,
    );
  }

  /** @param changed headers in place of those with token and DPoP proof; null leaves one out */
  requestCredential<T = CredentialAnswer>(
    token: string,
    body: object | string,
    changed: Record<string, string | null> = {},
    query = '',
  ): Promise<Answer<T & OAuthFault>> {
    return this.send(CREDENTIAL, token, body, changed, query);
  }

  requestDeferred(
    token: string,
    transactionId: string,
    changed: Record<string, string | null> = {},
  ): Promise<Answer<CredentialAnswer & OAuthFault>> {
    return this.send(DEFERRED, token, { transaction_id: transactionId }, changed);
  }

  notify(token: string, notificationId: string | undefined): Promise<Answer<OAuthFault>> {
    return this.send(NOTIFICATION, token, { notification_id: notificationId, event: 'credential_accepted' });
  }

  private async send<T>(
    path: string,
    token: string,
    body: object | string,
    changed: Record<string, string | null> = {},
    query = '',
  ): Promise<Answer<T & OAuthFault>> {
    const own = { authorization: `DPoP ${token}`, dpop: await this.dpop(path, {}, token) };
    const headers = Object.entries({ ...own, ...changed }).filter(
      (entry): entry is [string, string] => entry[1] !== null,
    );
    return new ApiClient(this.issuer).request('POST', `${path}${query}`, {
      body,
      headers: Object.fromEntries(headers),
    });
  }

  /** One request with a proof for each key. */
  async credentials(token: string, configurationId: string, ...keys: HolderKey[]): Promise<string[]> {
    const jwt = await Promise.all(keys.map((key) => this.keyProof(key)));
    const body = { credential_configuration_id: configurationId, proofs: { jwt } };
    const { credentials } = expectStatus(await this.requestCredential(token, body), 200);
    return credentials.map(({ credential }) => credential);
  }

  private async authenticated(path: string, sent: SentProofs): Promise<Record<string, string>> {
    const { attestation = await this.attest(), pop = await this.pop(), dpop = await this.dpop(path) } = sent;
    return {
      ...(attestation !== null && { 'OAuth-Client-Attestation': attestation }),
      ...(pop !== null && { 'OAuth-Client-Attestation-PoP': pop }),
      ...(dpop !== null && { DPoP: dpop }),
    };
  }
}

export interface CredentialAnswer {
  credentials: { credential: string }[];
  notification_id?: string;
  /** With 202 instead of credentials. */
  transaction_id?: string;
  interval?: number;
}
