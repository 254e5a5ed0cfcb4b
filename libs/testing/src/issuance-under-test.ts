import { createHash, generateKeyPairSync, randomUUID, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
import type { FeedMessage } from '@attestry/messaging';
import {
  openEngines,
  parseConfig,
  ServiceClient,
  startServices,
  type Engines,
  type RequestOf,
  type RunningServices,
  type ServiceDefinition,
} from '@attestry/service-kit';
import { SignJWT, type JWK, type JWTHeaderParameters } from 'jose';
import { chosenEngines } from './postgres-engines.js';
import { TEST_SETTINGS } from './test-settings.js';

const VERIFIER = 'a-verifier-of-the-wallet-with-43-characters';
const LOGIN = 'https://login.example';
const FORM = 'application/x-www-form-urlencoded';

export interface IssuanceOptions {
  /** Person who signs in next; default always the same person, without claims. */
  person?: () => { subjectId: string; claims: Record<string, unknown> };
  /** Besides {@link TEST_SETTINGS}. */
  settings?: Record<string, string>;
  /** Messages that the service publishes, kept in {@link IssuanceUnderTest.messages}. */
  subjects?: readonly string[];
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
 * The issuance service alone, on the engines of the Jest project, with two tenants, a provider at which everyone signs in, and what an issuer and a
 * wallet send to it. Each suite starts its own.
 */
export class IssuanceUnderTest {
  static readonly TENANT = '11111111-1111-4111-8111-111111111111';
  static readonly OTHER = '22222222-2222-4222-8222-222222222222';
  /** Redirect URI of the wallet `wallet`, which is registered with {@link WALLET}. */
  static readonly BACK = 'https://wallet.example/back';
  static readonly WALLET = { name: 'Wallet', clientId: 'wallet', redirectUris: [IssuanceUnderTest.BACK] };
  static readonly PRE_AUTHORIZED = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';

  engines!: Engines;
  services!: RunningServices;
  /** Milliseconds the clock is ahead. */
  ahead = 0;
  /** Number of the last request: `request-<requests>`. */
  requests = 0;
  readonly messages: FeedMessage[] = [];
  private client!: ServiceClient;
  private folder: string | undefined;

  constructor(
    private readonly service: ServiceDefinition,
    private readonly options: IssuanceOptions = {},
  ) {}

  /** Starts it; after {@link close} again, on the same data. */
  async open(): Promise<void> {
    this.folder ??= mkdtempSync(join(tmpdir(), 'issuance-'));
    const { settings, subjects = [] } = this.options;
    const config = parseConfig({ ...TEST_SETTINGS, DATA_DIR: this.folder, BASE_DOMAIN: 'localhost:8080', ...settings });
    const clock = { now: () => new Date(Date.now() + this.ahead) };
    this.engines = await chosenEngines(await openEngines(config, { clock }));
    const { bus, vault } = this.engines;
    bus.serve(beginSignIn.subject, async (data) => {
      const { state } = (data as RequestOf<typeof beginSignIn>).body;
      const url = `${LOGIN}/authorize?${new URLSearchParams({ state })}`;
      return { ok: true, data: { providerId: randomUUID(), url } };
    });
    bus.serve(completeSignIn.subject, async () => {
      const person = this.options.person?.() ?? { subjectId: 'zoe', claims: {} };
      return { ok: true, data: { url: LOGIN, ...person, claimsToPersist: [] } };
    });
    bus.serve(reserveIssuerKey.subject, async (data, { tenant }) => {
      const { id } = JSON.parse(tenant!) as { id: string };
      const [algorithm] = (data as RequestOf<typeof reserveIssuerKey>).body.algorithms;
      const { keyId } = await vault.signingKeys.ensureSigningKey(id, 'did', algorithm!);
      const did = 'did:web:acme.example';
      return { ok: true, data: { did, verificationMethod: `${did}#k123456789`, kmsKeyId: keyId, algorithm } };
    });
    if (subjects.length > 0)
      bus.consume({ name: 'spec.messages', subjects }, async (messages) => {
        this.messages.push(...messages);
      });
    this.services = await startServices([this.service], this.engines);
    this.client = new ServiceClient(bus, 'gateway');
  }

  async close(): Promise<void> {
    await this.services?.close();
    await this.engines?.close();
  }

  /** Closes it and deletes its data. */
  async remove(): Promise<void> {
    await this.close();
    if (this.folder) rmSync(this.folder, { recursive: true, force: true });
  }

  // --- calls

  readonly baseOf = (tenantId: string): string => `http://${tenantId.slice(0, 4)}.localhost:8080`;

  /** Sends a call of a client of the tenant. @throws AppError */
  readonly admin = <O extends Operation>(operation: O, request: object, tenantId = IssuanceUnderTest.TENANT) =>
    this.client.call(
      operation,
      request as Partial<RequestOf<O>>,
      this.contextOf(operation, { kind: 'client', clientId: 'c' }, tenantId),
    );

  /** Sends a call of a wallet. @throws AppError */
  readonly call = (
    operation: Operation,
    { url = '/', text = '', headers = {} }: RawParts,
    tenantId = IssuanceUnderTest.TENANT,
  ): Promise<unknown> => {
    const caller: Caller = operation.access.kind === 'public' ? { kind: 'public' } : { kind: 'holder' };
    const raw = { method: operation.http!.method, url, headers, text };
    return this.client.call(operation, { raw } as never, this.contextOf(operation, caller, tenantId));
  };

  /** Sends a call of a wallet, which gets an answer to everything. */
  readonly send = async <T>(operation: Operation, parts: RawParts, tenantId?: string): Promise<ServiceAnswer<T>> => {
    try {
      const answer = await this.call(operation, parts, tenantId);
      const $http = (answer as HttpAnswer | undefined)?.$http;
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

  private contextOf(operation: Operation, caller: Caller, tenantId: string): never {
    const baseUrl = this.baseOf(tenantId);
    return {
      ...{ tenant: { id: tenantId, host: baseUrl.slice(7), baseUrl }, caller, requestId: `request-${++this.requests}` },
      ...{ operation: operation.name, deadline: Date.now() + 20_000, publicUrl: baseUrl },
    } as never;
  }

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
