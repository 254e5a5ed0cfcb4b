import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ROLES, type CredentialProfile, type Operation, type Role } from '@attestry/contracts';
import {
  ApiClient,
  clientToken,
  connectManagement,
  connectWithRoles,
  createTenantUnderTest,
  CustomerIaca,
  expectStatus,
  hostFetch,
  mdocIdentifier,
  makeHolderKey,
  ManagementApi,
  registerManagementClient,
  parseConsentPage,
  RedirectBrowser,
  startPlatform,
  TENANT_CLIENT,
  waitUntil,
  registerWallet,
  Wallet,
  type MailReceiver,
  type OpenIdProvider,
  type OperationParts,
  type PlatformProcessOptions,
  type RunningPlatform,
  type TenantApi,
  type TenantUnderTest,
  type TestDnsServer,
} from '@attestry/testing';
import { decodeJwt, SignJWT } from 'jose';
import { closeSurroundings, openSurroundings } from './surroundings.js';

/** Available to every row of the table: two tenants, a client for each role, and resources that exist in both. */
export interface World {
  platform: RunningPlatform;
  dns: TestDnsServer;
  management: ManagementApi;
  /** A second management client, member of nothing. */
  outsider: ManagementApi;
  /** The OpenID provider of people. */
  provider: OpenIdProvider;
  mail: MailReceiver;
  /** A person, member of nothing. */
  person: ManagementApi;
  environmentId: string;
  tenant: TenantUnderTest;
  other: TenantUnderTest;
  tokenOf: Record<Role, string>;
  own: Things;
  foreign: Things;
}

/** Ids of one thing of each kind. */
interface Things {
  did: string;
  /** A did:web of an unreachable host. */
  unpublished: string;
  jwtVc: string;
  /** Its issuances are approved. */
  approvedJwtVc: string;
  /** Deferral of that configuration. */
  deferral: string;
  webSemantic: string;
  webSemanticCredential: string;
  sdJwt: string;
  compact: string;
  compactSemantic: string;
  mobile: string;
  /** Credentials with a status. */
  jwtVcCredential: string;
  sdJwtCredential: string;
  compactCredential: string;
  compactSemanticCredential: string;
  mobileCredential: string;
  /** List of the mobile credential; it has a token. */
  statusList: string;
  statusListConfiguration: string;
  wallet: string;
  claimSource: string;
  /** Has a root certificate. */
  attestedWallet: string;
  offer: string;
  /** Offer of the authorization code flow. */
  storedOffer: string;
  user: string;
  webhook: string;
  authenticationProvider: string;
  client: string;
  /** Id of an invited person. */
  member: string;
  iaca: string;
  unmanagedIaca: string;
  /** Signer of the unmanaged IACA, without a certificate. */
  documentSigner: string;
  statusListSigner: string;
  /** Owner of the key of the unmanaged IACA. */
  customer: CustomerIaca;
}

export type Location = 'body' | 'params' | 'query' | 'headers';

export interface Row {
  /** The caller on the management host: the first management client, or a person. */
  as?: 'person';
  /** Makes what it needs, so that it can be called again and again. */
  right: (world: World) => OperationParts | Promise<OperationParts>;
  /** A call that must be refused, and how. */
  wrong: (world: World) => (OperationParts & { method?: string; path?: string }) | Promise<OperationParts>;
  refusal:
    | { status: 400; param: string; location: Location }
    | { status: 400 | 401 | 403; error: string }
    /** For the person at the browser. */
    | { status: 400; page: string }
    | { status: 404 | 405 };
  /** The right call with ids of another tenant: 404. */
  foreign?: (world: World) => OperationParts;
}

const wallet = new Wallet();
export const claimMappings = { given_name: { mapFrom: 'claims.given_name' } };
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
const sdJwtRequest = jwtVcRequest;
const compactRequest = (type = unique('Type')) => ({ type, claimMappings });
const mobileRequest = (type = unique('org.example.')) => ({
  type,
  claimMappings: { 'org.example.1': { given_name: { mapFrom: 'claims.given_name' } } },
  expiresIn: { months: 1 },
});

const DURATIONS = { timeToLiveDuration: { days: 1 }, expiryDuration: { days: 2 } };
const listsRequest = () => ({ docType: unique('org.example.'), ...DURATIONS });

/** `.example` and `.invalid` are reserved; deliveries to them fail, which is not tested here. */
const webhookRequest = () => ({
  events: ['OpenIdCredentialIssuedSummary' as const],
  url: `https://hooks.example.com/${unique('hook')}`,
});

/** At most 20 are allowed: room for one more. */
const roomForWebhook = async ({ tenant: { api } }: World): Promise<void> => {
  const { data } = expectStatus(await api.webhooks.list({ limit: 100 }), 200);
  if (data.length > 10) expectStatus(await api.webhooks.delete(data.at(-1)!.id), 204);
};

/** Address of a server that accepts everything; it does not keep the process alive. */
export const takingUrl = async (): Promise<string> => {
  const server = createServer((request, response) => request.resume().on('end', () => response.end()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve).unref());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};
/** A test event that a new webhook has received. */
const deliveredTest = async (world: World): Promise<{ webhookId: string; deliveryId: string }> => {
  const { api } = world.tenant;
  await roomForWebhook(world);
  const body = { ...webhookRequest(), url: await takingUrl() };
  const webhookId = expectStatus(await api.webhooks.create(body), 201).id;
  expectStatus(await api.webhooks.test(webhookId), 202);
  const { deliveryId } = await waitUntil(
    async () => {
      const [newest] = expectStatus(await api.webhooks.attempts(webhookId), 200).data;
      return newest?.status === 'Delivered' && newest;
    },
    { what: 'the delivery of a test event' },
  );
  return { webhookId, deliveryId };
};
/** Nobody's. */
const invitation = () => ({ email: `${unique('visitor-')}@people.example`, roles: ['issuer' as const] });

const NO_SUCH = '3f0f2c59-6a27-4e80-b2a0-9b6f5f0c7d11';

/** The management API as a person who signs in at the provider. */
export const connectPerson = async (platform: RunningPlatform, provider: OpenIdProvider): Promise<ManagementApi> => {
  const sub = unique('person-');
  const { access_token } = await provider.signIn({
    sub,
    email: `${sub}@people.example`,
    email_verified: true,
    name: sub,
  });
  return new ManagementApi(platform.ready.management, access_token);
};

export const openWorld = async (options: PlatformProcessOptions = {}): Promise<World> => {
  const { provider, mail, dns, env } = await openSurroundings();
  let platform: RunningPlatform | undefined;
  try {
    platform = await startPlatform({ ...options, env: { ...env, ...options.env } });
    const management = await connectManagement(platform);
    const person = await connectPerson(platform, provider);
    const [tenant, other, outsider] = await Promise.all([
      createTenantUnderTest(platform, management, 'acme'),
      createTenantUnderTest(platform, management, 'other'),
      registerManagementClient(platform, 'stranger'),
    ]);
    const environmentId = expectStatus(await management.environments.list(), 200).data[0]!.id;
    const tokens: (readonly [Role, string])[] = [];
    for (const role of ROLES) {
      const { client } = await connectWithRoles(platform, management, tenant, [role]);
      tokens.push([role, client.token!]);
    }
    const [own, foreign] = await Promise.all([
      makeThings(management, tenant, tenant.api, provider),
      makeThings(management, other, other.api, provider),
    ]);
    const tokenOf = Object.fromEntries(tokens) as Record<Role, string>;
    return {
      platform,
      dns,
      management,
      outsider,
      provider,
      mail,
      person,
      environmentId,
      tenant,
      other,
      tokenOf,
      own,
      foreign,
    };
  } catch (error) {
    await closeWorld({ platform });
    throw error;
  }
};

export const closeWorld = async ({ platform }: { platform: RunningPlatform | undefined }): Promise<void> => {
  await platform?.stop();
  await closeSurroundings();
};

