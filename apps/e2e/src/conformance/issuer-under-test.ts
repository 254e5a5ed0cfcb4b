import {
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  ProtocolWallet,
  TENANT_CLIENT,
  WalletProvider,
  type OpenIdProvider,
  type PlatformAddresses,
  type TenantUnderTest,
} from '@attestry/testing';

export const PROFILES = ['default', 'haip'] as const;
export type Profile = (typeof PROFILES)[number];
export const DOC_TYPE = 'org.example.pass.1';
export const SD_JWT_SCOPE = 'dc+sd-jwt:Pass';
export const MDOC_SCOPE = `mso_mdoc:${DOC_TYPE}`;

/** An issuer as the conformance suite expects it: two formats, two clients that attest themselves, a person who can sign in. */
export interface IssuerUnderTest {
  tenant: TenantUnderTest;
  wallet: ProtocolWallet;
  secondWallet: ProtocolWallet;
  /** Attester of both clients. */
  attester: WalletProvider;
  /** Credential configurations. */
  sdJwt: string;
  mdoc: string;
  /** PEM of the root of the mdocs. */
  iaca: string;
}

/** Runs a test with a further configuration, of the type `Other`, and deletes it. */
export const withConfiguration = async (
  { tenant }: IssuerUnderTest,
  change: object,
  run: (id: string, scope: string) => Promise<void>,
): Promise<void> => {
  const request = { type: 'Other', name: 'Other', issuer: { name: 'City' }, claimMappings, ...change };
  const { id } = expectStatus(await tenant.api.sdJwt.create(request), 201);
  try {
    await run(id, 'dc+sd-jwt:Other');
  } finally {
    expectStatus(await tenant.api.sdJwt.delete(id), 204);
  }
};

const claimMappings = { given_name: { mapFrom: 'claims.given_name', required: true }, level: { defaultValue: 'gold' } };

export const prepareIssuer = async (
  platform: PlatformAddresses,
  provider: OpenIdProvider,
  subdomain: string,
  profile: Profile,
): Promise<IssuerUnderTest> => {
  provider.accounts.set('zoe', { sub: 'zoe', given_name: 'Zoë' });
  const tenant = await createTenantUnderTest(platform, await connectManagement(platform), subdomain);
  const { api, url } = tenant;
  const attester = await WalletProvider.create();
  const register = async (clientId: string) => {
    const rootCertificates = [attester.rootCertificate];
    // Without redirect URIs: an attested wallet may push any https address.
    expectStatus(await api.attestedWallets.create({ name: clientId, clientId, rootCertificates }), 201);
    return ProtocolWallet.create(url, clientId, attester);
  };
  const wallet = await register('https://first.wallet.example');
  const secondWallet = await register('https://second.wallet.example');
  expectStatus(
    await api.authenticationProviders.create({
      ...{ url: provider.issuer, ...TENANT_CLIENT },
      forwardedRequestParameters: ['login_hint'],
    }),
    201,
  );
  const sdJwt = expectStatus(
    await api.sdJwt.create({
      ...{ type: 'Pass', name: 'Pass', issuer: { name: 'City' }, revocable: true },
      ...{ claimMappings, expiresIn: { months: 6 } },
    }),
    201,
  ).id;
  const created = expectStatus(await api.iacas.create({ country: 'AU' }), 201);
  expectStatus(await api.iacas.update(created.id, true), 200);
  const mdoc = expectStatus(
    await api.mobile.create({
      ...{ type: DOC_TYPE, claimMappings: { [DOC_TYPE]: claimMappings }, expiresIn: { months: 6 } },
      ...{ includeStatus: true, branding: { name: 'Pass' } },
    } as never),
    201,
  ).id;
  if (profile === 'haip') expectStatus(await api.openIdConfiguration.update({ profile }), 200);
  return { tenant, wallet, secondWallet, attester, sdJwt, mdoc, iaca: created.certificatePem };
};
