/** @engines embedded postgres */
import {
  createClient,
  createTenant,
  deleteMembership,
  inviteMember,
  rotateClientSecret,
  updateMembership,
  type ManagementCaller,
} from '@attestry/contracts';
import { describeIdempotency, ServiceUnderTest, stoppedClock } from '@attestry/testing/services';
import { managementService } from './index.js';
import type { TenantEvent } from './tenants/tenant/tenant.events.js';
import { tenant, tenantStream } from './tenants/tenant/tenant.state.js';

const service = new ServiceUnderTest(managementService, {
  settings: { BASE_DOMAIN: 'one.example' },
  clock: stoppedClock(),
});
let environmentId: string;
let tenantId: string;
let serial = 0;

const machine = (clientId: string): ManagementCaller => ({ kind: 'management', clientId });
const context = (caller: ManagementCaller, idempotencyKey?: string) =>
  service.asManagement(caller, { ...(idempotencyKey !== undefined && { idempotencyKey }) });
const append = (event: TenantEvent) =>
  service.engines.streams.runDecision(tenant, tenantStream(tenantId), () => [event], {
    tenantId,
    requestId: 'r',
    actor: 'service:test',
    operation: 'test',
  });
const invite = (email: string, key?: string, by = 'one') =>
  service.client.call(
    inviteMember,
    { params: { tenantId }, body: { email, roles: ['issuer'] } },
    context(machine(by), key),
  );
const makeClient = (name: string, key?: string, by = 'one') =>
  service.client.call(
    createClient,
    { params: { tenantId }, body: { name, roles: ['issuer'] } },
    context(machine(by), key),
  );

beforeAll(async () => {
  await service.open();
  environmentId = service.config.environments[0]!.id;
  const body = { subdomain: 'first', environmentId };
  tenantId = (await service.client.call(createTenant, { body }, context(machine('one')))).id;
  await append({ type: 'MachineMembershipGranted', data: { tenantId, managementClientId: 'two', roles: ['admin'] } });
});
afterAll(() => service.remove());

describeIdempotency('creating a tenant', {
  service,
  category: 'tenant',
  made: 'TenantCreated',
  thing: () => {
    const subdomain = `tenant${++serial}`;
    return ({ key, by = 'one', other }) =>
      service.client.call(
        createTenant,
        { body: { subdomain: other ? `${subdomain}-other` : subdomain, environmentId } },
        context(machine(by), key),
      );
  },
});

describeIdempotency('creating a client', {
  service,
  category: 'tenant',
  made: 'TenantClientCreated',
  thing: () => {
    const name = `client ${++serial}`;
    return ({ key, by, other }) => makeClient(other ? `${name} other` : name, key, by);
  },
});

describe('a client', () => {
  let clientId: string;
  beforeAll(async () => {
    ({ clientId } = await makeClient('to be given secrets'));
  });
  describeIdempotency('rotating its secret', {
    service,
    category: 'tenant',
    made: 'TenantClientSecretRotated',
    thing:
      () =>
      ({ key, by = 'one', other }) =>
        service.client.call(
          rotateClientSecret,
          { params: { tenantId, clientId }, body: { overlapSeconds: other ? 60 : 30 } },
          context(machine(by), key),
        ),
  });
});

describeIdempotency('inviting a member', {
  service,
  category: 'tenant',
  made: 'MemberInvited',
  thing: () => {
    const name = `person${++serial}`;
    return ({ key, by, other }) => invite(`${name}${other ? '-other' : ''}@mail.example`, key, by);
  },
});

describe('a key', () => {
  it('of a refused call can be used again', async () => {
    const first = { body: { subdomain: 'first', environmentId } };
    await expect(service.client.call(createTenant, first, context(machine('one'), 'again'))).rejects.toMatchObject({
      kind: 'invalid',
    });
    const body = { subdomain: 'second', environmentId };
    const made = await service.client.call(createTenant, { body }, context(machine('one'), 'again'));
    expect(await service.client.call(createTenant, { body }, context(machine('one'), 'again'))).toEqual(made);
  });

  it('identifies a separate call on another tenant', async () => {
    const body = { subdomain: 'elsewhere', environmentId };
    const other = await service.client.call(createTenant, { body }, context(machine('one')));
    const mine = await makeClient('same', 'shared');
    const call = { params: { tenantId: other.id }, body: { name: 'same', roles: ['issuer' as const] } };
    const theirs = await service.client.call(createClient, call, context(machine('one'), 'shared'));
    expect(theirs.clientId).not.toBe(mine.clientId);
    expect(theirs.clientSecret).not.toBe(mine.clientSecret);
  });

  it('returns nothing to a caller that may no longer administer the tenant', async () => {
    const ofPerson = (userId: string, key: string) =>
      service.client.call(
        createClient,
        { params: { tenantId }, body: { name: 'theirs', roles: ['issuer'] } },
        context({ kind: 'user', userId }, key),
      );
    const userId = '30000000-0000-4000-8000-00000000000a';
    await append({
      type: 'MemberAdded',
      data: { tenantId, userId, roles: ['admin'], addedAt: service.now().toISOString() },
    });
    const first = await ofPerson(userId, 'mine');
    expect(await ofPerson(userId, 'mine')).toEqual(first);
    const params = { tenantId, userId };
    await service.client.call(updateMembership, { params, body: { roles: ['issuer'] } }, context(machine('one')));
    await expect(ofPerson(userId, 'mine')).rejects.toMatchObject({ kind: 'forbidden' });
    await service.client.call(deleteMembership, { params }, context(machine('one')));
    await expect(ofPerson(userId, 'mine')).rejects.toMatchObject({ kind: 'notFound' });
  });

  it('is not stored in plain text, nor are the secrets created with it', async () => {
    const { clientSecret } = await makeClient('hidden', 'very-recognizable-key');
    const events = await service.events();
    const text = JSON.stringify(events);
    expect(text).not.toContain('very-recognizable-key');
    expect(text).not.toContain(clientSecret);
  });
});