const makeThings = async (
  management: ManagementApi,
  tenant: TenantUnderTest,
  api: TenantApi,
  { issuer }: OpenIdProvider,
): Promise<Things> => {
  const request = { url: issuer, clientId: 'portal' };
  const { id: authenticationProvider } = expectStatus(await api.authenticationProviders.create(request), 201);
  const did = expectStatus(await api.dids.create({ method: 'key', options: { keyType: 'Ed25519' } }), 201).did;
  const web = { method: 'web', options: { url: `localhost:1/${unique('u')}` } } as const;
  const unpublished = expectStatus(await api.dids.create(web), 201).did;
  // Signs the compact credentials: the other one is not published.
  const published = { method: 'web', options: { url: `${tenant.host}/compact` } } as const;
  expectStatus(await api.dids.create(published), 201);
  const jwtVc = expectStatus(await api.jwtVc.create(jwtVcRequest()), 201).id;
  const approvedJwtVc = expectStatus(await api.jwtVc.create({ ...jwtVcRequest(), approval: 'manual' }), 201).id;
  const { id: deferral } = await deferredRequest(api, approvedJwtVc);
  const webSemantic = expectStatus(await api.webSemantic.create(webSemanticRequest()), 201).id;
  const sdJwt = expectStatus(await api.sdJwt.create(sdJwtRequest()), 201).id;
  const compact = expectStatus(await api.compact.create(compactRequest()), 201).id;
  const compactSemantic = expectStatus(await api.compactSemantic.create(compactRequest()), 201).id;
  const webSemanticCredential = await issuedCredential({ tenant });
  const { id: jwtVcCredential } = (await revocableCredential({ tenant }, 'jwtVc')).params;
  const { id: sdJwtCredential } = (await revocableCredential({ tenant }, 'sdJwt')).params;
  const { id: compactCredential } = (await revocableCredential({ tenant }, 'compact')).params;
  const { id: compactSemanticCredential } = (await revocableCredential({ tenant }, 'compactSemantic')).params;
  const mobile = expectStatus(await api.mobile.create(mobileRequest()), 201).id;
  const offer = expectStatus(await api.offers.create({ credentials: [jwtVc] }), 200).id;
  const storedOffer = await storedOfferOf(api, jwtVc);
  const user = expectStatus(await api.users.create({ claims: { given_name: 'Ada' } }), 201).id;
  const webhook = expectStatus(await api.webhooks.create(webhookRequest()), 201).id;
  const client = expectStatus(await management.clients.create(tenant.id, { name: 'one', roles: ['holder'] }), 201);
  const { userId: member } = expectStatus(await management.members.invite(tenant.id, invitation()), 200);
  const customer = await CustomerIaca.create();
  const { certificatePem } = customer;
  const iaca = expectStatus(await api.iacas.create({}), 201).id;
  const unmanagedIaca = expectStatus(await api.iacas.create({ certificatePem }), 201).id;
  const documentSigner = expectStatus(await api.documentSigners.create(unmanagedIaca), 201).id;
  const statusListSigner = expectStatus(await api.statusListSigners.create(unmanagedIaca), 200).id;
  expectStatus(await api.iacas.update(iaca, true), 200);
  const { id: mobileCredential } = (await revocableCredential({ tenant }, 'mobile')).params;
  const statusList = await waitUntil(
    async () => expectStatus(await api.statusLists.list(), 200).data.find(({ list }) => list !== undefined)?.id,
    { what: 'the token of a status list of mobile documents' },
  );
  const statusListConfiguration = expectStatus(await api.statusLists.configure(listsRequest()), 201).id;
  const wallet = (await registerWallet(api, WALLET, BACK)).id;
  const claimSource = expectStatus(await api.claimSources.create(claimSourceRequest()), 201).id;
  const attestedWallet = expectStatus(
    await api.attestedWallets.create({ ...walletRequest(), rootCertificates: [certificatePem] }),
    201,
  ).id;
  return {
    ...{ wallet, attestedWallet, claimSource, approvedJwtVc, deferral },
    ...{ iaca, unmanagedIaca, documentSigner, statusListSigner, customer },
    ...{ mobileCredential, statusList: statusList!, statusListConfiguration },
    ...{
      did,
      unpublished,
      jwtVc,
      webSemantic,
      sdJwt,
      compact,
      compactSemantic,
      mobile,
      offer,
      storedOffer,
      user,
      webhook,
    },
    ...{ client: client.clientId, member, authenticationProvider, webSemanticCredential },
    ...{ jwtVcCredential, sdJwtCredential, compactCredential, compactSemanticCredential },
  };
};

/** A request for a credential that was deferred. */
const deferredRequest = async (api: TenantApi, configurationId: string) => {
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
const decisionRow = (decision: 'approve' | 'deny'): Record<string, Row> => ({
  [`issuance.${decision}-deferred-issuance`]: {
    right: async ({ tenant, own }) => ({ params: { id: (await deferredRequest(tenant.api, own.approvedJwtVc)).id } }),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign.deferral } }),
  },
});

const pageRow: Row = {
  right: () => ({ query: { limit: 5 } }),
  wrong: () => ({ query: { limit: 0 } }),
  refusal: { status: 400, param: 'limit', location: 'query' },
};

