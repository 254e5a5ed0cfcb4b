import {
  createPreAuthorizedOffer,
  credentialIssued,
  exchangeToken,
  issueCredential,
  issueNonce,
  jwtVcConfigurations,
  recordSubject,
  reserveIssuerKey,
  retrieveBrand,
  retrieveCredentialDocument,
  webSemanticConfigurations,
  type CredentialFormat,
  type HttpAnswer,
  type IssuerKey,
  type NonceResponse,
  type OperationRecord,
  type PreAuthorizedOffer,
  type PreAuthorizedOfferRequest,
  type VerifiedBrand,
} from '@attestry/contracts';
import { encodeDidJwk, encodeDidKey, encodeMultikey, type PublicJwk } from '@attestry/keys';
import type { ServiceDefinition } from '@attestry/service-kit';
import { compactVerify, importJWK, type JWK } from 'jose';
import { IssuanceUnderTest, type WalletKey } from './issuance-under-test.js';
import { refusal, type ServiceUnderTestOptions } from './service-under-test.js';

const { TENANT, PRE_AUTHORIZED } = IssuanceUnderTest;
const RECORDS = recordSubject('record', 'issuance');

interface OfferJson {
  credential_issuer: string;
  credential_configuration_ids: string[];
  credentials: string[];
  grants: Record<string, { 'pre-authorized_code': string; tx_code?: object }>;
}

interface JwtVc {
  iss: string;
  sub: string;
  nbf: number;
  exp: number;
  jti: string;
  vc: { '@context': string[]; type: string[]; credentialSubject: Record<string, unknown> };
}

/** How a proof names the key of the holder. */
export type Binding = 'did:key' | 'did:jwk' | 'jwk';

/** From a pre-authorized offer to the credential, by an issuer with `did:key`s. What is refused is thrown. */
export class CredentialFlow extends IssuanceUnderTest {
  /** Records of the calls, in events and as messages. */
  readonly records: (OperationRecord & { requestId: string; stream?: string })[] = [];
  /** Simulated tenant-config service: brands of verified custom domains. */
  readonly brands = new Map<string, VerifiedBrand>();
  readonly issuerKeys = new Map<string, IssuerKey & { publicJwk: PublicJwk }>();
  /** DID of the next configurations; without one it is that of the key, or a did:web where the format needs one. */
  issuerDid: string | undefined;

  constructor(service: ServiceDefinition, options: ServiceUnderTestOptions = {}) {
    super(service, {
      subjects: [credentialIssued.subject],
      prepare: ({ bus, events }) => {
        bus.consume({ name: 'spec.records', subjects: [RECORDS] }, async (messages) => {
          this.records.push(...messages.map(({ data }) => data as (typeof this.records)[number]));
        });
        events.subscribe(
          {},
          {
            onEvents: async (stored) => {
              for (const { stream, metadata } of stored)
                if (metadata.record)
                  this.records.push({
                    ...(metadata.record as OperationRecord),
                    requestId: metadata.requestId,
                    stream,
                  });
            },
            onDropped: () => undefined,
          },
        );
      },
      ...options,
    });
    this.answer(reserveIssuerKey, ({ body: { algorithms, method } }) => {
      const { publicJwk: _, ...key } = this.issuerKeys.get(algorithms[0]!)!;
      const did = this.issuerDid ?? (method && 'did:web:acme.example');
      return { ...key, ...(did && { did, verificationMethod: `${did}#k123456789` }) };
    });
    this.answer(retrieveBrand, (_request, tenantId) => this.brands.get(tenantId) ?? {});
  }

  override async open(change?: Parameters<IssuanceUnderTest['open']>[0]): Promise<void> {
    await this.openEngines(change);
    for (const algorithm of ['P-256', 'Ed25519'] as const) {
      const { keyId, publicJwk } = await this.engines.vault.signingKeys.ensureSigningKey(TENANT, 'did', algorithm);
      const did = encodeDidKey(publicJwk);
      const verificationMethod = `${did}#${encodeMultikey(publicJwk)}`;
      this.issuerKeys.set(algorithm, { did, verificationMethod, kmsKeyId: keyId, algorithm, publicJwk });
    }
    await this.start();
  }

  /** Outcomes recorded of the last request, or of another one. */
  readonly outcomes = (requestId = `request-${this.requests}`): string[] =>
    this.records
      .filter((record) => record.requestId === requestId)
      .map(({ prefix, outcome }) => `${prefix}_${outcome}`);

