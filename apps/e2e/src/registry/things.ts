import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  expectStatus,
  makeHolderKey,
  waitUntil,
  Wallet,
  type TenantApi,
  type TenantUnderTest,
} from '@attestry/testing';
import type { World } from './world.js';

export const wallet = new Wallet();

const claimMappings = { given_name: { mapFrom: 'claims.given_name' } };

let counter = 0;

/** Unused names. */
export const unique = (stem: string): string => `${stem}${(++counter).toString(36)}`;

export const jwtVcRequest = (type = unique('Type')) => ({
  type,
  name: 'Test credential',
  issuer: { name: 'Test issuer' },
  claimMappings,
});

export const webSemanticRequest = jwtVcRequest;

export const compactRequest = (type = unique('Type')) => ({ type, claimMappings });

export const mobileRequest = (type = unique('org.example.')) => ({
  type,
  claimMappings: { 'org.example.1': { given_name: { mapFrom: 'claims.given_name' } } },
  expiresIn: { months: 1 },
});

export const DURATIONS = { timeToLiveDuration: { days: 1 }, expiryDuration: { days: 2 } };

export const listsRequest = () => ({ docType: unique('org.example.'), ...DURATIONS });

/** `.example` and `.invalid` are reserved; deliveries to them fail, which is not tested here. */
export const webhookRequest = () => ({
  events: ['OpenIdCredentialIssuedSummary' as const],
  url: `https://hooks.example.com/${unique('hook')}`,
});

/** Address of a server that accepts everything; it does not keep the process alive. */
export const takingUrl = async (): Promise<string> => {
  const server = createServer((request, response) => request.resume().on('end', () => response.end()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve).unref());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};

/** Invitation of an address that no person has. */
export const invitation = () => ({ email: `${unique('visitor-')}@people.example`, roles: ['issuer' as const] });

export const NO_SUCH = '3f0f2c59-6a27-4e80-b2a0-9b6f5f0c7d11';

/** A request for a credential that was deferred. */
export const deferredRequest = async (api: TenantApi, configurationId: string) => {
  const offered = { credentials: [configurationId], claims: { given_name: 'Ada' } };
  const { uri, id: offerId } = expectStatus(await api.offers.create(offered), 200);
  const offer = await wallet.resolveOffer(uri);
  const metadata = await wallet.metadata(offer.credential_issuer);
  const token = await wallet.accessToken(offer, metadata);
  const answer = await wallet.requestCredentials(metadata, token, configurationId, [await makeHolderKey()]);
  const { id } = await waitUntil(
    async () =>
      expectStatus(await api.deferred.list({ limit: 1000 }), 200).data.find(({ sessionId }) => sessionId === offerId),
    { what: 'the deferred issuance in the list' },
  );
  return { id, token, transactionId: answer.transaction_id! };
};

export const form = (members: Record<string, string>) => new URLSearchParams(members);

export const storedOfferOf = async (api: TenantApi, configurationId: string): Promise<string> => {
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  return expectStatus(await api.offers.createOpen({ credentials: [configurationId], expiresAt }), 200).id!;
};

export const freshOffer = async ({ tenant, own }: World) =>
  expectStatus(await tenant.api.offers.create({ credentials: [own.jwtVc], claims: { given_name: 'Ada' } }), 200);

/** The id of a credential of a new configuration that the platform has listed. */
export const issuedCredential = async ({ tenant: { api } }: { tenant: TenantUnderTest }): Promise<string> => {
  const request = { ...webSemanticRequest(), persist: true };
  const { id, type } = expectStatus(await api.webSemantic.create(request), 201);
  const offered = { credentials: [id], claims: { given_name: 'Ada' } };
  await wallet.collect(expectStatus(await api.offers.create(offered), 200).uri);
  const [credential] = await waitUntil(
    async () => {
      const { data } = expectStatus(await api.webSemanticCredentials.list({ type }), 200);
      return data.length > 0 && data;
    },
    { what: 'the record of a credential' },
  );
  return credential!.id;
};

export type Revocable = 'jwtVc' | 'sdJwt' | 'webSemantic' | 'compact' | 'compactSemantic' | 'mobile';

/** A credential with a status, of a new configuration. */
export const revocableCredential = async ({ tenant }: { tenant: TenantUnderTest }, thing: Revocable) => {
  const { api } = tenant;
  const requestOf = () => {
    if (thing === 'mobile') return { ...mobileRequest(), includeStatus: true };
    return { ...(thing.startsWith('compact') ? compactRequest() : jwtVcRequest()), revocable: true };
  };
  const created = await api[thing].create(requestOf() as never);
  const { id } = expectStatus<{ id: string }>(created, 201);
  const claims = { given_name: 'Ada' };
  await wallet.collect(expectStatus(await api.offers.create({ credentials: [id], claims }), 200).uri);
  const [credential] = await waitUntil(
    async () => {
      const { data } = expectStatus(await api.credentials({ credentialConfigurationId: id }), 200);
      return data.length > 0 && data;
    },
    { what: 'the record of a credential' },
  );
  return { params: { id: credential!.id } };
};

/** The wallet of authorization requests. */
export const WALLET = 'wallet';

export const BACK = 'https://wallet.example/back';

export const walletRequest = () => ({ name: 'Wallet', clientId: unique('wallet-'), redirectUris: [BACK] });

export const claimSourceRequest = () => ({
  name: 'Register',
  url: 'https://register.example.com/claims',
  authorization: { type: 'api-key' as const, value: 'the key of the register' },
});

export const brand = { name: 'Acme', logoUrl: 'https://brand.example/logo.png' };