/** At most 3 are allowed: room for one more. */
const roomForIaca = async ({ tenant: { api }, own }: World): Promise<void> => {
  const { data } = expectStatus(await api.iacas.list(), 200);
  for (const { id } of data)
    if (id !== own.iaca && id !== own.unmanagedIaca) expectStatus(await api.iacas.delete(id), 204);
};
/** At most 5 are allowed. */
const freshSigner = async ({ tenant: { api }, own }: World) => {
  const { data } = expectStatus(await api.documentSigners.list(), 200);
  for (const { id, isManaged } of data)
    if (!isManaged && id !== own.documentSigner) expectStatus(await api.documentSigners.delete(id), 204);
  return expectStatus(await api.documentSigners.create(own.unmanagedIaca), 201);
};
/** At most 3 are allowed. */
const freshListSigner = async ({ tenant: { api }, own }: World) => {
  const { data } = expectStatus(await api.statusListSigners.list(), 200);
  for (const { id, isManaged } of data)
    if (!isManaged && id !== own.statusListSigner) expectStatus(await api.statusListSigners.delete(id), 204);
  return expectStatus(await api.statusListSigners.create(own.unmanagedIaca), 200);
};
const malformedId = {
  wrong: () => ({ params: { id: 'no-uuid' } }),
  refusal: { status: 400, param: 'id', location: 'params' } as const,
};
const certificateRows: Record<string, Row> = {
  'issuance.create-iaca': {
    right: async (world) => {
      await roomForIaca(world);
      return { body: { country: 'AU' } };
    },
    wrong: () => ({ body: { country: 'au' } }),
    refusal: { status: 400, param: 'country', location: 'body' },
  },
  'issuance.list-iacas': pageRow,
  'issuance.retrieve-iaca': {
    right: ({ own }) => ({ params: { id: own.iaca } }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.iaca } }),
  },
  'issuance.update-iaca': {
    right: ({ own }) => ({ params: { id: own.iaca }, body: { active: true } }),
    wrong: ({ own }) => ({ params: { id: own.iaca }, body: { active: 'yes' } }),
    refusal: { status: 400, param: 'active', location: 'body' },
    foreign: ({ foreign }) => ({ params: { id: foreign.iaca }, body: { active: true } }),
  },
  'issuance.delete-iaca': {
    right: async (world) => {
      await roomForIaca(world);
      return { params: { id: expectStatus(await world.tenant.api.iacas.create({}), 201).id } };
    },
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.iaca } }),
  },
  'issuance.update-iaca-crl': {
    right: async ({ own }) => ({
      params: { id: own.unmanagedIaca },
      body: { crlPem: await own.customer.signCrl() },
    }),
    wrong: ({ own }) => ({ params: { id: own.unmanagedIaca }, body: { crlPem: 'none' } }),
    refusal: { status: 400, param: 'crlPem', location: 'body' },
    foreign: ({ foreign }) => ({ params: { id: foreign.unmanagedIaca }, body: { crlPem: 'none' } }),
  },
  'issuance.retrieve-iaca-crl': {
    right: ({ own }) => ({ params: { id: own.iaca } }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.iaca } }),
  },
  'issuance.create-document-signer': {
    right: async (world) => {
      expectStatus(await world.tenant.api.documentSigners.delete((await freshSigner(world)).id), 204);
      return { body: { iacaId: world.own.unmanagedIaca } };
    },
    wrong: ({ own }) => ({ body: { iacaId: own.iaca } }),
    refusal: { status: 400, param: 'iacaId', location: 'body' },
  },
  'issuance.list-document-signers': pageRow,
  'issuance.retrieve-document-signer': {
    right: ({ own }) => ({ params: { id: own.documentSigner } }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.documentSigner } }),
  },
  'issuance.update-document-signer': {
    right: ({ own }) => ({ params: { id: own.documentSigner }, body: { active: false } }),
    wrong: ({ own }) => ({ params: { id: own.documentSigner }, body: { active: true } }),
    refusal: { status: 400, param: 'certificatePem', location: 'body' },
    foreign: ({ foreign }) => ({ params: { id: foreign.documentSigner }, body: { active: false } }),
  },
  'issuance.delete-document-signer': {
    right: async (world) => ({ params: { id: (await freshSigner(world)).id } }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.documentSigner } }),
  },
  'issuance.create-document-signer.status-list': {
    right: async (world) => {
      expectStatus(await world.tenant.api.statusListSigners.delete((await freshListSigner(world)).id), 204);
      return { body: { iacaId: world.own.unmanagedIaca } };
    },
    wrong: ({ own }) => ({ body: { iacaId: own.iaca } }),
    refusal: { status: 400, param: 'iacaId', location: 'body' },
  },
  'issuance.list-document-signers.status-list': pageRow,
  'issuance.retrieve-document-signer.status-list': {
    right: ({ own }) => ({ params: { id: own.statusListSigner } }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.statusListSigner } }),
  },
  'issuance.update-document-signer.status-list': {
    right: ({ own }) => ({ params: { id: own.statusListSigner }, body: { active: false } }),
    wrong: ({ own }) => ({ params: { id: own.statusListSigner }, body: { active: true } }),
    refusal: { status: 400, param: 'certificatePem', location: 'body' },
    foreign: ({ foreign }) => ({ params: { id: foreign.statusListSigner }, body: { active: false } }),
  },
  'issuance.delete-document-signer.status-list': {
    right: async (world) => ({ params: { id: (await freshListSigner(world)).id } }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.statusListSigner } }),
  },
  'issuance.create-status-list-configuration': {
    right: () => ({ body: listsRequest() }),
    wrong: () => ({ body: { ...listsRequest(), expiryDuration: { hours: 1 } } }),
    refusal: { status: 400, param: 'expiryDuration', location: 'body' },
  },
  'issuance.list-status-list-configurations': pageRow,
  'issuance.retrieve-status-list-configuration': {
    right: ({ own }) => ({ params: { id: own.statusListConfiguration } }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.statusListConfiguration } }),
  },
  'issuance.update-status-list-configuration': {
    right: ({ own }) => ({ params: { id: own.statusListConfiguration }, body: DURATIONS }),
    wrong: ({ own }) => ({
      params: { id: own.statusListConfiguration },
      body: { ...DURATIONS, expiryDuration: 'PT1H' },
    }),
    refusal: { status: 400, param: 'expiryDuration', location: 'body' },
    foreign: ({ foreign }) => ({ params: { id: foreign.statusListConfiguration }, body: DURATIONS }),
  },
  'issuance.delete-status-list-configuration': {
    right: async ({ tenant: { api } }) => ({
      params: { id: expectStatus(await api.statusLists.configure(listsRequest()), 201).id },
    }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.statusListConfiguration } }),
  },
  'issuance.list-mobile-status-lists': pageRow,
  'issuance.retrieve-mobile-status-list': {
    right: ({ own }) => ({ params: { id: own.statusList } }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.statusList } }),
  },
  'issuance.retrieve-status-list-token.mobile': {
    right: ({ own }) => ({ params: { id: own.statusList } }),
    ...malformedId,
  },
  'issuance.retrieve-status-list-token.identifier-list': {
    right: async ({ tenant: { api } }) => {
      const configured = { ...mobileRequest(), includeStatus: true, statusMechanism: 'identifier_list' };
      const { id } = expectStatus(await api.mobile.create(configured as never), 201);
      const claims = { given_name: 'Ada' };
      const offered = expectStatus(await api.offers.create({ credentials: [id], claims }), 200);
      const { credentials } = await wallet.collect(offered.uri);
      const { uri } = (await mdocIdentifier(credentials[0]!.credential as string))!;
      await waitUntil(async () => (await hostFetch(uri)).ok, { what: 'the token of an identifier list' });
      return { params: { id: uri.split('/').at(-2)! } };
    },
    ...malformedId,
  },
  'issuance.delete-issued-credential.mobile': {
    right: (world) => revocableCredential(world, 'mobile'),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.mobileCredential } }),
  },
  'issuance.revoke-document-signer': {
    right: async (world) => {
      const { id, csrPem } = await freshSigner(world);
      const certificatePem = await world.own.customer.issue(csrPem!);
      expectStatus(await world.tenant.api.documentSigners.update(id, { active: true, certificatePem }), 200);
      return { params: { id } };
    },
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.documentSigner } }),
  },
};

const configurationRows = (
  profile: CredentialProfile,
  thing: 'jwtVc' | 'sdJwt' | 'webSemantic' | 'compact' | 'compactSemantic' | 'mobile',
  request: (type?: string) => object = jwtVcRequest,
): Record<string, Row> => {
  const name = (verb: string, plural = '') => `issuance.${verb}-credential-configuration${plural}.${profile}`;
  const malformed = {
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' } as const,
  };
  return {
    [name('create')]: {
      right: () => ({ body: request() }),
      wrong: () => ({ body: { ...request(), type: 'white space' } }),
      refusal: { status: 400, param: 'type', location: 'body' },
    },
    [name('list', 's')]: pageRow,
    [name('retrieve')]: {
      right: ({ own }) => ({ params: { id: own[thing] } }),
      ...malformed,
      foreign: ({ foreign }) => ({ params: { id: foreign[thing] } }),
    },
    [name('update')]: {
      right: async ({ tenant, own }) => {
        const { type } = expectStatus<{ type: string }>(await tenant.api[thing].retrieve(own[thing]), 200);
        return { params: { id: own[thing] }, body: request(type) };
      },
      wrong: ({ own }) => ({ params: { id: own[thing] }, body: { ...request(), claimMappings: [] } }),
      refusal: { status: 400, param: 'claimMappings', location: 'body' },
      foreign: ({ foreign }) => ({ params: { id: foreign[thing] }, body: request() }),
    },
    [name('delete')]: {
      right: async ({ tenant }) => ({
        params: { id: expectStatus<{ id: string }>(await tenant.api[thing].create(request() as never), 201).id },
      }),
      ...malformed,
      foreign: ({ foreign }) => ({ params: { id: foreign[thing] } }),
    },
  };
};

const PRE_AUTHORIZED = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';
const form = (members: Record<string, string>) => new URLSearchParams(members);

const codeOf = (uri: string): string => {
  const offer = JSON.parse(new URL(uri).searchParams.get('credential_offer')!) as {
    grants: Record<string, Record<string, string>>;
  };
  return offer.grants[PRE_AUTHORIZED]!['pre-authorized_code']!;
};

const storedOfferOf = async (api: TenantApi, configurationId: string): Promise<string> => {
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  return expectStatus(await api.offers.createOpen({ credentials: [configurationId], expiresAt }), 200).id!;
};
const freshOffer = async ({ tenant, own }: World) =>
  expectStatus(await tenant.api.offers.create({ credentials: [own.jwtVc], claims: { given_name: 'Ada' } }), 200);

/** Reference in the address of a new offer. */
const freshReference = async (world: World): Promise<string> =>
  new URL((await freshOffer(world)).qrUrl).pathname.split('/').at(-2)!;

const freshUser = async ({ tenant }: World) => expectStatus(await tenant.api.users.create(), 201).id;

/** Id of a user whose credential the platform has recorded. */
const userWithCredential = async (world: World): Promise<string> => {
  const { userId, uri } = await freshOffer(world);
  await wallet.collect(uri);
  const { users } = world.tenant.api;
  const isListed = async () => expectStatus(await users.credentials(userId), 200).data.length > 0;
  await waitUntil(isListed, { what: 'the record of a credential' });
  return userId;
};

/** The id of a credential of a new configuration that the platform has listed. */
const issuedCredential = async ({ tenant: { api } }: { tenant: TenantUnderTest }): Promise<string> => {
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

const registryRows = (profile: 'web-semantic', thing: 'webSemanticCredential'): Record<string, Row> => {
  const one: Pick<Row, 'wrong' | 'refusal' | 'foreign'> = {
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign[thing] } }),
  };
  return {
    [`issuance.list-issued-credentials.${profile}`]: pageRow,
    [`issuance.retrieve-issued-credential.${profile}`]: {
      right: ({ own }) => ({ params: { id: own[thing] } }),
      ...one,
    },
    [`issuance.delete-issued-credential.${profile}`]: {
      right: async (world) => ({ params: { id: await issuedCredential(world) } }),
      ...one,
    },
  };
};

