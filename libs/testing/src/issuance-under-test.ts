import { createHash, generateKeyPairSync, randomUUID, type KeyObject } from 'node:crypto';
import {
  AppError,
  authorize,
  beginSignIn,
  completeAuthorization,
  completeSignIn,
  createPreAuthorizedOffer,
  exchangeToken,
  HTTP_STATUS,
  issueNonce,
  jwtVcConfigurations,
  reserveIssuerKey,
  type AccessTokenResponse,
  type Caller,
  type HttpAnswer,
  type NonceResponse,
  type Operation,
  type PreAuthorizedOfferRequest,
} from '@attestry/contracts';
import { jwkThumbprint, type PublicJwk } from '@attestry/keys';
import type { ResponseOf, ServiceDefinition } from '@attestry/service-kit';
import { SignJWT, type JWK, type JWTHeaderParameters } from 'jose';
import { ServiceUnderTest, type ServiceUnderTestOptions } from './service-under-test.js';

const VERIFIER = 'a-verifier-of-the-wallet-with-43-characters';
const LOGIN = 'https://login.example';
const FORM = 'application/x-www-form-urlencoded';

export interface IssuanceOptions extends ServiceUnderTestOptions {
  /** Person who signs in next; default always the same person, without claims. */
  person?: () => { subjectId: string; claims: Record<string, unknown> };
}

export interface WalletKey {
  privateKey: KeyObject;
  jwk: PublicJwk;
  jkt: string;
}

export const makeWalletKey = (curve: 'P-256' | 'Ed25519' = 'P-256'): WalletKey => {
  const { privateKey, publicKey } =
    curve === 'P-256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519');
  const jwk = publicKey.export({ format: 'jwk' }) as PublicJwk;
  return { privateKey, jwk, jkt: jwkThumbprint(jwk) };
};

/** The claim `ath` of a DPoP proof (RFC 9449 §4.2). */
export const athOf = (accessToken: string): string => createHash('sha256').update(accessToken).digest('base64url');

/** Status, headers and body as the gateway would send them. */
export interface ServiceAnswer<T = Record<string, unknown>> {
  status: number;
  headers: Record<string, string>;
  body: T;
}

export interface RawParts {
  url?: string;
  text?: string;
  headers?: Record<string, string>;
}

/**
 * The issuance service alone, with two tenants, a provider at which everyone signs in, and what an issuer and a wallet send to it. Each suite starts
 * its own.
 */
export class IssuanceUnderTest extends ServiceUnderTest {
  /** Redirect URI of the wallet `wallet`, which is registered with {@link WALLET}. */
  static readonly BACK = 'https://wallet.example/back';
  static readonly WALLET = { name: 'Wallet', clientId: 'wallet', redirectUris: [IssuanceUnderTest.BACK] };
  static readonly PRE_AUTHORIZED = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';

  constructor(service: ServiceDefinition, { person, ...options }: IssuanceOptions = {}) {
    super(service, options);
    this.answer(beginSignIn, ({ body: { state } }) => ({
      providerId: randomUUID(),
      url: `${LOGIN}/authorize?${new URLSearchParams({ state })}`,
    }));
    this.answer(completeSignIn, () => ({
      url: LOGIN,
      ...(person?.() ?? { subjectId: 'zoe', claims: {} }),
      claimsToPersist: [],
    }));
    this.answer(reserveIssuerKey, async ({ body: { algorithms } }, tenantId) => {
      const algorithm = algorithms[0]!;
      const { keyId } = await this.engines.vault.signingKeys.ensureSigningKey(tenantId, 'did', algorithm);
      const did = 'did:web:acme.example';
      return { did, verificationMethod: `${did}#k123456789`, kmsKeyId: keyId, algorithm };
    });
  }

  // --- calls

  /** Sends a call of a wallet. @throws AppError */
  readonly call = <O extends Operation>(
    operation: O,
    { url = '/', text = '', headers = {} }: RawParts,
    tenantId = IssuanceUnderTest.TENANT,
  ): Promise<ResponseOf<O>> => {
    const caller: Caller = operation.access.kind === 'public' ? { kind: 'public' } : { kind: 'holder' };
    const raw = { method: operation.http!.method, url, headers, text };
    return this.admin(operation, { raw }, tenantId, { caller });
  };

  /** Sends a call of a wallet, which gets an answer to everything. */
  readonly send = async <T>(operation: Operation, parts: RawParts, tenantId?: string): Promise<ServiceAnswer<T>> => {
    try {
      const answer = await this.call(operation, parts, tenantId);
      const $http = (answer as unknown as HttpAnswer | undefined)?.$http;
      const status = $http?.status ?? operation.http!.success;
      return { status, headers: $http?.headers ?? {}, body: ($http ? $http.body : answer) as T };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const { kind, code, message, headers = {} } = error;
      return { status: HTTP_STATUS[kind], headers, body: { error: code, error_description: message } as T };
    }
  };