  // --- the issuer

  /** @returns its id */
  readonly configureFormat = async (
    format: CredentialFormat,
    type: string,
    more: Record<string, unknown> = {},
    tenantId?: string,
  ): Promise<string> => {
    const operation = format === 'ldp_vc' ? webSemanticConfigurations.create : jwtVcConfigurations.create;
    const body = {
      type,
      name: `${type} name`,
      issuer: { name: 'Acme', logoUrl: 'https://acme.example/logo.png' },
      claimMappings: {
        givenName: { mapFrom: 'claims.given_name', required: true },
        city: { mapFrom: 'claims.address.city' },
        level: { defaultValue: 3 },
        nick: { mapFrom: "claims['https://acme.example/nick']", defaultValue: 'none' },
      },
      expiresIn: { years: 1 },
      ...more,
    };
    return (await this.admin(operation, { body }, tenantId)).id;
  };

  readonly makeOffer = (body: Partial<PreAuthorizedOfferRequest>, tenantId?: string): Promise<PreAuthorizedOffer> =>
    this.admin(createPreAuthorizedOffer, { body: { claims: { given_name: 'Ada' }, ...body } }, tenantId);

  /** A credential as the service of webhooks fetches it. */
  readonly retrieveDocument = (body: { tenantId: string; sessionId: string; credentialId: string }) =>
    this.clientOf('webhooks').call(retrieveCredentialDocument, { body }, this.asClient(body.tenantId));

  // --- the wallet

  readonly documentOf = ({ uri }: PreAuthorizedOffer): OfferJson =>
    JSON.parse(new URL(uri).searchParams.get('credential_offer')!) as OfferJson;

  readonly codeOf = (made: PreAuthorizedOffer): string =>
    this.documentOf(made).grants[PRE_AUTHORIZED]!['pre-authorized_code'];

  readonly exchange = (preAuthorizedCode: string, more: Record<string, string> = {}, tenantId?: string) => {
    const parameters = { grant_type: PRE_AUTHORIZED, 'pre-authorized_code': preAuthorizedCode, ...more };
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return this.call(exchangeToken, { text: new URLSearchParams(parameters).toString(), headers }, tenantId);
  };

  readonly nonceFor = async (tenantId?: string): Promise<string> => {
    const { $http } = (await this.call(issueNonce, {}, tenantId)) as unknown as HttpAnswer;
    return ($http.body as NonceResponse).c_nonce;
  };

  readonly prove = (
    holder: WalletKey,
    nonce: string,
    binding: Binding = 'jwk',
    claims: Record<string, unknown> = {},
    header: Record<string, unknown> = {},
  ): Promise<string> => {
    const { jwk } = holder;
    const kid = binding === 'did:key' ? `${encodeDidKey(jwk)}#${encodeMultikey(jwk)}` : `${encodeDidJwk(jwk)}#0`;
    return this.sign(
      'openid4vci-proof+jwt',
      holder,
      { aud: this.baseOf(TENANT), nonce, ...claims },
      { ...(binding !== 'jwk' && { jwk: undefined, kid }), ...header },
    );
  };

  readonly collect = (token: string, body: unknown, tenantId?: string) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    return this.call(issueCredential, { text: JSON.stringify(body), headers }, tenantId);
  };

  /** Offer to token. */
  readonly begin = async (configurationId: string, body: Partial<PreAuthorizedOfferRequest> = {}) => {
    const made = await this.makeOffer({ credentials: [configurationId], ...body });
    return { made, token: (await this.exchange(this.codeOf(made))).access_token };
  };

  /** Payload of a JWT credential, of which signature and header are checked. */
  readonly verified = async (credential: unknown): Promise<JwtVc> => {
    const { publicJwk, verificationMethod } = this.issuerKeys.get('P-256')!;
    const key = await importJWK(publicJwk as unknown as JWK, 'ES256');
    const { payload, protectedHeader } = await compactVerify(credential as string, key);
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'JWT', kid: verificationMethod });
    return JSON.parse(Buffer.from(payload).toString()) as JwtVc;
  };
}

/** Code of the error by which a call is refused. */
export const refusalCode = async (call: Promise<unknown>): Promise<string> => (await refusal(call)).code;