type Revocable = 'jwtVc' | 'sdJwt' | 'webSemantic' | 'compact' | 'compactSemantic' | 'mobile';
/** A credential with a status, of a new configuration. */
const revocableCredential = async ({ tenant }: { tenant: TenantUnderTest }, thing: Revocable) => {
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

const statusRows = (profile: 'jwt-vc' | 'sd-jwt' | 'mobile', thing: Revocable): Record<string, Row> => ({
  [`issuance.set-credential-status.${profile}`]: {
    right: async (world) => ({ ...(await revocableCredential(world, thing)), body: { status: 'suspended' } }),
    wrong: () => ({ params: { id: NO_SUCH }, body: { status: 'revoked' } }),
    refusal: { status: 400, param: 'status', location: 'body' },
    foreign: ({ foreign }) => ({ params: { id: foreign[`${thing}Credential`] }, body: { status: 'invalid' } }),
  },
  [`issuance.retrieve-credential-status.${profile}`]: {
    right: (world) => revocableCredential(world, thing),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign[`${thing}Credential`] } }),
  },
});

const revocationRows = (
  profile: 'compact' | 'compact-semantic' | 'web-semantic',
  thing: 'compact' | 'compactSemantic' | 'webSemantic',
): Record<string, Row> => ({
  [`issuance.set-revocation-status.${profile}`]: {
    right: async (world) => ({ ...(await revocableCredential(world, thing)), body: { isRevoked: true } }),
    wrong: () => ({ params: { id: NO_SUCH }, body: { isRevoked: 'yes' } }),
    refusal: { status: 400, param: 'isRevoked', location: 'body' },
    foreign: ({ foreign }) => ({ params: { id: foreign[`${thing}Credential`] }, body: { isRevoked: true } }),
  },
  [`issuance.retrieve-revocation-status.${profile}`]: {
    right: (world) => revocableCredential(world, thing),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign[`${thing}Credential`] } }),
  },
});

const notificationRow: Row = {
  right: async (world) => {
    const { api } = world.tenant;
    const { params } = await revocableCredential(world, 'webSemantic');
    expect((await api.webSemantic.setRevocationStatus(params.id, { isRevoked: true })).status).toBe(200);
    const { did } = expectStatus(await api.dids.create({ method: 'key', options: { keyType: 'Ed25519' } }), 201);
    return { params, body: { from: did, to: ['did:web:holder.example'] } };
  },
  wrong: () => ({ params: { id: NO_SUCH }, body: { from: 'did:web:university.example', to: [] } }),
  refusal: { status: 400, param: 'to', location: 'body' },
  foreign: ({ foreign }) => ({
    params: { id: foreign.webSemanticCredential },
    body: { from: 'did:web:university.example', to: ['did:web:holder.example'] },
  }),
};

/** Rows that only CWTs have. */
const compactRows = (
  profile: 'compact' | 'compact-semantic',
  thing: 'compact' | 'compactSemantic',
): Record<string, Row> => ({
  ...revocationRows(profile, thing),
  [`issuance.delete-issued-credential.${profile}`]: {
    right: (world) => revocableCredential(world, thing),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign[`${thing}Credential`] } }),
  },
  [`issuance.list-revocation-lists.${profile}`]: pageRow,
  [`issuance.retrieve-revocation-list.${profile}`]: {
    right: async (world) => {
      await revocableCredential(world, thing);
      const [list] = expectStatus(await world.tenant.api[thing].revocationLists(), 200).data;
      await waitUntil(async () => (await hostFetch(list!.url)).ok, { what: 'a revocation list' });
      return { params: { id: list!.id } };
    },
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
  },
});

/** Id of a status list whose token can be retrieved. */
const publishedList = async ({ tenant: { api } }: World): Promise<string> => {
  const { id } = expectStatus(await api.jwtVc.create({ ...jwtVcRequest(), revocable: true }), 201);
  const { credentials } = await wallet.collect(
    expectStatus(await api.offers.create({ credentials: [id], claims: { given_name: 'Ada' } }), 200).uri,
  );
  const { status } = decodeJwt<{ status: { status_list: { uri: string } } }>(credentials[0]!.credential as string);
  const { uri } = status.status_list;
  await waitUntil(async () => (await hostFetch(uri)).ok, { what: 'the token of a status list' });
  return uri.split('/').at(-2)!;
};

/** Id of a published list of JSON credentials. */
const publishedCredentialList = async ({ tenant: { api } }: World): Promise<string> => {
  const { id } = expectStatus(await api.webSemantic.create({ ...webSemanticRequest(), revocable: true }), 201);
  const { credentials } = await wallet.collect(
    expectStatus(await api.offers.create({ credentials: [id], claims: { given_name: 'Ada' } }), 200).uri,
  );
  const { credentialStatus } = credentials[0]!.credential as { credentialStatus: { statusListCredential: string } };
  const uri = credentialStatus.statusListCredential;
  await waitUntil(async () => (await hostFetch(uri)).ok, { what: 'a list of credentials' });
  return uri.split('/').at(-1)!;
};

/** The wallet of authorization requests. */
const WALLET = 'wallet';
const BACK = 'https://wallet.example/back';
const walletRequest = () => ({ name: 'Wallet', clientId: unique('wallet-'), redirectUris: [BACK] });
const attestedWalletRequest = ({ own }: World) => ({
  ...walletRequest(),
  rootCertificates: [own.customer.certificatePem],
});
const claimSourceRequest = () => ({
  name: 'Register',
  url: 'https://register.example.com/claims',
  authorization: { type: 'api-key' as const, value: 'the key of the register' },
});
const walletRows: Record<string, Row> = {
  'issuance.create-wallet': {
    right: () => ({ body: walletRequest() }),
    wrong: () => ({ body: { ...walletRequest(), redirectUris: ['intent://x'] } }),
    refusal: { status: 400, param: 'redirectUris.0', location: 'body' },
  },
  'issuance.list-wallets': pageRow,
  'issuance.retrieve-wallet': {
    right: ({ own }) => ({ params: { id: own.wallet } }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.wallet } }),
  },
  'issuance.update-wallet': {
    right: async ({ tenant: { api } }) => {
      const body = walletRequest();
      return { params: { id: expectStatus(await api.wallets.create(body), 201).id }, body };
    },
    wrong: ({ own }) => ({ params: { id: own.wallet }, body: { ...walletRequest(), clientId: 'wället' } }),
    refusal: { status: 400, param: 'clientId', location: 'body' },
    foreign: ({ foreign }) => ({ params: { id: foreign.wallet }, body: walletRequest() }),
  },
  'issuance.delete-wallet': {
    right: async ({ tenant: { api } }) => ({
      params: { id: expectStatus(await api.wallets.create(walletRequest()), 201).id },
    }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.wallet } }),
  },
  'issuance.create-wallet.attested': {
    right: (world) => ({ body: attestedWalletRequest(world) }),
    wrong: () => ({ body: walletRequest() }),
    refusal: { status: 400, param: 'rootCertificates', location: 'body' },
  },
  'issuance.list-wallets.attested': pageRow,
  'issuance.retrieve-wallet.attested': {
    right: ({ own }) => ({ params: { id: own.attestedWallet } }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.attestedWallet } }),
  },
  'issuance.update-wallet.attested': {
    right: async (world) => {
      const body = attestedWalletRequest(world);
      return { params: { id: expectStatus(await world.tenant.api.attestedWallets.create(body), 201).id }, body };
    },
    wrong: ({ own }) => ({
      params: { id: own.attestedWallet },
      body: { ...walletRequest(), rootCertificates: ['-----BEGIN'] },
    }),
    refusal: { status: 400, param: 'rootCertificates.0', location: 'body' },
    foreign: (world) => ({ params: { id: world.foreign.attestedWallet }, body: attestedWalletRequest(world) }),
  },
  'issuance.delete-wallet.attested': {
    right: async (world) => ({
      params: {
        id: expectStatus(await world.tenant.api.attestedWallets.create(attestedWalletRequest(world)), 201).id,
      },
    }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.attestedWallet } }),
  },
  'issuance.create-claim-source': {
    right: () => ({ body: claimSourceRequest() }),
    wrong: () => ({ body: { ...claimSourceRequest(), url: 'x' } }),
    refusal: { status: 400, param: 'url', location: 'body' },
  },
  'issuance.list-claim-sources': pageRow,
  'issuance.retrieve-claim-source': {
    right: ({ own }) => ({ params: { id: own.claimSource } }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.claimSource } }),
  },
  'issuance.update-claim-source': {
    right: ({ own }) => ({ params: { id: own.claimSource }, body: claimSourceRequest() }),
    wrong: ({ own }) => ({ params: { id: own.claimSource }, body: { ...claimSourceRequest(), requestMethod: 'PUT' } }),
    refusal: { status: 400, param: 'requestMethod', location: 'body' },
    foreign: ({ foreign }) => ({ params: { id: foreign.claimSource }, body: claimSourceRequest() }),
  },
  'issuance.delete-claim-source': {
    right: async ({ tenant: { api } }) => ({
      params: { id: expectStatus(await api.claimSources.create(claimSourceRequest()), 201).id },
    }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.claimSource } }),
  },
  'issuance.retrieve-openid-configuration': {
    right: () => ({}),
    wrong: () => ({ method: 'POST' }),
    refusal: { status: 405 },
  },
  'issuance.update-openid-configuration': {
    // A managed issuer changes nothing else.
    right: () => ({ body: { interactionHook: { url: 'https://hook.example.com/visit', disabled: true } } }),
    wrong: () => ({ body: { allowUnregisteredWallets: 'yes' } }),
    refusal: { status: 400, param: 'allowUnregisteredWallets', location: 'body' },
  },
};