  readonly sendForm = <T>(
    operation: Operation,
    parameters: Record<string, string>,
    headers: Record<string, string> = {},
    tenantId?: string,
  ): Promise<ServiceAnswer<T>> => {
    const text = new URLSearchParams(parameters).toString();
    return this.send<T>(operation, { headers: { 'content-type': FORM, ...headers }, text }, tenantId);
  };

  readonly sendJson = <T>(
    operation: Operation,
    body: unknown,
    headers: Record<string, string>,
    tenantId?: string,
  ): Promise<ServiceAnswer<T>> => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return this.send<T>(operation, { headers: { 'content-type': 'application/json', ...headers }, text }, tenantId);
  };

  // --- the issuer

  /** A configuration `jwt_vc_json` with the required claim `name`. @returns its id */
  readonly configure = async (type: string, more: object = {}, tenantId?: string): Promise<string> => {
    const claimMappings = { name: { mapFrom: 'claims.name', required: true } };
    const body = { type, name: type, issuer: { name: 'Acme' }, claimMappings, ...more };
    return (await this.admin(jwtVcConfigurations.create, { body }, tenantId)).id;
  };

  readonly offer = async (body: PreAuthorizedOfferRequest, tenantId?: string) => {
    const made = await this.admin(createPreAuthorizedOffer, { body }, tenantId);
    const { grants } = JSON.parse(new URL(made.uri).searchParams.get('credential_offer')!) as {
      grants: Record<string, { 'pre-authorized_code': string }>;
    };
    return { ...made, code: grants[IssuanceUnderTest.PRE_AUTHORIZED]!['pre-authorized_code'] };
  };

  // --- the wallet

  readonly seconds = (): number => Math.floor((Date.now() + this.ahead) / 1000);

  /** A JWT with the key in its header. */
  readonly sign = (typ: string, { privateKey, jwk }: WalletKey, claims: object, header: object = {}): Promise<string> =>
    new SignJWT({ iat: this.seconds(), ...claims })
      .setProtectedHeader({
        ...{ alg: jwk.crv === 'Ed25519' ? 'EdDSA' : 'ES256', typ, jwk: { ...jwk } as JWK },
        ...header,
      } as JWTHeaderParameters)
      .sign(privateKey);

  /** A DPoP proof for this endpoint. */
  readonly proveDpop = (
    key: WalletKey,
    { http }: Operation,
    claims: object = {},
    tenantId = IssuanceUnderTest.TENANT,
  ) =>
    this.sign('dpop+jwt', key, {
      ...{ htm: 'POST', htu: `${this.baseOf(tenantId)}${http!.path}`, jti: randomUUID() },
      ...claims,
    });

  /** A key proof with a new nonce. */
  readonly proveKey = async (
    key: WalletKey,
    tenantId = IssuanceUnderTest.TENANT,
    { nonce, header }: { nonce?: string | undefined; header?: object } = {},
  ): Promise<string> => {
    const claims = { aud: this.baseOf(tenantId), nonce: nonce ?? (await this.nonce(tenantId)) };
    return this.sign('openid4vci-proof+jwt', key, claims, header);
  };

  readonly nonce = async (tenantId?: string): Promise<string> =>
    (await this.send<NonceResponse>(issueNonce, {}, tenantId)).body.c_nonce;

  /** Exchanges a pre-authorized code. */
  readonly redeem = (code: string, headers?: Record<string, string>, more: object = {}, tenantId?: string) =>
    this.sendForm<AccessTokenResponse>(
      exchangeToken,
      { grant_type: IssuanceUnderTest.PRE_AUTHORIZED, 'pre-authorized_code': code, ...more },
      headers,
      tenantId,
    );

  readonly authorization = (parameters: Record<string, string> = {}) => ({
    ...{ response_type: 'code', client_id: 'wallet', redirect_uri: IssuanceUnderTest.BACK },
    code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    ...{ code_challenge_method: 'S256', ...parameters },
  });

  /** Sends the browser to the authorization endpoint and, unless that refuses, signs in. @returns where the wallet is called back */
  readonly authorize = async (query: Record<string, string>, tenantId?: string): Promise<URL> => {
    const begun = await this.send(authorize, { url: `/v1/oauth/authorize?${new URLSearchParams(query)}` }, tenantId);
    const location = new URL(begun.headers['location']!);
    if (location.origin !== LOGIN) return location;
    const back = new URLSearchParams({ state: location.searchParams.get('state')!, code: 'x' });
    const url = `/v1/oauth/authentication/callback?${back}`;
    const cookie = begun.headers['set-cookie']!.split(';')[0]!;
    const ended = await this.send(completeAuthorization, { url, headers: { cookie } }, tenantId);
    return new URL(ended.headers['location']!);
  };

  /** Authorization code of a person who signed in. */
  readonly signIn = async (query: Record<string, string>, tenantId?: string): Promise<string> =>
    (await this.authorize(query, tenantId)).searchParams.get('code')!;

  /** Parameters that exchange the code of an {@link authorization}. */
  readonly codeGrant = (code: string, clientId = 'wallet') => ({
    ...{ grant_type: 'authorization_code', client_id: clientId, redirect_uri: IssuanceUnderTest.BACK },
    ...{ code_verifier: VERIFIER, code },
  });
}
