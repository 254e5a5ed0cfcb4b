import { ROLES } from '@attestry/contracts';
import {
  connectManagement,
  connectWithRoles,
  createTenantUnderTest,
  expectStatus,
  PLATFORM_START_MS,
  sharedPlatform,
  waitUntil,
  Wallet,
  WebhookReceiver,
  type ManagementApi,
  type PlatformAddresses,
  type TenantUnderTest,
} from '@attestry/testing';

let platform: PlatformAddresses;
let management: ManagementApi;
let tenant: TenantUnderTest;
let other: TenantUnderTest;

beforeAll(async () => {
  platform = await sharedPlatform();
  management = await connectManagement(platform);
  [tenant, other] = await Promise.all([
    createTenantUnderTest(platform, management, 'library'),
    createTenantUnderTest(platform, management, 'status-archive'),
  ]);
  expectStatus(await tenant.api.dids.create({ method: 'key', options: { keyType: 'P-256' } }), 201);
}, PLATFORM_START_MS);

const request = (type: string) => ({
  type,
  name: 'Library card',
  issuer: { name: 'Acme Library' },
  claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
  revocable: true,
});

/** A credential in a third-party wallet, and its entry in the list. */
const issue = async (thing: 'jwtVc' | 'sdJwt', type: string) => {
  const { api } = tenant;
  const { id: credentialConfigurationId } = expectStatus<{ id: string }>(await api[thing].create(request(type)), 201);
  const offer = { credentials: [credentialConfigurationId], claims: { given_name: 'Ada' } };
  const { userId, uri } = expectStatus(await api.offers.create(offer), 200);
  await new Wallet().collect(uri);
  const entry = await waitUntil(
    async () => expectStatus(await api.credentials({ credentialConfigurationId }), 200).data[0],
    { what: 'the credential in the list' },
  );
  return { ...entry, userId };
};

describe.each([
  ['sdJwt', 'sd-jwt', 'dc+sd-jwt', 'jwtVc'],
  ['jwtVc', 'jwt-vc', 'jwt_vc_json', 'sdJwt'],
] as const)('the status of a credential of %s', (thing, profile, format, another) => {
  it('is changed, listed, recorded and delivered [T150, T151, T154, T155, T156]', async () => {
    const { api } = tenant;
    const receiver = await WebhookReceiver.start(`${tenant.url}/v1/webhooks/jwks`);
    try {
      const webhook = { events: ['CredentialStatusChanged' as const], url: receiver.url };
      const { id: webhookId } = expectStatus(await api.webhooks.create(webhook), 201);
      const { id, userId, credentialConfigurationId, status } = await issue(thing, `Card-${profile}`);
      expect(status).toBe('valid');
      expect(expectStatus(await api[thing].status(id), 200)).toEqual({ status: 'valid' });

      const reason = 'Device lost';
      expect(expectStatus(await api[thing].setStatus(id, { status: 'invalid', reason }), 201)).toEqual({
        status: 'invalid',
      });
      expect(expectStatus(await api[thing].status(id), 200)).toEqual({ status: 'invalid' });
      const again = await api[thing].setStatus(id, { status: 'valid' });
      const msg = 'must be invalid: the credential is invalid, which is final';
      expect([again.status, again.body]).toMatchObject([400, { details: [{ param: 'status', msg }] }]);

      const filters = { userId, credentialConfigurationId, format, status: 'invalid' as const };
      const { data } = expectStatus(await api.credentials(filters), 200);
      expect(data).toEqual([expect.objectContaining({ id, userId, profile, status: 'invalid' })]);
      expect(expectStatus(await api.credentials({ ...filters, status: 'valid' }), 200).data).toEqual([]);
      expect(expectStatus(await api.users.credentials(userId), 200).data).toMatchObject([{ id, status: 'invalid' }]);

      const { body } = await receiver.next();
      expect(body).toMatchObject({ webhookId, event: { type: 'CredentialStatusChanged' } });
      const about = { credentialId: id, userId, credentialConfigurationId };
      const change = { status: 'invalid', formerStatus: 'valid', reason };
      expect(body.event.payload).toEqual({ ...about, format, credentialProfile: profile, ...change });
      expectStatus(await api.webhooks.delete(webhookId), 204);

      const prefix = `CREDENTIAL_${profile.toUpperCase().replace('-', '_')}_STATUS_SET`;
      const events = expectStatus(await api.analytics.list({ types: [`${prefix}_SUCCESS`], objectId: id }), 200).data;
      const metadata = { userId, credentialConfigurationId, status: 'invalid', reason };
      expect(events).toEqual([expect.objectContaining({ object: { type: 'credential', id }, metadata })]);
    } finally {
      await receiver.close();
    }
  });

  it('exists in its tenant and under the path of its format only [T152]', async () => {
    const { id } = await issue(thing, `Foreign-${profile}`);
    for (const { status } of [
      await other.api[thing].status(id),
      await other.api[thing].setStatus(id, { status: 'invalid' }),
      await tenant.api[another].status(id),
      await tenant.api[another].setStatus(id, { status: 'invalid' }),
    ])
      expect(status).toBe(404);
    expect(expectStatus(await other.api.credentials(), 200).data).toEqual([]);
    expect(expectStatus(await tenant.api[thing].status(id), 200)).toEqual({ status: 'valid' });
  });
});

it('is set by admins, issuers and managed issuers', async () => {
  const { id } = await issue('sdJwt', 'Roles');
  for (const role of ROLES) {
    const { sdJwt } = await connectWithRoles(platform, management, tenant, [role]);
    const isAllowed = ['admin', 'issuer', 'managed-issuer'].includes(role);
    const statuses = [(await sdJwt.setStatus(id, { status: 'valid' })).status, (await sdJwt.status(id)).status];
    expect([role, ...statuses]).toEqual([role, ...(isAllowed ? [201, 200] : [403, 403])]);
  }
});
