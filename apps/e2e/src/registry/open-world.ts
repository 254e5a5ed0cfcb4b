import { ROLES, type Role } from '@attestry/contracts';
import {
  connectManagement,
  connectWithRoles,
  createTenantUnderTest,
  CustomerIaca,
  expectStatus,
  ManagementApi,
  registerManagementClient,
  startPlatform,
  waitUntil,
  registerWallet,
  type OpenIdProvider,
  type PlatformProcessOptions,
  type RunningPlatform,
  type TenantApi,
  type TenantUnderTest,
} from '@attestry/testing';
import { closeSurroundings, openSurroundings } from '../surroundings.js';
import type { Things, World } from './world.js';
import {
  BACK,
  claimSourceRequest,
  compactRequest,
  deferredRequest,
  invitation,
  issuedCredential,
  jwtVcRequest,
  listsRequest,
  mobileRequest,
  revocableCredential,
  storedOfferOf,
  unique,
  WALLET,
  walletRequest,
  webhookRequest,
  webSemanticRequest,
} from './things.js';

const sdJwtRequest = jwtVcRequest;

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