const brand = { name: 'Acme', logoUrl: 'https://brand.example/logo.png' };
/** The tenant has no custom domain. */
const withoutDomain = async ({ tenant }: World) => {
  await tenant.api.customDomain.delete();
  return {};
};
/** The tenant has one that no other tenant has; `verified` in DNS or not. */
const freshDomain = async (world: World, inDns: boolean) => {
  await withoutDomain(world);
  const domain = `${unique('brand')}.example`;
  const created = expectStatus(await world.tenant.api.customDomain.create({ ...brand, domain }), 201);
  if (inDns) world.dns.set(domain, created.verificationToken);
  return created;
};

const verifyDomain = async (world: World) => {
  await freshDomain(world, true);
  expectStatus(await world.tenant.api.customDomain.verify(), 204);
};

const freshProvider = async ({ tenant, own, provider }: World) => {
  const { api } = tenant;
  for (const { id } of expectStatus(await api.authenticationProviders.list(), 200).data)
    expectStatus(await api.authenticationProviders.delete(id), 204);
  own.authenticationProvider = expectStatus(
    await api.authenticationProviders.create({
      url: provider.issuer,
      ...TENANT_CLIENT,
      forwardedRequestParameters: ['login_hint'],
    }),
    201,
  ).id;
  return own.authenticationProvider;
};

/** A wallet's authorization request for a person with an account at the provider. */
const authorization = ({ own }: World, clientId = WALLET) => ({
  response_type: 'code',
  client_id: clientId,
  redirect_uri: BACK,
  authorization_details: JSON.stringify([{ type: 'openid_credential', credential_configuration_id: own.jwtVc }]),
  code_challenge: 'a'.repeat(43),
  code_challenge_method: 'S256',
  login_hint: 'ada',
});

const publicDocument: Row = {
  right: () => ({}),
  wrong: () => ({ method: 'POST' }),
  refusal: { status: 405 },
};

/** An open invitation, by the link in its e-mail. */
const acceptance = async ({ mail, management, person, tenant }: World): Promise<OperationParts> => {
  const body = invitation();
  // Only those who are not members yet can accept; 404 where the person is none.
  const { id } = expectStatus(await person.user.retrieve(), 200);
  await management.members.delete(tenant.id, id);
  expectStatus(await management.members.invite(tenant.id, body), 200);
  return { body: { token: (await mail.linkTo(body.email)).searchParams.get('token')! } };
};

