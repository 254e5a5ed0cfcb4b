/** @engines embedded postgres */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createClient,
  createTenant,
  deleteMembership,
  inviteMember,
  rotateClientSecret,
  updateMembership,
  type ContextOf,
  type ManagementCaller,
} from '@attestry/contracts';
import {
  openEngines,
  parseConfig,
  ServiceClient,
  startServices,
  type Engines,
  type RunningServices,
} from '@attestry/service-kit';
import { TEST_SETTINGS } from '@attestry/testing';
import { chosenEngines, describeIdempotency } from '@attestry/testing/services';
import { managementService } from './index.js';
import type { TenantEvent } from './tenants/tenant/tenant.events.js';
import { tenant, tenantStream } from './tenants/tenant/tenant.state.js';

const clock = { time: Date.parse('2026-03-01T10:00:00.000Z'), now: () => new Date(clock.time) };
let dataDir: string;
let engines: Engines;
let services: RunningServices;
let client: ServiceClient;
let environmentId: string;
let tenantId: string;
let serial = 0;

const machine = (clientId: string): ManagementCaller => ({ kind: 'management', clientId });
const context = (caller: ManagementCaller, key?: string): ContextOf<typeof createTenant> => ({
  caller,
  requestId: `request${++serial}`,
  operation: 'test',
  deadline: Date.now() + 20_000,
  ...(key !== undefined && { idempotencyKey: key }),
});
const append = (event: TenantEvent) =>
  engines.streams.runDecision(tenant, tenantStream(tenantId), () => [event], {
    tenantId,
    requestId: 'r',
    actor: 'service:test',
    operation: 'test',
  });
const invite = (email: string, key?: string, by = 'one') =>
  client.call(inviteMember, { params: { tenantId }, body: { email, roles: ['issuer'] } }, context(machine(by), key));
const makeClient = (name: string, key?: string, by = 'one') =>
  client.call(createClient, { params: { tenantId }, body: { name, roles: ['issuer'] } }, context(machine(by), key));

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'idempotency-'));
  const config = parseConfig({ ...TEST_SETTINGS, DATA_DIR: dataDir, BASE_DOMAIN: 'one.example' });
  environmentId = config.environments[0]!.id;
  engines = await chosenEngines(await openEngines(config, { clock }));
  services = await startServices([managementService], engines);
  client = new ServiceClient(engines.bus, 'gateway');
  const body = { subdomain: 'first', environmentId };
  tenantId = (await client.call(createTenant, { body }, context(machine('one')))).id;
  await append({ type: 'MachineMembershipGranted', data: { tenantId, managementClientId: 'two', roles: ['admin'] } });
});
afterAll(async () => {
  await services.close();
  await engines.close();
  await rm(dataDir, { recursive: true, force: true });
});

describeIdempotency('creating a tenant', {
  engines: () => engines,
  clock,
  category: 'tenant',
  made: 'TenantCreated',
  thing: () => {
    const subdomain = `tenant${++serial}`;
    return ({ key, by = 'one', other }) =>
      client.call(
        createTenant,
        { body: { subdomain: other ? `${subdomain}-other` : subdomain, environmentId } },
        context(machine(by), key),
      );
  },
});

describeIdempotency('creating a client', {
  engines: () => engines,
  clock,
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
    engines: () => engines,
    clock,
    category: 'tenant',
    made: 'TenantClientSecretRotated',
    thing:
      () =>
      ({ key, by = 'one', other }) =>
        client.call(
          rotateClientSecret,
          { params: { tenantId, clientId }, body: { overlapSeconds: other ? 60 : 30 } },
          context(machine(by), key),
        ),
  });
});

describeIdempotency('inviting a member', {
  engines: () => engines,
  clock,
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
    await expect(client.call(createTenant, first, context(machine('one'), 'again'))).rejects.toMatchObject({
      kind: 'invalid',
    });
    const body = { subdomain: 'second', environmentId };
    const made = await client.call(createTenant, { body }, context(machine('one'), 'again'));
    expect(await client.call(createTenant, { body }, context(machine('one'), 'again'))).toEqual(made);
  });

  it('identifies a separate call on another tenant', async () => {
    const body = { subdomain: 'elsewhere', environmentId };
    const other = await client.call(createTenant, { body }, context(machine('one')));
    const mine = await makeClient('same', 'shared');
    const call = { params: { tenantId: other.id }, body: { name: 'same', roles: ['issuer' as const] } };
    const theirs = await client.call(createClient, call, context(machine('one'), 'shared'));
    expect(theirs.clientId).not.toBe(mine.clientId);
    expect(theirs.clientSecret).not.toBe(mine.clientSecret);
  });

  it('returns nothing to a caller that may no longer administer the tenant', async () => {
    const ofPerson = (userId: string, key: string) =>
      client.call(
        createClient,
        { params: { tenantId }, body: { name: 'theirs', roles: ['issuer'] } },
        context({ kind: 'user', userId }, key),
      );
    const userId = '30000000-0000-4000-8000-00000000000a';
    await append({
      type: 'MemberAdded',
      data: { tenantId, userId, roles: ['admin'], addedAt: clock.now().toISOString() },
    });
    const first = await ofPerson(userId, 'mine');
    expect(await ofPerson(userId, 'mine')).toEqual(first);
    const params = { tenantId, userId };
    await client.call(updateMembership, { params, body: { roles: ['issuer'] } }, context(machine('one')));
    await expect(ofPerson(userId, 'mine')).rejects.toMatchObject({ kind: 'forbidden' });
    await client.call(deleteMembership, { params }, context(machine('one')));
    await expect(ofPerson(userId, 'mine')).rejects.toMatchObject({ kind: 'notFound' });
  });

  it('is not stored in plain text, nor are the secrets created with it', async () => {
    const { clientSecret } = await makeClient('hidden', 'very-recognizable-key');
    const { events } = await engines.events.readAll({ limit: 10_000 });
    const text = JSON.stringify(events);
    expect(text).not.toContain('very-recognizable-key');
    expect(text).not.toContain(clientSecret);
  });
});
