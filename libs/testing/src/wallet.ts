import { createHash, randomBytes, X509Certificate } from 'node:crypto';
import {
  clientAuthenticationAnonymous,
  clientAuthenticationClientAttestationJwt,
  clientAuthenticationNone,
  Oauth2Client,
  setGlobalConfig,
  type CallbackContext,
  type JwtSigner,
  type RequestDpopOptions,
} from '@openid4vc/oauth2';
import {
  Openid4vciClient,
  Openid4vciRetrieveCredentialsError,
  type CredentialOfferObject,
  type CredentialResponse,
  type DeferredCredentialResponse,
  type IssuerMetadataResult,
  type NotificationEvent,
} from '@openid4vc/openid4vci';
import { compactVerify, exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose';
import { didJwkOf, didKeyOf } from './did-resolution.js';
import { encryptCredentialRequest } from './encrypted-exchange.js';
import { hostFetch } from './host-fetch.js';
import type { RedirectBrowser } from './redirect-browser.js';

// Its rule is https; localhost has no certificates.
setGlobalConfig({ allowInsecureUrls: true });

export type ProofAlgorithm = 'ES256' | 'EdDSA';
/** How the proof names its key: in the header, or as a DID URL. */
export type KeyBinding = 'jwk' | 'did:key' | 'did:jwk';

/** A holder's key. */
export interface HolderKey {
  algorithm: ProofAlgorithm;
  publicJwk: JWK;
  privateKey: CryptoKey;
  /** DID of the key; for `jwk` a did:jwk that differs from the credential's subject in the order of members only. */
  did: string;
  binding: KeyBinding;
}

export const makeHolderKey = async (
  algorithm: ProofAlgorithm = 'ES256',
  binding: KeyBinding = 'jwk',
): Promise<HolderKey> => {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const { kty, crv, x, y } = await exportJWK(publicKey);
  const publicJwk: JWK = y === undefined ? { kty, crv, x } : { kty, crv, x, y };
  const did = binding === 'did:key' ? didKeyOf(publicJwk) : didJwkOf(publicJwk);
  return { algorithm, publicJwk, privateKey, did, binding };
};

export interface CollectOptions {
  /** Shown to the holder beside the offer. */
  transactionCode?: string;
  /** One proof each; default one fresh ES256 key in the header. */
  keys?: readonly HolderKey[];
  /** Ids of the offered configurations to collect; default all. */
  configurationIds?: readonly string[];
}

export interface AuthorizeOptions {
  browser: Pick<RedirectBrowser, 'follow'>;
  redirectUri: string;
  scope?: string;
  /** Added to the authorization request. */
  parameters?: Record<string, string>;
}

export interface TokenAnswer {
  access_token: string;
  token_type: string;
  refresh_token?: string;
  scope?: string;
  authorization_details?: { credential_configuration_id: string; credential_identifiers: string[] }[];
}

export interface Collected {
  offer: CredentialOfferObject;
  metadata: IssuerMetadataResult;
  accessToken: string;
  /** In the order of the configurations, then of the keys. */
  credentials: { configurationId: string; credential: string | Record<string, unknown>; key: HolderKey }[];
}

/** The library takes signed metadata but sends no Accept. */
const fetchSigned = ((input: string | URL, init: RequestInit = {}) => {
  const headers = new Headers(init.headers);
  if (!headers.has('accept')) headers.set('accept', 'application/jwt, application/json;q=0.9');
  return hostFetch(input, { ...init, headers: Object.fromEntries(headers) });
}) as typeof fetch;

/** Verifies JWTs whose header has the certificate of their key. */
const verifyUnder =
  (ca: X509Certificate): CallbackContext['verifyJwt'] =>
  async (signer, { compact }) => {
    if (signer.method !== 'x5c') return { verified: false };
    const certificate = new X509Certificate(Buffer.from(signer.x5c[0]!, 'base64'));
    if (!certificate.verify(ca.publicKey)) return { verified: false };
    await compactVerify(compact, certificate.publicKey);
    return { verified: true, signerJwk: (await exportJWK(certificate.publicKey)) as never };
  };

/** A wallet on the client library of the OpenWallet Foundation, without any code for this platform. */
export class Wallet {
  private readonly keys = new Map<string, HolderKey>();
  readonly client: Openid4vciClient;
  private readonly oauth: Oauth2Client;
  private readonly callbacks: CallbackContext;
  /** With the nonce of the issuer's last answer. */
  private dpop: RequestDpopOptions | undefined;

  /**
   * @param clientId any; without one it is anonymous, which is sufficient for pre-authorized codes
   * @param issuerCa PEM; it prefers metadata that is signed under this CA
   * @param dpopKey its access tokens are bound to this key (RFC 9449)
   * @param attestation client attestation of its instance; without a key of its own, the DPoP proof is the proof of possession
   */
  constructor(
    private readonly clientId?: string,
    issuerCa?: string,
    dpopKey?: HolderKey,
    attestation?: { jwt: string; key?: HolderKey },
  ) {
    if (dpopKey) {
      const signer = signerOf(dpopKey) as RequestDpopOptions['signer'];
      this.keys.set(signerId(signer), dpopKey);
      this.dpop = { signer };
    }
    const refuse = () => {
      throw new Error('this wallet does not use that');
    };
    const callbacks: Omit<CallbackContext, 'verifyJwt'> & Partial<Pick<CallbackContext, 'verifyJwt'>> = {
      fetch: (issuerCa === undefined ? hostFetch : fetchSigned) as unknown as NonNullable<CallbackContext['fetch']>,
      hash: (data, algorithm) => createHash(algorithm.replace('-', '')).update(data).digest(),
      generateRandom: (length) => randomBytes(length),
      signJwt: async (signer, { header, payload }) => {
        const key = this.keys.get(signerId(signer));
        if (!key) throw new Error(`no key for ${signerId(signer)}`);
        const jwt = await new SignJWT(payload as Record<string, unknown>)
          .setProtectedHeader(header as { alg: string })
          .sign(key.privateKey);
        return { jwt, signerJwk: key.publicJwk as never };
      },
      clientAuthentication:
        clientId === undefined ? clientAuthenticationAnonymous() : clientAuthenticationNone({ clientId }),
      decryptJwe: refuse,
      encryptJwe: refuse,
      ...(issuerCa !== undefined && { verifyJwt: verifyUnder(new X509Certificate(issuerCa)) }),
    };
    if (attestation?.key) {
      this.keys.set(signerId(signerOf(attestation.key)), attestation.key);
      callbacks.clientAuthentication = clientAuthenticationClientAttestationJwt({
        clientAttestationJwt: attestation.jwt,
        callbacks: callbacks as CallbackContext,
      });
    } else if (attestation)
      // The library has no combined mode.
      callbacks.clientAuthentication = ({ headers }) => headers.set('OAuth-Client-Attestation', attestation.jwt);
    this.callbacks = callbacks as CallbackContext;
    this.client = new Openid4vciClient({ callbacks: this.callbacks });
    this.oauth = new Oauth2Client({ callbacks: this.callbacks });
  }

  /** The offer of an `openid-credential-offer://` address, by value or by reference. */
  resolveOffer(uri: string): Promise<CredentialOfferObject> {
    return this.client.resolveCredentialOffer(uri);
  }

  metadata(issuer: string): Promise<IssuerMetadataResult> {
    return this.client.resolveIssuerMetadata(issuer);
  }

  async accessToken(
    offer: CredentialOfferObject,
    metadata: IssuerMetadataResult,
    transactionCode?: string,
  ): Promise<string> {
    const { accessTokenResponse, dpop } = await this.client.retrievePreAuthorizedCodeAccessTokenFromOffer({
      credentialOffer: offer,
      issuerMetadata: metadata,
      dpop: this.dpop,
      ...(transactionCode !== undefined && { txCode: transactionCode }),
    });
    this.dpop = dpop;
    return accessTokenResponse.access_token;
  }

  /** Through the authorization code flow: the browser is back when the provider has sent it on to the wallet's address. */
  async authorizedToken(
    offer: CredentialOfferObject,
    metadata: IssuerMetadataResult,
    { browser, redirectUri, scope, parameters = {} }: AuthorizeOptions,
  ): Promise<TokenAnswer> {
    const state = randomBytes(16).toString('base64url');
    // Its request from an offer has no place for a state. It pushes the request, because the metadata have an endpoint for that.
    const { authorizationRequestUrl, pkce, ...pushed } = await this.oauth.createAuthorizationRequestUrl({
      authorizationServerMetadata: metadata.authorizationServers[0]!,
      clientId: this.clientId!,
      redirectUri,
      resource: metadata.credentialIssuer.credential_issuer,
      state,
      dpop: this.dpop,
      ...(scope !== undefined && { scope }),
      additionalRequestPayload: { ...parameters, issuer_state: offer.grants?.authorization_code?.issuer_state },
    });
    this.dpop = pushed.dpop;
    const back = await browser.follow(authorizationRequestUrl, (url) => url.startsWith(redirectUri));
    const answer = Object.fromEntries(back.searchParams);
    // RFC 9207 §2.4
    if (answer['state'] !== state || answer['iss'] !== metadata.authorizationServers[0]!.issuer)
      throw new Error(`that is no answer to this wallet: ${back.href}`);
    if (answer['code'] === undefined) throw new Error(answer['error']);
    const { accessTokenResponse, dpop } = await this.client.retrieveAuthorizationCodeAccessTokenFromOffer({
      credentialOffer: offer,
      issuerMetadata: metadata,
      dpop: this.dpop,
      authorizationCode: answer['code'],
      pkceCodeVerifier: pkce!.codeVerifier,
      redirectUri,
    });
    this.dpop = dpop;
    return accessTokenResponse as TokenAnswer;
  }

  /** With the keys of the token request that returned the refresh token. */
  async refreshedToken(metadata: IssuerMetadataResult, refreshToken: string): Promise<TokenAnswer> {
    const { accessTokenResponse, dpop } = await this.oauth.retrieveRefreshTokenAccessToken({
      authorizationServerMetadata: metadata.authorizationServers[0]!,
      refreshToken,
      dpop: this.dpop,
    });
    this.dpop = dpop;
    return accessTokenResponse as TokenAnswer;
  }

  async nonce(metadata: IssuerMetadataResult): Promise<string> {
    return (await this.client.requestNonce({ issuerMetadata: metadata })).c_nonce;
  }

  /** Key proof of OID4VCI Appendix F.1, with a key attestation where the metadata require one. */
  async proof(
    metadata: IssuerMetadataResult,
    credentialConfigurationId: string,
    key: HolderKey,
    nonce: string,
    keyAttestationJwt?: string,
  ): Promise<string> {
    const signer = signerOf(key);
    this.keys.set(signerId(signer), key);
    const { jwt } = await this.client.createCredentialRequestJwtProof({
      issuerMetadata: metadata,
      credentialConfigurationId,
      signer,
      nonce,
      ...(keyAttestationJwt !== undefined && { keyAttestationJwt }),
    });
    return jwt;
  }

  /** One request for one configuration, with a proof for each key. */
  async credentials(
    metadata: IssuerMetadataResult,
    accessToken: string,
    credentialConfigurationId: string,
    keys: readonly HolderKey[],
  ): Promise<(string | Record<string, unknown>)[]> {
    const { credentials } = await this.requestCredentials(metadata, accessToken, credentialConfigurationId, keys);
    return (credentials as { credential: string | Record<string, unknown> }[]).map(({ credential }) => credential);
  }

  /** Requests like {@link credentials}; returns the whole response, which may be deferred (OID4VCI §8.3). */
  async requestCredentials(
    metadata: IssuerMetadataResult,
    accessToken: string,
    credentialConfigurationId: string,
    keys: readonly HolderKey[],
  ): Promise<CredentialResponse> {
    const nonce = await this.nonce(metadata);
    const jwts = await Promise.all(keys.map((key) => this.proof(metadata, credentialConfigurationId, key, nonce)));
    const { credentialResponse, dpop } = await this.client.retrieveCredentials({
      issuerMetadata: metadata,
      accessToken,
      dpop: this.dpop,
      credentialConfigurationId,
      proofs: { jwt: jwts as [string, ...string[]] },
    });
    if (this.dpop) this.dpop = { ...this.dpop, ...dpop };
    return credentialResponse;
  }

  /** One request to the deferred credential endpoint (OID4VCI §9). */
  async collectDeferred(
    metadata: IssuerMetadataResult,
    accessToken: string,
    transactionId: string,
  ): Promise<DeferredCredentialResponse> {
    const request = { issuerMetadata: metadata, accessToken, transactionId, dpop: this.dpop };
    try {
      const { deferredCredentialResponse, dpop } = await this.client.retrieveDeferredCredentials(request);
      if (this.dpop) this.dpop = { ...this.dpop, ...dpop };
      return deferredCredentialResponse;
    } catch (error) {
      // The library (0.4.6) refuses credentials beside a notification_id here, which OID4VCI §9.2 allows.
      const response = error instanceof Openid4vciRetrieveCredentialsError && error.response.response;
      if (!response || response.status !== 200) throw error;
      return (await response.json()) as DeferredCredentialResponse;
    }
  }

  /** OID4VCI §11 */
  async notify(
    metadata: IssuerMetadataResult,
    accessToken: string,
    notificationId: string,
    event: NotificationEvent,
  ): Promise<void> {
    const { dpop } = await this.client.sendNotification({
      ...{ issuerMetadata: metadata, accessToken, notification: { notificationId, event } },
      dpop: this.dpop,
    });
    if (this.dpop) this.dpop = { ...this.dpop, ...dpop };
  }

  /**
   * One credential by its identifier (OID4VCI §8.2), with `encrypted` in an encrypted response to an encrypted request (§10). The library
   * (0.4.6) has neither: it makes the proofs and sends the request, whose body this method makes.
   */
  async credentialByIdentifier(
    metadata: IssuerMetadataResult,
    accessToken: string,
    credentialConfigurationId: string,
    credentialIdentifier: string,
    key: HolderKey,
    { encrypted = false } = {},
  ): Promise<string | Record<string, unknown>> {
    const proof = await this.proof(metadata, credentialConfigurationId, key, await this.nonce(metadata));
    const request = { credential_identifier: credentialIdentifier, proofs: { jwt: [proof] } };
    const { credential_endpoint: url, credential_request_encryption: encryption } = metadata.credentialIssuer as {
      credential_endpoint: string;
      credential_request_encryption?: { jwks: { keys: JWK[] } };
    };
    const sealed = encrypted ? await encryptCredentialRequest(encryption!.jwks.keys[0]!, request) : undefined;
    const { response, dpop } = await this.oauth.resourceRequest({
      ...{ url, accessToken, dpop: this.dpop, callbacks: this.callbacks },
      requestOptions: {
        method: 'POST',
        headers: { 'content-type': sealed ? 'application/jwt' : 'application/json' },
        body: sealed?.jwe ?? JSON.stringify(request),
      },
    });
    if (this.dpop) this.dpop = { ...this.dpop, ...dpop };
    const text = await response.text();
    if (!response.ok) throw new Error(`no credential: ${text}`);
    const body = (sealed ? await sealed.decryptResponse(text) : JSON.parse(text)) as {
      credentials: { credential: string | Record<string, unknown> }[];
    };
    return body.credentials[0]!.credential;
  }

  /** Everything from the offer's address to the credentials. */
  async collect(offerUri: string, options: CollectOptions = {}): Promise<Collected> {
    const offer = await this.resolveOffer(offerUri);
    const metadata = await this.metadata(offer.credential_issuer);
    const accessToken = await this.accessToken(offer, metadata, options.transactionCode);
    const keys = options.keys ?? [await makeHolderKey()];
    const credentials: Collected['credentials'] = [];
    for (const configurationId of options.configurationIds ?? offer.credential_configuration_ids) {
      const got = await this.credentials(metadata, accessToken, configurationId, keys);
      credentials.push(...got.map((credential, index) => ({ configurationId, credential, key: keys[index]! })));
    }
    return { offer, metadata, accessToken, credentials };
  }
}

const signerOf = ({ algorithm, publicJwk, did, binding }: HolderKey): JwtSigner => {
  if (binding === 'jwk') return { method: 'jwk', alg: algorithm, publicJwk: publicJwk as never };
  const fragment = binding === 'did:jwk' ? '0' : did.slice('did:key:'.length);
  return { method: 'did', alg: algorithm, didUrl: `${did}#${fragment}` };
};

const signerId = (signer: JwtSigner): string =>
  signer.method === 'did' ? signer.didUrl : JSON.stringify((signer as { publicJwk?: unknown }).publicJwk);