/** A row for every HTTP operation; the suite fails when one is missing or too many. */
export const ROWS: Record<string, Row> = {
  'management.issue-token': {
    right: ({ tenant }) => ({
      body: {
        client_id: tenant.admin.clientId,
        client_secret: tenant.admin.clientSecret,
        audience: tenant.url,
        grant_type: 'client_credentials',
      },
    }),
    wrong: ({ tenant }) => ({ body: { client_id: tenant.admin.clientId, grant_type: 'client_credentials' } }),
    refusal: { status: 400, error: 'invalid_request' },
  },
  'management.revoke-token': {
    right: ({ tenant }) => ({
      body: new URLSearchParams({
        token: 'not.a.token',
        client_id: tenant.admin.clientId,
        client_secret: tenant.admin.clientSecret,
      }),
    }),
    wrong: ({ tenant }) => ({ body: new URLSearchParams({ client_id: tenant.admin.clientId }) }),
    refusal: { status: 400, error: 'invalid_request' },
  },
  'management.retrieve-token-keys': publicDocument,
  'management.list-environments': pageRow,
  'management.create-tenant': {
    right: ({ environmentId }) => ({ body: { subdomain: unique('fresh-'), environmentId } }),
    wrong: ({ environmentId }) => ({ body: { subdomain: 'No_Good', environmentId } }),
    refusal: { status: 400, param: 'subdomain', location: 'body' },
  },
  'management.list-tenants': pageRow,
  'management.retrieve-tenant': {
    right: ({ tenant }) => ({ params: { tenantId: tenant.id } }),
    wrong: () => ({ params: { tenantId: '42' } }),
    refusal: { status: 400, param: 'tenantId', location: 'params' },
    foreign: () => ({ params: { tenantId: NO_SUCH } }),
  },
  'management.update-tenant': {
    right: ({ tenant }) => ({
      params: { tenantId: tenant.id },
      body: { name: unique('Acme '), restrictIdentityRoles: false },
    }),
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id }, body: { name: '' } }),
    refusal: { status: 400, param: 'name', location: 'body' },
    foreign: () => ({ params: { tenantId: NO_SUCH }, body: { name: 'mine' } }),
  },
  'management.list-tenant-events': {
    right: ({ tenant }) => ({ params: { tenantId: tenant.id }, query: { limit: 3 } }),
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id }, query: { dateFrom: 'yesterday' } }),
    refusal: { status: 400, param: 'dateFrom', location: 'query' },
    foreign: () => ({ params: { tenantId: NO_SUCH } }),
  },
  'management.delete-tenant': {
    right: async ({ management, environmentId }) => ({
      params: {
        tenantId: expectStatus(await management.tenants.create({ subdomain: unique('short-'), environmentId }), 201).id,
      },
    }),
    wrong: () => ({ params: { tenantId: '42' } }),
    refusal: { status: 400, param: 'tenantId', location: 'params' },
    foreign: () => ({ params: { tenantId: NO_SUCH } }),
  },
  'management.create-client': {
    right: ({ tenant }) => ({ params: { tenantId: tenant.id }, body: { name: 'second', roles: ['issuer'] } }),
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id }, body: { name: 'second', roles: ['emperor'] } }),
    refusal: { status: 400, param: 'roles', location: 'body' },
    foreign: () => ({ params: { tenantId: NO_SUCH }, body: { name: 'second', roles: ['issuer'] } }),
  },
  'management.list-clients': {
    right: ({ tenant }) => ({ params: { tenantId: tenant.id }, query: { limit: 3 } }),
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id }, query: { limit: 1001 } }),
    refusal: { status: 400, param: 'limit', location: 'query' },
    foreign: () => ({ params: { tenantId: NO_SUCH } }),
  },
  'management.retrieve-client': {
    right: ({ tenant, own }) => ({ params: { tenantId: tenant.id, clientId: own.client } }),
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id, clientId: 'short' } }),
    refusal: { status: 400, param: 'clientId', location: 'params' },
    foreign: ({ tenant, foreign }) => ({ params: { tenantId: tenant.id, clientId: foreign.client } }),
  },
  'management.update-client': {
    right: ({ tenant, own }) => ({
      params: { tenantId: tenant.id, clientId: own.client },
      body: { name: unique('renamed '), roles: ['holder', 'auditor'] },
    }),
    wrong: ({ tenant, own }) => ({ params: { tenantId: tenant.id, clientId: own.client }, body: { name: 'one' } }),
    refusal: { status: 400, param: 'roles', location: 'body' },
    foreign: ({ tenant, foreign }) => ({
      params: { tenantId: tenant.id, clientId: foreign.client },
      body: { name: 'one', roles: ['holder'] },
    }),
  },
  'management.rotate-client-secret': {
    right: ({ tenant, own }) => ({ params: { tenantId: tenant.id, clientId: own.client }, body: {} }),
    wrong: ({ tenant, own }) => ({
      params: { tenantId: tenant.id, clientId: own.client },
      body: { overlapSeconds: 604_801 },
    }),
    refusal: { status: 400, param: 'overlapSeconds', location: 'body' },
    foreign: ({ tenant, foreign }) => ({ params: { tenantId: tenant.id, clientId: foreign.client }, body: {} }),
  },
  'management.delete-client': {
    right: async ({ management, tenant }) => {
      const client = expectStatus(await management.clients.create(tenant.id, { name: 'x', roles: ['auditor'] }), 201);
      return { params: { tenantId: tenant.id, clientId: client.clientId } };
    },
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id, clientId: 'short' } }),
    refusal: { status: 400, param: 'clientId', location: 'params' },
    foreign: ({ tenant, foreign }) => ({ params: { tenantId: tenant.id, clientId: foreign.client } }),
  },

  'management.retrieve-user-information': {
    as: 'person',
    right: () => ({}),
    wrong: () => ({ method: 'POST' }),
    refusal: { status: 405 },
  },
  'management.update-user-information': {
    as: 'person',
    right: () => ({ body: { name: 'Ada Lovelace' } }),
    wrong: () => ({ body: { name: '' } }),
    refusal: { status: 400, param: 'name', location: 'body' },
  },
  'management.invite-member': {
    right: ({ tenant }) => ({ params: { tenantId: tenant.id }, body: invitation() }),
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id }, body: { ...invitation(), email: 'nobody' } }),
    refusal: { status: 400, param: 'email', location: 'body' },
    foreign: () => ({ params: { tenantId: NO_SUCH }, body: invitation() }),
  },
  'management.list-invitations': {
    right: ({ tenant }) => ({ params: { tenantId: tenant.id }, query: { limit: 3 } }),
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id }, query: { limit: 0 } }),
    refusal: { status: 400, param: 'limit', location: 'query' },
    foreign: () => ({ params: { tenantId: NO_SUCH } }),
  },
  'management.resend-invitation': {
    right: ({ tenant, own }) => ({ params: { tenantId: tenant.id, userId: own.member } }),
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id, userId: 'nobody' } }),
    refusal: { status: 400, param: 'userId', location: 'params' },
    foreign: ({ tenant, foreign }) => ({ params: { tenantId: tenant.id, userId: foreign.member } }),
  },
  'management.cancel-invitation': {
    right: async ({ management, tenant }) => {
      const { userId } = expectStatus(await management.members.invite(tenant.id, invitation()), 200);
      return { params: { tenantId: tenant.id, userId } };
    },
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id, userId: 'nobody' } }),
    refusal: { status: 400, param: 'userId', location: 'params' },
    foreign: ({ tenant, foreign }) => ({ params: { tenantId: tenant.id, userId: foreign.member } }),
  },
  'management.list-members': {
    right: ({ tenant }) => ({ params: { tenantId: tenant.id }, query: { limit: 3 } }),
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id }, query: { limit: 0 } }),
    refusal: { status: 400, param: 'limit', location: 'query' },
    foreign: () => ({ params: { tenantId: NO_SUCH } }),
  },
  'management.retrieve-member': {
    right: ({ tenant, own }) => ({ params: { tenantId: tenant.id, userId: own.member } }),
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id, userId: 'nobody' } }),
    refusal: { status: 400, param: 'userId', location: 'params' },
    foreign: ({ tenant, foreign }) => ({ params: { tenantId: tenant.id, userId: foreign.member } }),
  },
  'management.update-membership': {
    right: ({ tenant, own }) => ({
      params: { tenantId: tenant.id, userId: own.member },
      body: { roles: ['issuer', 'auditor'] },
    }),
    wrong: ({ tenant, own }) => ({ params: { tenantId: tenant.id, userId: own.member }, body: { roles: [] } }),
    refusal: { status: 400, param: 'roles', location: 'body' },
    foreign: ({ tenant, foreign }) => ({
      params: { tenantId: tenant.id, userId: foreign.member },
      body: { roles: ['issuer'] },
    }),
  },
  'management.delete-membership': {
    right: async ({ management, tenant }) => {
      const { userId } = expectStatus(await management.members.invite(tenant.id, invitation()), 200);
      return { params: { tenantId: tenant.id, userId } };
    },
    wrong: ({ tenant }) => ({ params: { tenantId: tenant.id, userId: 'nobody' } }),
    refusal: { status: 400, param: 'userId', location: 'params' },
    foreign: ({ tenant, foreign }) => ({ params: { tenantId: tenant.id, userId: foreign.member } }),
  },
  'management.accept-invitation': {
    as: 'person',
    right: acceptance,
    wrong: () => ({ body: { token: 'nonsense' } }),
    refusal: { status: 400, param: 'token', location: 'body' },
  },

  'tenant-config.create-custom-domain': {
    right: async (world) => {
      await withoutDomain(world);
      return { body: { ...brand, domain: `${unique('brand')}.example` } };
    },
    wrong: () => ({ body: { ...brand, domain: 'https://brand.example' } }),
    refusal: { status: 400, param: 'domain', location: 'body' },
  },
  'tenant-config.retrieve-custom-domain': {
    right: async (world) => {
      await freshDomain(world, false);
      return {};
    },
    wrong: withoutDomain,
    refusal: { status: 404 },
  },
  'tenant-config.update-custom-domain': {
    right: async (world) => ({ body: { ...brand, domain: (await freshDomain(world, false)).domain } }),
    wrong: async (world) => ({ body: { ...brand, name: '', domain: (await freshDomain(world, false)).domain } }),
    refusal: { status: 400, param: 'name', location: 'body' },
  },
  'tenant-config.delete-custom-domain': {
    right: async (world) => {
      await freshDomain(world, false);
      return {};
    },
    wrong: withoutDomain,
    refusal: { status: 404 },
  },
  'tenant-config.verify-custom-domain': {
    right: async (world) => {
      await freshDomain(world, true);
      return {};
    },
    wrong: async (world) => {
      await freshDomain(world, false);
      return {};
    },
    refusal: { status: 400, param: 'domain', location: 'body' },
  },
  'tenant-config.retrieve-manifest': {
    ...publicDocument,
    right: async (world) => {
      await verifyDomain(world);
      return {};
    },
  },

  'tenant-config.create-authentication-provider': {
    right: async (world) => {
      expectStatus(await world.tenant.api.authenticationProviders.delete(await freshProvider(world)), 204);
      return { body: { url: world.provider.issuer, clientId: 'c', clientSecret: 'a secret of the client' } };
    },
    wrong: ({ provider }) => ({ body: { url: provider.issuer, clientId: 'c', scope: ['email'] } }),
    refusal: { status: 400, param: 'scope', location: 'body' },
  },
  'tenant-config.list-authentication-providers': pageRow,
  'tenant-config.retrieve-authentication-provider': {
    right: async (world) => ({ params: { id: await freshProvider(world) } }),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign.authenticationProvider } }),
  },
  'tenant-config.retrieve-client-keys': publicDocument,
  'tenant-config.update-authentication-provider': {
    right: async (world) => ({
      params: { id: await freshProvider(world) },
      body: { url: world.provider.issuer, clientId: 'other' },
    }),
    wrong: async (world) => ({
      params: { id: await freshProvider(world) },
      body: { url: `${world.provider.issuer}/nowhere`, clientId: 'c' },
    }),
    refusal: { status: 400, param: 'url', location: 'body' },
    foreign: ({ foreign, provider }) => ({
      params: { id: foreign.authenticationProvider },
      body: { url: provider.issuer, clientId: 'c' },
    }),
  },
  'tenant-config.check-authentication-provider': {
    right: async (world) => ({ params: { id: await freshProvider(world) } }),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign.authenticationProvider } }),
  },
  'tenant-config.delete-authentication-provider': {
    right: async (world) => ({ params: { id: await freshProvider(world) } }),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign.authenticationProvider } }),
  },

  'dids.create-did': {
    right: () => ({ body: { method: 'key', options: { keyType: 'P-256' } } }),
    wrong: () => ({ body: { method: 'ion', options: { keyType: 'Ed25519' } } }),
    refusal: { status: 400, param: 'method', location: 'body' },
  },
  'dids.list-dids': pageRow,
  'dids.retrieve-did': {
    right: ({ own }) => ({ params: { id: own.did } }),
    wrong: () => ({ params: { id: 'did' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    // Its did:key would resolve, as any does; this one is published nowhere.
    foreign: ({ foreign }) => ({ params: { id: foreign.unpublished } }),
  },
  'dids.update-did-document': {
    right: async ({ tenant }) => {
      const url = `${tenant.host}/updated/${randomUUID()}`;
      const { did } = expectStatus(await tenant.api.dids.create({ method: 'web', options: { url } }), 201);
      return { params: { id: did } };
    },
    wrong: () => ({ params: { id: 'did' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign.did } }),
  },
  'dids.delete-did': {
    right: async ({ tenant }) => ({
      params: {
        id: expectStatus(await tenant.api.dids.create({ method: 'key', options: { keyType: 'P-256' } }), 201).did,
      },
    }),
    wrong: () => ({ params: { id: 'did' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign.did } }),
  },
  'dids.retrieve-did-document': {
    right: async ({ tenant }) => {
      const created = await tenant.api.dids.create({ method: 'web', options: { url: tenant.host } });
      // Only the first of all calls creates it.
      if (created.status !== 400) expectStatus(created, 201);
      return {};
    },
    wrong: () => ({ path: '/nobody/did.json' }),
    refusal: { status: 404 },
  },

  'dids.retrieve-did-configuration': publicDocument,

  ...configurationRows('jwt-vc', 'jwtVc'),
  ...configurationRows('web-semantic', 'webSemantic'),
  ...configurationRows('mobile', 'mobile', mobileRequest),
  ...configurationRows('sd-jwt', 'sdJwt'),
  ...configurationRows('compact', 'compact', compactRequest),
  ...configurationRows('compact-semantic', 'compactSemantic', compactRequest),
  ...registryRows('web-semantic', 'webSemanticCredential'),
  'issuance.create-revocation-notification': notificationRow,
  'issuance.list-credentials': pageRow,
  ...statusRows('jwt-vc', 'jwtVc'),
  ...statusRows('sd-jwt', 'sdJwt'),
  ...compactRows('compact', 'compact'),
  ...compactRows('compact-semantic', 'compactSemantic'),
  ...revocationRows('web-semantic', 'webSemantic'),
  ...statusRows('mobile', 'mobile'),
  ...certificateRows,
  ...walletRows,

  'issuance.create-offer': {
    right: ({ own }) => ({ body: { credentials: [own.jwtVc] } }),
    wrong: () => ({ body: { credentials: ['no-uuid'] } }),
    refusal: { status: 400, param: 'credentials', location: 'body' },
  },
  'issuance.delete-offer': {
    right: async ({ tenant, own }) => ({ params: { id: await storedOfferOf(tenant.api, own.jwtVc) } }),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign.storedOffer } }),
  },
  'issuance.create-pre-authorized-offer': {
    right: ({ own }) => ({ body: { credentials: [own.jwtVc] } }),
    wrong: ({ own }) => ({ body: { credentials: [own.jwtVc], expiresIn: { minutes: 11 } } }),
    refusal: { status: 400, param: 'expiresIn.minutes', location: 'body' },
  },
  'issuance.retrieve-pre-authorized-offer': {
    right: ({ own }) => ({ params: { id: own.offer } }),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign.offer } }),
  },
  'issuance.delete-pre-authorized-offer': {
    right: async (world) => ({ params: { id: (await freshOffer(world)).id } }),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign.offer } }),
  },
  'issuance.list-pre-authorized-offers': pageRow,
  'issuance.retrieve-offer-content': {
    right: async (world) => ({ params: { reference: await freshReference(world) } }),
    wrong: ({ own }) => ({ params: { reference: `${own.offer}.not-its-secret` } }),
    refusal: { status: 404 },
  },
  'issuance.retrieve-offer-qr-code': {
    right: async (world) => ({ params: { reference: await freshReference(world) } }),
    wrong: ({ own }) => ({ params: { reference: `${own.offer}.not-its-secret` } }),
    refusal: { status: 404 },
  },

  'issuance.authorize': {
    right: async (world) => {
      await freshProvider(world);
      return { query: authorization(world) };
    },
    wrong: (world) => ({ query: { ...authorization(world), redirect_uri: 'http://elsewhere.example/' } }),
    refusal: { status: 400, page: 'invalid_request' },
  },
  'issuance.submit-consent': {
    right: async (world) => {
      await freshProvider(world);
      const browser = new RedirectBrowser();
      const query = new URLSearchParams(authorization(world, 'unregistered wallet'));
      const page = await browser.openUrl(`${world.tenant.url}/v1/oauth/authorize?${query}`);
      const { action, fields } = parseConsentPage(await page.text())!;
      return {
        body: form({ ...fields, decision: 'approve' }),
        headers: { cookie: browser.cookiesFor(world.tenant.url + action) },
      };
    },
    wrong: () => ({ body: form({ request: 'x', token: 'y', decision: 'maybe' }) }),
    refusal: { status: 400, page: 'invalid_request' },
  },
  'issuance.push-authorization': {
    right: (world) => ({ body: form(authorization(world)) }),
    wrong: (world) => ({ body: form({ ...authorization(world), request_uri: 'urn:x' }) }),
    refusal: { status: 400, error: 'invalid_request' },
  },
  'issuance.complete-authorization': {
    right: async (world) => {
      await freshProvider(world);
      const browser = new RedirectBrowser();
      const callback = `${world.tenant.url}/v1/oauth/authentication/callback`;
      const start = `${world.tenant.url}/v1/oauth/authorize?${new URLSearchParams(authorization(world))}`;
      const back = await browser.follow(start, (url) => url.startsWith(callback));
      return { query: Object.fromEntries(back.searchParams), headers: { cookie: browser.cookiesFor(callback) } };
    },
    wrong: () => ({ query: { state: 'x', code: 'y' } }),
    refusal: { status: 400, page: 'invalid_request' },
  },
  'issuance.complete-interaction': {
    right: async (world) => {
      await freshProvider(world);
      const { tenant } = world;
      const { update } = tenant.api.openIdConfiguration;
      const url = 'https://hook.example.com/visit';
      expectStatus(await update({ interactionHook: null }), 200);
      const { interactionHook: hook } = expectStatus(await update({ interactionHook: { url } }), 200);
      const browser = new RedirectBrowser();
      const callback = `${tenant.url}/v1/oauth/interaction/callback`;
      const start = `${tenant.url}/v1/oauth/authorize?${new URLSearchParams(authorization(world))}`;
      const visit = await browser.follow(start, (address) => address.startsWith(url));
      const { state } = decodeJwt(visit.searchParams.get('session_token')!);
      const token = await new SignJWT({ state })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuer(url)
        .setAudience(tenant.url)
        .setExpirationTime('1m')
        .sign(Buffer.from(hook!.secret, 'base64'));
      return { query: { session_token: token }, headers: { cookie: browser.cookiesFor(callback) } };
    },
    wrong: () => ({ query: { session_token: 'x' } }),
    refusal: { status: 400, page: 'invalid_request' },
  },
  'issuance.exchange-token': {
    right: async (world) => ({
      body: form({ grant_type: PRE_AUTHORIZED, 'pre-authorized_code': codeOf((await freshOffer(world)).uri) }),
    }),
    wrong: () => ({ body: form({ grant_type: 'password', username: 'a', password: 'b' }) }),
    refusal: { status: 400, error: 'unsupported_grant_type' },
  },
  'issuance.revoke-wallet-token': {
    right: () => ({ body: form({ token: 'not-a-token' }) }),
    wrong: () => ({ body: form({ client_id: 'wallet' }) }),
    refusal: { status: 400, error: 'invalid_request' },
  },
  'issuance.issue-attestation-challenge': {
    right: () => ({}),
    wrong: () => ({ method: 'GET' }),
    refusal: { status: 405 },
  },
  'issuance.issue-nonce': { right: () => ({}), wrong: () => ({ method: 'GET' }), refusal: { status: 405 } },
  'issuance.issue-credential': {
    right: async (world) => {
      const { uri } = await freshOffer(world);
      const offer = await wallet.resolveOffer(uri);
      const metadata = await wallet.metadata(offer.credential_issuer);
      const token = await wallet.accessToken(offer, metadata);
      const key = await makeHolderKey();
      const proof = await wallet.proof(metadata, world.own.jwtVc, key, await wallet.nonce(metadata));
      return { token, body: { credential_configuration_id: world.own.jwtVc, proofs: { jwt: [proof] } } };
    },
    wrong: () => ({ token: 'not-a-token', body: {} }),
    refusal: { status: 401, error: 'invalid_token' },
  },
  'issuance.issue-deferred-credential': {
    right: async (world) => {
      const { api } = world.tenant;
      const { id, token, transactionId } = await deferredRequest(api, world.own.approvedJwtVc);
      expectStatus(await api.deferred.approve(id), 204);
      return { token, body: { transaction_id: transactionId } };
    },
    wrong: () => ({ token: 'not-a-token', body: {} }),
    refusal: { status: 401, error: 'invalid_token' },
  },
  'issuance.list-deferred-issuances': pageRow,
  ...decisionRow('approve'),
  ...decisionRow('deny'),
  'issuance.record-notification': {
    right: async (world) => {
      const offer = await wallet.resolveOffer((await freshOffer(world)).uri);
      const metadata = await wallet.metadata(offer.credential_issuer);
      const token = await wallet.accessToken(offer, metadata);
      const keys = [await makeHolderKey()];
      const answer = await wallet.requestCredentials(metadata, token, world.own.jwtVc, keys);
      return { token, body: { notification_id: answer.notification_id!, event: 'credential_accepted' } };
    },
    wrong: () => ({ token: 'not-a-token', body: {} }),
    refusal: { status: 401, error: 'invalid_token' },
  },
  'issuance.retrieve-issuer-metadata': {
    ...publicDocument,
    right: async (world) => {
      await verifyDomain(world);
      const isBranded = async () => 'display' in expectStatus(await world.tenant.api.metadata(), 200);
      await waitUntil(isBranded, { what: 'the name of the domain in the metadata' });
      return {};
    },
  },
  'issuance.retrieve-authorization-server-metadata': publicDocument,
  'issuance.retrieve-oauth-keys': publicDocument,
  'issuance.retrieve-jwt-vc-issuer': publicDocument,
  'issuance.retrieve-issuer-ca': publicDocument,
  'issuance.retrieve-iacas': publicDocument,
  'issuance.retrieve-type-metadata': {
    right: async ({ tenant, own }) => {
      const { type } = expectStatus(await tenant.api.sdJwt.retrieve(own.sdJwt), 200);
      return { params: { type, version: '1' } };
    },
    wrong: () => ({ params: { type: 'Type', version: 'latest' } }),
    refusal: { status: 400, param: 'version', location: 'params' },
  },
  'issuance.retrieve-status-list-aggregation': publicDocument,
  'issuance.retrieve-status-list-distribution': publicDocument,
  'issuance.retrieve-status-list-token': {
    right: async (world) => ({ params: { id: await publishedList(world) } }),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
  },
  'issuance.retrieve-status-list-token.web-semantic': {
    right: async (world) => ({ params: { id: await publishedCredentialList(world) } }),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
  },
  'issuance.retrieve-context': publicDocument,

  'issuance.create-user': {
    right: () => ({ body: { claims: { given_name: 'Grace' } } }),
    wrong: () => ({ body: { claims: 'Grace' } }),
    refusal: { status: 400, param: 'claims', location: 'body' },
  },
  'issuance.list-users': pageRow,
  'issuance.search-users': {
    right: () => ({ body: { claims: { given_name: 'Grace' } } }),
    wrong: () => ({ body: { claims: 'Grace' } }),
    refusal: { status: 400, param: 'claims', location: 'body' },
  },
  'issuance.retrieve-user': {
    right: ({ own }) => ({ params: { id: own.user } }),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign.user } }),
  },
  'issuance.update-user': {
    right: async (world) => ({ params: { id: await freshUser(world) }, body: { claims: { given_name: 'Augusta' } } }),
    wrong: ({ own }) => ({ params: { id: own.user }, body: { claims: ['Ada'] } }),
    refusal: { status: 400, param: 'claims', location: 'body' },
    foreign: ({ foreign }) => ({ params: { id: foreign.user }, body: { claims: { given_name: 'Augusta' } } }),
  },
  'issuance.delete-user': {
    right: async (world) => ({ params: { id: await freshUser(world) } }),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign.user } }),
  },
  'issuance.list-user-credentials': {
    right: async (world) => ({ params: { userId: await userWithCredential(world) } }),
    wrong: () => ({ params: { userId: 'no-uuid' } }),
    refusal: { status: 400, param: 'userId', location: 'params' },
    foreign: ({ foreign }) => ({ params: { userId: foreign.user } }),
  },

  'webhooks.create-webhook': {
    right: async (world) => {
      await roomForWebhook(world);
      return { body: webhookRequest() };
    },
    wrong: () => ({ body: { ...webhookRequest(), events: [] } }),
    refusal: { status: 400, param: 'events', location: 'body' },
  },
  'webhooks.list-webhooks': pageRow,
  'webhooks.retrieve-webhook': {
    right: ({ own }) => ({ params: { webhookId: own.webhook } }),
    wrong: () => ({ params: { webhookId: 'no-uuid' } }),
    refusal: { status: 400, param: 'webhookId', location: 'params' },
    foreign: ({ foreign }) => ({ params: { webhookId: foreign.webhook } }),
  },
  'webhooks.update-webhook': {
    right: ({ own }) => ({ params: { webhookId: own.webhook }, body: webhookRequest() }),
    wrong: ({ own }) => ({ params: { webhookId: own.webhook }, body: { ...webhookRequest(), url: 7 } }),
    refusal: { status: 400, param: 'url', location: 'body' },
    foreign: ({ foreign }) => ({ params: { webhookId: foreign.webhook }, body: webhookRequest() }),
  },
  'webhooks.delete-webhook': {
    right: async ({ tenant }) => ({
      params: { webhookId: expectStatus(await tenant.api.webhooks.create(webhookRequest()), 201).id },
    }),
    wrong: () => ({ params: { webhookId: 'no-uuid' } }),
    refusal: { status: 400, param: 'webhookId', location: 'params' },
    foreign: ({ foreign }) => ({ params: { webhookId: foreign.webhook } }),
  },
  'webhooks.test-webhook': {
    right: ({ own }) => ({ params: { webhookId: own.webhook } }),
    wrong: () => ({ params: { webhookId: 'no-uuid' } }),
    refusal: { status: 400, param: 'webhookId', location: 'params' },
    foreign: ({ foreign }) => ({ params: { webhookId: foreign.webhook } }),
  },
  'webhooks.list-attempts': {
    right: async (world) => ({
      params: { webhookId: (await deliveredTest(world)).webhookId },
      query: { limit: 5 },
    }),
    wrong: ({ own }) => ({ params: { webhookId: own.webhook }, query: { limit: 0 } }),
    refusal: { status: 400, param: 'limit', location: 'query' },
    foreign: ({ foreign }) => ({ params: { webhookId: foreign.webhook } }),
  },
  'webhooks.redeliver-attempt': {
    right: async (world) => ({ params: await deliveredTest(world) }),
    wrong: ({ own }) => ({ params: { webhookId: own.webhook, deliveryId: 'no-uuid' } }),
    refusal: { status: 400, param: 'deliveryId', location: 'params' },
    foreign: ({ foreign }) => ({ params: { webhookId: foreign.webhook, deliveryId: NO_SUCH } }),
  },
  'webhooks.retrieve-webhook-keys': publicDocument,
  'webhooks.rotate-keys': {
    right: () => ({}),
    wrong: () => ({ method: 'GET' }),
    refusal: { status: 405 },
  },

  'analytics.list-events': pageRow,
  'analytics.export-events': {
    right: () => ({ query: { dateFrom: '2026-01-01', dateTo: new Date().toISOString() } }),
    wrong: () => ({ query: { dateFrom: '2026-01-01' } }),
    refusal: { status: 400, param: 'dateTo', location: 'query' },
  },
  'analytics.list-event-types': {
    right: () => ({}),
    wrong: () => ({ method: 'DELETE' }),
    refusal: { status: 405 },
  },
};

/** The host an operation is called on. */
export const clientOf = ({ platform, tenant, management }: World, operation: Operation, token?: string): ApiClient => {
  switch (operation.http!.hosts?.[0] ?? 'tenant') {
    case 'management':
      return new ApiClient(management.client.baseUrl, token);
    case 'auth':
      return new ApiClient(platform.ready.auth, token);
    case 'contexts':
      return new ApiClient(platform.tenantUrl('contexts'), token);
    case 'tenant':
    case 'custom-domain':
      return new ApiClient(tenant.url, token);
  }
};

/** State that a refused command must not change. */
export const snapshot = async ({ management, tenant }: World): Promise<string> => {
  const { api } = tenant;
  const query = { limit: 1000 };
  const lists = await Promise.all([
    api.dids.list(query),
    api.jwtVc.list(query),
    api.webSemantic.list(query),
    api.users.list(query),
    api.webhooks.list(query),
    api.wallets.list(query),
    api.claimSources.list(query),
    api.openIdConfiguration.retrieve(),
    management.tenants.list(query),
    management.clients.list(tenant.id, query),
    management.members.list(tenant.id, query),
  ]);
  return JSON.stringify(lists.map((list) => expectStatus(list as { status: number; body: unknown } as never, 200)));
};

export const rightToken = ({ management, person, tenant }: World, { name, access }: Operation): string | undefined =>
  access.kind === 'management'
    ? (ROWS[name]?.as === 'person' ? person : management).client.token
    : access.kind === 'roles'
      ? tenant.token
      : undefined;

export { clientToken };
