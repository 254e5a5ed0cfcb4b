/** @engines embedded postgres */
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLocalJWKSet, decodeJwt, jwtVerify, type JSONWebKeySet } from 'jose';
import {
  AppError,
  createClient,
  createTenant,
  clientRolesChanged,
  deleteClient,
  deleteTenant,
  issueToken,
  listClients,
  listEnvironments,
  listTenantEvents,
  listTenants,
  lookUpManagementClient,
  lookUpTenant,
  lookUpToken,
  permissionsOf,
  retrieveClient,
  retrieveTenant,
  retrieveTokenKeys,
  revokeToken,
  rotateClientSecret,
  updateClient,
  updateTenant,
  type TenantClient,
  type CreatedTenant,
  type Environment,
  type ManagementContext,
  type PageOf,
  type Role,
  type Tenant,
} from '@attestry/contracts';
import type { Aggregate, DomainEvent, EventContext } from '@attestry/event-store';
import { waitUntil } from '@attestry/testing';
import { refusal, ServiceUnderTest, stoppedClock } from '@attestry/testing/services';
import {
  FIRST_MANAGEMENT_CLIENT_FILE,
  managementClientOutcome,
  managementService,
  registerManagementClient,
  requestManagementClient,
} from './index.js';
import { ManagementClientInbox } from './platform/register-management-client/management-client-inbox.js';
import { requestFile, requestFolder } from './platform/register-management-client/management-client-request.js';
import { secretDigest } from './platform/client-credentials/secret-digest.js';
import { subdomain } from './tenants/tenant/subdomain.claim.js';
import { tenant, tenantStream } from './tenants/tenant/tenant.state.js';

const ENV_ONE = '10000000-0000-4000-8000-000000000001';
const ENV_TWO = '20000000-0000-4000-8000-000000000002';
const environment = (id: string, domain: string) => ({
  id,
  name: domain,
  domain,
  authorizationServerDomain: `auth.${domain}`,
  deploymentModel: 'public',
  region: { id: id.replace(/000[12]$/, '0009'), name: 'local', displayName: 'Local' },
});
const MANAGEMENT = 'http://management.one.example:8080';
const AUTH_ONE = 'http://auth.one.example:8080';
const AUTH_TWO = 'http://auth.two.example:8080';

const clock = stoppedClock();
const append = <State, Event extends DomainEvent>(aggregate: Aggregate<State, Event>, stream: string, event: Event) =>
  service.engines.streams.runDecision(aggregate, stream, () => [event], fixture);
const fixture: EventContext = { tenantId: 'x', requestId: 'r', actor: 'service:test', operation: 'test' };

/** Every secret the tests were shown. */
const secrets = new Set<string>();

const service = new ServiceUnderTest(managementService, {
  settings: {
    BASE_DOMAIN: 'one.example:8080',
    ENVIRONMENTS: JSON.stringify([environment(ENV_ONE, 'one.example:8080'), environment(ENV_TWO, 'two.example:8080')]),
  },
  clock,
  subjects: ['event.management.>'],
});
const { messages: feed } = service;

beforeAll(() => service.open());
afterAll(() => service.remove());

const context = (over: Partial<ManagementContext> = {}): ManagementContext => ({
  ...service.asManagement({ kind: 'management', clientId: 'boss' }),
  ...over,
});
const as = (clientId: string) => context({ caller: { kind: 'management', clientId } });
const internal = () => context();
const publicContext = (publicUrl = AUTH_ONE) => ({ ...context(), caller: { kind: 'public' as const }, publicUrl });

const create = async (name: string, by = 'boss', environmentId = ENV_ONE): Promise<CreatedTenant> => {
  const made = await service.client.call(createTenant, { body: { subdomain: name, environmentId } }, as(by));
  secrets.add(made.client.clientSecret);
  return made;
};
const token = (body: Record<string, unknown>, publicUrl = AUTH_ONE) =>
  service.client.call(issueToken, { body: body as never }, publicContext(publicUrl));
const until = (condition: () => boolean | Promise<boolean>) => waitUntil(condition, { intervalMs: 1 });
const allEvents = () => service.events();

describe('environments', () => {
  const list = (query: { limit?: number; cursor?: string } = {}) =>
    service.client.call(listEnvironments, { query }, as('boss')) as unknown as Promise<PageOf<Environment>>;

  it('are listed in pages, as configured', async () => {
    expect((await list()).data.map(({ id }) => id)).toEqual([ENV_ONE, ENV_TWO]);
    expect(await list()).not.toHaveProperty('nextCursor');
    const first = await list({ limit: 1 });
    expect(first.data).toEqual([environment(ENV_ONE, 'one.example:8080')]);
    const second = await list({ limit: 1, cursor: first.nextCursor! });
    expect(second.data.map(({ id }) => id)).toEqual([ENV_TWO]);
    expect(second).not.toHaveProperty('nextCursor');
  });

  it('refuse cursors of other lists', async () => {
    expect(await refusal(list({ cursor: 'bm9uc2Vuc2U' }))).toMatchObject({
      kind: 'invalid',
      details: [{ param: 'cursor', location: 'query' }],
    });
  });

  it('are available only to management callers', async () => {
    const outsider = { ...context(), caller: { kind: 'client', clientId: 'c' } };
    expect(await refusal(service.client.call(listEnvironments, {}, outsider as never))).toMatchObject({
      kind: 'forbidden',
    });
  });
});

describe('creating a tenant', () => {
  it('returns the tenant, its environment and credentials that are shown once', async () => {
    const body = { name: '  Acme Ltd ', subdomain: 'acme', environmentId: ENV_ONE.toUpperCase() };
    const made = await service.client.call(createTenant, { body }, as('boss'));
    secrets.add(made.client.clientSecret);
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Acme Ltd',
      restrictIdentityRoles: false,
      subdomain: 'acme.one.example:8080',
      environmentId: ENV_ONE,
      environment: environment(ENV_ONE, 'one.example:8080'),
      membership: { roles: ['admin'] },
      client: {
        clientId: expect.stringMatching(/^[A-Za-z0-9]{32}$/),
        clientSecret: expect.stringMatching(/^[A-Za-z0-9]{64}$/),
      },
    });
    const { client: _, ...read } = made;
    expect(await service.client.call(retrieveTenant, { params: { tenantId: made.id } }, as('boss'))).toEqual(read);
    expect(
      await service.client.call(retrieveTenant, { params: { tenantId: made.id.toUpperCase() } }, as('boss')),
    ).toEqual(read);
  });

  it('uses the subdomain as name, and accepts the same subdomain in another environment', async () => {
    expect((await create('twice')).name).toBe('twice');
    expect((await create('twice', 'boss', ENV_TWO)).subdomain).toBe('twice.two.example:8080');
  });

  it.each([
    ['subdomain', { subdomain: 'twice', environmentId: ENV_ONE }],
    ['subdomain', { subdomain: 'Upper', environmentId: ENV_ONE }],
    ['subdomain', { subdomain: 'auth', environmentId: ENV_ONE }],
    ['subdomain', { subdomain: 'xn--acme', environmentId: ENV_ONE }],
    ['subdomain', { environmentId: ENV_ONE }],
    ['environmentId', { subdomain: 'fine', environmentId: ENV_ONE.replace('1', '3') }],
    ['environmentId', { subdomain: 'fine', environmentId: 'nope' }],
    ['name', { subdomain: 'fine', environmentId: ENV_ONE, name: '   ' }],
    ['name', { subdomain: 'fine', environmentId: ENV_ONE, name: 'a\u0000b' }],
    ['name', { subdomain: 'fine', environmentId: ENV_ONE, name: '\ud800' }],
    ['name', { subdomain: 'fine', environmentId: ENV_ONE, name: 'x'.repeat(256) }],
  ])('is a 400 on %s for %j, and leaves nothing behind', async (param, body) => {
    const before = (await allEvents()).length;
    expect(await refusal(service.client.call(createTenant, { body: body as never }, as('boss')))).toMatchObject({
      kind: 'invalid',
      code: 'BadRequest',
      details: [{ param, location: 'body' }],
    });
    expect(await allEvents()).toHaveLength(before);
  });

  it('assigns a subdomain to exactly one of ten concurrent callers', async () => {
    const results = await Promise.allSettled(Array.from({ length: 10 }, (_, n) => create('race', `racer-${n}`)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results)
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({ kind: 'invalid', details: [{ param: 'subdomain', value: 'race' }] });
    const tenants = (await allEvents()).filter(
      ({ type, data }) => type === 'TenantCreated' && (data as { subdomain: string }).subdomain === 'race',
    );
    expect(tenants).toHaveLength(1);
  });

  it('takes over a claim whose owner was not created within a minute, and not earlier', async () => {
    const owner = '99999999-9999-4999-8999-999999999999';
    const claimedAt = clock.now().toISOString();
    await append(subdomain, subdomain.stream(ENV_ONE, 'orphan'), {
      type: 'SubdomainClaimed',
      data: { environmentId: ENV_ONE, subdomain: 'orphan', owner, claimedAt },
    });
    clock.time += 59_999;
    expect(await refusal(create('orphan'))).toMatchObject({ kind: 'unavailable' });
    clock.time += 1;
    const made = await create('orphan');
    const { tenant: found } = await service.client.call(lookUpTenant, { body: { host: made.subdomain } }, internal());
    expect(found?.tenantId).toBe(made.id);
    // The first claimant has no tenant.
    expect(await service.client.call(lookUpTenant, { body: { tenantId: owner } }, internal())).toEqual({});
  });
});

describe('tenants of a caller', () => {
  const list = (by: string, query: { limit?: number; cursor?: string } = {}) =>
    service.client.call(listTenants, { query }, as(by)) as unknown as Promise<PageOf<Tenant>>;

  it('are listed oldest first in pages, without those of others', async () => {
    const made: CreatedTenant[] = [];
    for (const name of ['list-a', 'list-b', 'list-c']) {
      clock.time += 1000;
      made.push(await create(name, 'lister'));
    }
    await create('list-d', 'other-lister');
    const all = await list('lister');
    expect(all).toEqual({ data: made.map(({ client: _, ...read }) => read) });
    const first = await list('lister', { limit: 2 });
    expect(first.data.map(({ id }) => id)).toEqual(made.slice(0, 2).map(({ id }) => id));
    const second = await list('lister', { limit: 2, cursor: first.nextCursor! });
    expect(second.data.map(({ id }) => id)).toEqual([made[2]!.id]);
    expect(second).not.toHaveProperty('nextCursor');
    for (const cursor of [first.nextCursor!, 'x', `${first.nextCursor!.slice(0, -2)}AA`])
      expect(await refusal(list(cursor === first.nextCursor ? 'other-lister' : 'lister', { cursor }))).toMatchObject({
        kind: 'invalid',
        details: [{ param: 'cursor', location: 'query' }],
      });
    expect(await list('nobody-at-all')).toEqual({ data: [] });
  });

  it('are a 404 for every operation of another management client, like an unknown tenant', async () => {
    const { id: tenantId, client: own } = await create('foreign');
    for (const [by, id] of [
      ['stranger', tenantId],
      ['boss', '77777777-7777-4777-8777-777777777777'],
    ] as const) {
      const params = { tenantId: id };
      const calls = [
        service.client.call(retrieveTenant, { params }, as(by)),
        service.client.call(deleteTenant, { params }, as(by)),
        service.client.call(listClients, { params }, as(by)),
        service.client.call(createClient, { params, body: { name: 'n', roles: ['issuer'] } }, as(by)),
        service.client.call(retrieveClient, { params: { ...params, clientId: own.clientId } }, as(by)),
        service.client.call(
          updateClient,
          { params: { ...params, clientId: own.clientId }, body: { name: 'n', roles: ['issuer'] } },
          as(by),
        ),
        service.client.call(rotateClientSecret, { params: { ...params, clientId: own.clientId } }, as(by)),
        service.client.call(deleteClient, { params: { ...params, clientId: own.clientId } }, as(by)),
      ];
      for (const call of calls) expect(await refusal(call)).toMatchObject({ kind: 'notFound', code: 'NotFound' });
    }
    expect((await service.client.call(retrieveTenant, { params: { tenantId } }, as('boss'))).id).toBe(tenantId);
  });

  it('can be read but not changed by a member without the role admin', async () => {
    const { id: tenantId, client: own } = await create('watched');
    await append(tenant, tenantStream(tenantId), {
      type: 'MachineMembershipGranted',
      data: { tenantId, managementClientId: 'watcher', roles: ['auditor'] },
    });
    const params = { tenantId };
    expect(await service.client.call(retrieveTenant, { params }, as('watcher'))).toMatchObject({
      membership: { roles: ['auditor'] },
    });
    for (const call of [
      service.client.call(deleteTenant, { params }, as('watcher')),
      service.client.call(updateTenant, { params, body: { name: 'mine' } }, as('watcher')),
      service.client.call(listClients, { params }, as('watcher')),
      service.client.call(createClient, { params, body: { name: 'n', roles: ['issuer'] } }, as('watcher')),
      service.client.call(retrieveClient, { params: { ...params, clientId: own.clientId } }, as('watcher')),
      service.client.call(
        updateClient,
        { params: { ...params, clientId: own.clientId }, body: { name: 'n', roles: ['issuer'] } },
        as('watcher'),
      ),
      service.client.call(rotateClientSecret, { params: { ...params, clientId: own.clientId } }, as('watcher')),
      service.client.call(deleteClient, { params: { ...params, clientId: own.clientId } }, as('watcher')),
    ])
      expect(await refusal(call)).toMatchObject({ kind: 'forbidden' });
  });

  it('are renamed, immediately also in the list, and keep their subdomain', async () => {
    const { client: _, ...made } = await create('renamed', 'renamer');
    const params = { tenantId: made.id };
    const rename = (name: unknown, by = 'renamer') =>
      service.client.call(updateTenant, { params, body: { name } as never }, as(by));
    const renamed = { ...made, name: 'Acme Ltd' };
    expect(await rename('  Acme Ltd ')).toEqual(renamed);
    expect(await service.client.call(retrieveTenant, { params }, as('renamer'))).toEqual(renamed);
    expect(await list('renamer')).toEqual({ data: [renamed] });
    const before = (await allEvents()).length;
    expect(await rename('Acme Ltd')).toEqual(renamed);
    for (const name of ['', ' ', 7, undefined, 'a\u0000b', 'x'.repeat(256)])
      expect(await refusal(rename(name))).toMatchObject({
        kind: 'invalid',
        details: [{ param: 'name', location: 'body' }],
      });
    expect(await refusal(rename('mine', 'stranger'))).toMatchObject({ kind: 'notFound' });
    expect(await allEvents()).toHaveLength(before);
  });

  it('restrict which roles change their identity, immediately also in the list, with their name unchanged', async () => {
    const { client: _, ...made } = await create('restricted', 'restricter');
    expect(made).toMatchObject({ restrictIdentityRoles: false });
    const params = { tenantId: made.id };
    const change = (body: object) =>
      service.client.call(updateTenant, { params, body: body as never }, as('restricter'));
    const restricted = { ...made, restrictIdentityRoles: true };
    expect(await change({ restrictIdentityRoles: true })).toEqual(restricted);
    expect(await service.client.call(retrieveTenant, { params }, as('restricter'))).toEqual(restricted);
    expect(await list('restricter')).toEqual({ data: [restricted] });
    expect(await change({ name: 'Renamed' })).toEqual({ ...restricted, name: 'Renamed' });
    for (const [body, param] of [
      [{}, 'name'],
      [{ restrictIdentityRoles: 'true' }, 'restrictIdentityRoles'],
      [{ restrictIdentityRoles: null }, 'restrictIdentityRoles'],
      [{ name: null, restrictIdentityRoles: false }, 'name'],
    ] as const)
      expect(await refusal(change(body))).toMatchObject({ kind: 'invalid', details: [{ param, location: 'body' }] });
    expect(await change({ restrictIdentityRoles: false, name: 'Open' })).toEqual({ ...made, name: 'Open' });
  });

  it('have events that are queried from analytics: 503 while it is unreachable, and 404 for other callers', async () => {
    const { id: tenantId } = await create('eventful');
    const events = (by: string, id = tenantId) =>
      service.client.call(listTenantEvents, { params: { tenantId: id } }, as(by));
    // Analytics is not served here.
    expect(await refusal(events('boss'))).toMatchObject({ kind: 'unavailable' });
    expect(await refusal(events('stranger'))).toMatchObject({ kind: 'notFound' });
    expect(await refusal(events('boss', '77777777-7777-4777-8777-777777777777'))).toMatchObject({ kind: 'notFound' });
  });

  it.each<[Role, string]>([
    ['auditor', 'unavailable'],
    ['issuer', 'forbidden'],
    ['certificate-manager', 'forbidden'],
  ])('have events that a member with the role %s may or may not read: %s', async (role, kind) => {
    const { id: tenantId } = await create(`read-by-${role}`);
    await append(tenant, tenantStream(tenantId), {
      type: 'MachineMembershipGranted',
      data: { tenantId, managementClientId: 'reader', roles: [role] },
    });
    // Analytics is not served here: who may read gets a 503.
    const call = service.client.call(listTenantEvents, { params: { tenantId } }, as('reader'));
    expect(await refusal(call)).toMatchObject({ kind });
  });

  it('are deleted once; host, list, clients and tokens end, the subdomain remains claimed', async () => {
    const { id: tenantId, subdomain: host, client: own } = await create('mortal', 'reaper');
    const params = { tenantId };
    const credentials = { client_id: own.clientId, client_secret: own.clientSecret, grant_type: 'client_credentials' };
    await token({ ...credentials, audience: host });
    await service.client.call(deleteTenant, { params }, as('reaper'));
    expect(await refusal(service.client.call(deleteTenant, { params }, as('reaper')))).toMatchObject({
      kind: 'notFound',
    });
    expect(await refusal(service.client.call(retrieveTenant, { params }, as('reaper')))).toMatchObject({
      kind: 'notFound',
    });
    expect(await refusal(service.client.call(listClients, { params }, as('reaper')))).toMatchObject({
      kind: 'notFound',
    });
    expect(await list('reaper')).toEqual({ data: [] });
    const ended = { tenantId, isPurged: false };
    expect(await service.client.call(lookUpTenant, { body: { host } }, internal())).toEqual({ ended });
    expect(await service.client.call(lookUpTenant, { body: { host: `never.${host}` } }, internal())).toEqual({});
    for (const body of [{ tenantId }, { host, tenantId }])
      expect(await service.client.call(lookUpTenant, { body }, internal())).toEqual({});
    expect(await refusal(token({ ...credentials, audience: host }))).toMatchObject({ code: 'access_denied' });
    clock.time += 3_600_000;
    expect(await refusal(create('mortal', 'reaper'))).toMatchObject({ details: [{ param: 'subdomain' }] });
  });
});

describe('clients of a tenant', () => {
  let tenantId: string;
  let own: CreatedTenant['client'];
  const list = (query: { limit?: number; cursor?: string } = {}) =>
    service.client.call(listClients, { params: { tenantId }, query }, as('boss')) as unknown as Promise<
      PageOf<TenantClient>
    >;
  beforeAll(async () => {
    ({ id: tenantId, client: own } = await create('clients'));
  });

  it('are created with a secret shown once, and listed with their permissions', async () => {
    clock.time += 1000;
    const body = { name: 'CI', roles: ['issuer', 'auditor'] as ('issuer' | 'auditor')[] };
    const made = await service.client.call(createClient, { params: { tenantId }, body }, as('boss'));
    secrets.add(made.clientSecret);
    const shown = { clientId: made.clientId, ...body, permissions: permissionsOf(body.roles) };
    expect(made).toEqual({ ...shown, clientSecret: expect.stringMatching(/^[A-Za-z0-9]{64}$/) });
    expect(made.clientId).toMatch(/^[A-Za-z0-9]{32}$/);
    const { data } = await list();
    expect(data).toEqual([
      { clientId: own.clientId, name: 'Default client', roles: ['admin'], permissions: permissionsOf(['admin']) },
      shown,
    ]);
    const first = await list({ limit: 1 });
    expect((await list({ limit: 1, cursor: first.nextCursor! })).data).toEqual([shown]);

    const params = { tenantId, clientId: made.clientId };
    await service.client.call(deleteClient, { params }, as('boss'));
    expect(await refusal(service.client.call(deleteClient, { params }, as('boss')))).toMatchObject({
      kind: 'notFound',
    });
    expect((await list()).data.map(({ clientId }) => clientId)).toEqual([own.clientId]);
    const audience = 'clients.one.example:8080';
    const credentials = { client_id: made.clientId, client_secret: made.clientSecret, audience };
    expect(await refusal(token({ ...credentials, grant_type: 'client_credentials' }))).toMatchObject({
      code: 'access_denied',
    });
  });

  it('are retrieved, renamed, and get other roles that the gateway applies at once', async () => {
    const body = { name: 'first', roles: ['issuer'] as Role[] };
    const made = await service.client.call(createClient, { params: { tenantId }, body }, as('boss'));
    secrets.add(made.clientSecret);
    const params = { tenantId, clientId: made.clientId };
    const shown = (name: string, roles: Role[]) => ({
      clientId: made.clientId,
      name,
      roles,
      permissions: permissionsOf(roles),
    });
    expect(await service.client.call(retrieveClient, { params }, as('boss'))).toEqual(shown('first', ['issuer']));
    const update = (name: string, roles: Role[]) =>
      service.client.call(updateClient, { params, body: { name, roles } }, as('boss'));
    expect(await update(' second ', ['issuer'])).toEqual(shown('second', ['issuer']));
    expect(await update('second', ['auditor', 'issuer'])).toEqual(shown('second', ['auditor', 'issuer']));
    expect(await service.client.call(retrieveClient, { params }, as('boss'))).toEqual(
      shown('second', ['auditor', 'issuer']),
    );
    expect((await list()).data).toContainEqual(shown('second', ['auditor', 'issuer']));
    const roles = async () =>
      (await service.client.call(lookUpTenant, { body: { tenantId } }, internal())).tenant?.clients.find(
        ({ clientId }) => clientId === made.clientId,
      )?.roles;
    expect(await roles()).toEqual(['auditor', 'issuer']);
    const received = () => feed.filter(({ subject }) => subject === clientRolesChanged.subject).map(({ data }) => data);
    await until(() => received().length > 0);
    // A new name is not published.
    expect(received()).toEqual([{ tenantId, clientId: made.clientId, roles: ['auditor', 'issuer'] }]);
    // The secret is unchanged, and a new token has the client's current roles.
    const credentials = {
      client_id: made.clientId,
      client_secret: made.clientSecret,
      audience: 'clients.one.example:8080',
    };
    const { access_token } = await token({ ...credentials, grant_type: 'client_credentials' });
    expect(decodeJwt(access_token)['roles']).toEqual(['auditor', 'issuer']);
    await service.client.call(deleteClient, { params }, as('boss'));
    expect(await refusal(service.client.call(retrieveClient, { params }, as('boss')))).toMatchObject({
      kind: 'notFound',
    });
    expect(await refusal(update('third', ['issuer']))).toMatchObject({ kind: 'notFound' });
  });

  it('of another tenant can be neither retrieved nor changed through this one', async () => {
    const other = await create('clients-c');
    const params = { tenantId, clientId: other.client.clientId };
    const body = { name: 'mine', roles: ['issuer'] as Role[] };
    expect(await refusal(service.client.call(retrieveClient, { params }, as('boss')))).toMatchObject({
      kind: 'notFound',
    });
    expect(await refusal(service.client.call(updateClient, { params, body }, as('boss')))).toMatchObject({
      kind: 'notFound',
    });
  });

  describe('with a new secret', () => {
    const body = { name: 'rotating', roles: ['issuer'] as Role[] };
    const make = async () => {
      const made = await service.client.call(createClient, { params: { tenantId }, body }, as('boss'));
      secrets.add(made.clientSecret);
      return made;
    };
    const rotate = async (clientId: string, overlapSeconds?: number) => {
      const request = overlapSeconds === undefined ? {} : { overlapSeconds };
      const made = await service.client.call(
        rotateClientSecret,
        { params: { tenantId, clientId }, body: request },
        as('boss'),
      );
      secrets.add(made.clientSecret);
      return made;
    };
    const asks = async (clientId: string, secret: string): Promise<string> => {
      const audience = 'clients.one.example:8080';
      const request = { client_id: clientId, client_secret: secret, audience, grant_type: 'client_credentials' };
      try {
        return (await token(request)).token_type;
      } catch (error) {
        if (error instanceof AppError) return error.code;
        throw error;
      }
    };
    const answers = (clientId: string, ...these: string[]) =>
      Promise.all(these.map((secret) => asks(clientId, secret)));

    it('get tokens for both until the overlap ends, by default after a day', async () => {
      const { clientId, clientSecret: old } = await make();
      const made = await rotate(clientId);
      expect(made).toEqual({
        clientId,
        clientSecret: expect.stringMatching(/^[A-Za-z0-9]{64}$/),
        previousSecretExpiresAt: new Date(clock.time + 86_400_000).toISOString(),
      });
      const { clientSecret: fresh } = made;
      expect(fresh).not.toBe(old);
      expect(await answers(clientId, fresh, old, 'neither')).toEqual(['Bearer', 'Bearer', 'access_denied']);
      clock.time += 86_399_999;
      expect(await answers(clientId, fresh, old)).toEqual(['Bearer', 'Bearer']);
      clock.time += 1;
      expect(await answers(clientId, fresh, old)).toEqual(['Bearer', 'access_denied']);
    });

    it('end the previous one at once with an overlap of 0, and the oldest of three in any case', async () => {
      const { clientId, clientSecret: first } = await make();
      const { clientSecret: second } = await rotate(clientId, 604_800);
      const { clientSecret: third, previousSecretExpiresAt } = await rotate(clientId, 60);
      expect(previousSecretExpiresAt).toBe(new Date(clock.time + 60_000).toISOString());
      expect(await answers(clientId, first, second, third)).toEqual(['access_denied', 'Bearer', 'Bearer']);
      const last = await rotate(clientId, 0);
      expect(last).not.toHaveProperty('previousSecretExpiresAt');
      expect(await answers(clientId, second, third, last.clientSecret)).toEqual([
        'access_denied',
        'access_denied',
        'Bearer',
      ]);
    });

    it('do not affect the secrets of other clients', async () => {
      const [one, other] = [await make(), await make()];
      const { clientSecret } = await rotate(one.clientId);
      expect(await answers(other.clientId, other.clientSecret, clientSecret, one.clientSecret)).toEqual([
        'Bearer',
        'access_denied',
        'access_denied',
      ]);
    });

    it('lose both secrets when they are deleted', async () => {
      const { clientId, clientSecret: old } = await make();
      const { clientSecret: fresh } = await rotate(clientId);
      await service.client.call(deleteClient, { params: { tenantId, clientId } }, as('boss'));
      expect(await answers(clientId, fresh, old)).toEqual(['access_denied', 'access_denied']);
      expect(await refusal(rotate(clientId))).toMatchObject({ kind: 'notFound' });
    });

    it.each([-1, 0.5, 604_801, '60', true])('refuse an overlap of %j', async (overlapSeconds) => {
      const { clientId, clientSecret } = await make();
      expect(await refusal(rotate(clientId, overlapSeconds as number))).toMatchObject({
        kind: 'invalid',
        details: [{ param: 'overlapSeconds', location: 'body' }],
      });
      expect(await answers(clientId, clientSecret)).toEqual(['Bearer']);
    });
  });

  it.each([
    ['roles', { name: 'n', roles: [] }],
    ['roles', { name: 'n', roles: ['root'] }],
    ['roles', { name: 'n', roles: ['issuer', 'issuer'] }],
    ['roles', { name: 'n' }],
    ['name', { name: ' ', roles: ['issuer'] }],
    ['name', { name: '\udfff', roles: ['issuer'] }],
  ])('are refused with a 400 on %s for %j', async (param, body) => {
    const call = service.client.call(createClient, { params: { tenantId }, body: body as never }, as('boss'));
    expect(await refusal(call)).toMatchObject({ kind: 'invalid', details: [{ param, location: 'body' }] });
  });

  it('of another tenant cannot be deleted through this one', async () => {
    const other = await create('clients-b');
    const params = { tenantId, clientId: other.client.clientId };
    expect(await refusal(service.client.call(deleteClient, { params }, as('boss')))).toMatchObject({
      kind: 'notFound',
    });
  });

  it('are at most 100, also when they are created concurrently', async () => {
    const { id } = await create('crowd');
    for (let made = 1; made < 98; made += 8)
      await Promise.all(
        Array.from({ length: Math.min(8, 98 - made) }, () =>
          service.client.call(
            createClient,
            { params: { tenantId: id }, body: { name: 'n', roles: ['issuer'] } },
            as('boss'),
          ),
        ).map(async (call) => {
          try {
            await call;
          } catch (error) {
            // Two that conflict too often get a 503; the count is checked below.
            if (!(error instanceof AppError) || error.kind !== 'unavailable') throw error;
          }
        }),
      );
    const count = async () => {
      const { state } = await service.engines.streams.load(tenant, tenantStream(id));
      return state.status === 'active' ? state.clients.size : 0;
    };
    const add = () =>
      service.client.call(
        createClient,
        { params: { tenantId: id }, body: { name: 'n', roles: ['issuer'] } },
        as('boss'),
      );
    while ((await count()) < 99) await add();
    const last = await Promise.allSettled([add(), add(), add()]);
    expect(last.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await count()).toBe(100);
    expect(await refusal(add())).toMatchObject({ kind: 'invalid', details: [{ param: 'tenantId' }] });
  });
});

describe('tokens', () => {
  let acme: CreatedTenant;
  let first: { client_id: string; client_secret: string };
  let good: Record<string, string>;
  beforeAll(async () => {
    acme = await create('tokens');
    first = JSON.parse(await readFile(join(service.folder, FIRST_MANAGEMENT_CLIENT_FILE), 'utf8')) as typeof first;
    secrets.add(first.client_secret);
    good = {
      client_id: acme.client.clientId,
      client_secret: acme.client.clientSecret,
      grant_type: 'client_credentials',
      audience: 'tokens.one.example:8080',
    };
  });
  const verified = async (accessToken: string) => {
    const jwks = await service.client.call(retrieveTokenKeys, {}, publicContext());
    return jwtVerify(accessToken, createLocalJWKSet(jwks as unknown as JSONWebKeySet), { currentDate: clock.now() });
  };

  it('of tenant clients are JWTs that verify with the key set', async () => {
    const answer = await token(good);
    expect(answer).toEqual({ access_token: expect.any(String), expires_in: 14_400, token_type: 'Bearer' });
    const { payload, protectedHeader } = await verified(answer.access_token);
    const iat = Math.floor(clock.time / 1000);
    expect(payload).toEqual({
      iss: AUTH_ONE,
      aud: 'http://tokens.one.example:8080',
      sub: acme.client.clientId,
      client_id: acme.client.clientId,
      roles: ['admin'],
      secret_id: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      iat,
      exp: iat + 14_400,
    });
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) });
    const { keys } = await service.client.call(retrieveTokenKeys, {}, publicContext());
    expect(keys).toEqual([
      {
        kty: 'EC',
        crv: 'P-256',
        x: expect.any(String),
        y: expect.any(String),
        kid: protectedHeader.kid,
        alg: 'ES256',
        use: 'sig',
      },
    ]);
  });

  it.each(['http://tokens.one.example:8080', 'http://TOKENS.one.example:8080/', 'tokens.one.example.:8080/'])(
    'have the canonical address of the tenant as audience when %s is requested',
    async (audience) => {
      const { access_token } = await token({ ...good, audience });
      expect(decodeJwt(access_token).aud).toBe('http://tokens.one.example:8080');
    },
  );

  it('of management clients have no roles and the issuer of the first environment', async () => {
    const credentials = { ...first, grant_type: 'client_credentials' };
    for (const at of [MANAGEMENT, AUTH_ONE, AUTH_TWO])
      for (const audience of [undefined, '', MANAGEMENT, 'management.one.example:8080', `${MANAGEMENT}/`]) {
        const { payload } = await verified((await token({ ...credentials, audience }, at)).access_token);
        expect(payload).toMatchObject({ iss: AUTH_ONE, aud: MANAGEMENT, sub: first.client_id, roles: [] });
      }
  });

  it.each([
    ['client_id', { client_id: undefined }, 'Missing: client_id'],
    [
      'client_id, client_secret and grant_type',
      { client_id: null, client_secret: '', grant_type: undefined },
      'Missing: client_id, client_secret, grant_type',
    ],
    ['a secret that is a string', { client_secret: { $ne: '' } }, 'Must be a string: client_secret'],
    ['an audience that is a string', { audience: ['tokens.one.example:8080'] }, 'Must be a string: audience'],
  ])('are refused without %s', async (_what, over, message) => {
    expect((await refusal(token({ ...good, ...over }))).toWire()).toEqual({
      kind: 'invalid',
      code: 'invalid_request',
      message,
    });
  });

  it('are issued for client_credentials only', async () => {
    for (const grant_type of ['password', 'refresh_token', '__proto__'])
      expect(await refusal(token({ ...good, grant_type }))).toMatchObject({ code: 'unsupported_grant_type' });
  });

  const UNAUTHORIZED = { kind: 'unauthenticated', code: 'access_denied', message: 'Unauthorized' };

  it.each<[string, Record<string, unknown>, string?]>([
    ['an unknown client', { client_id: 'A'.repeat(32) }],
    ['a client id in another case', { client_id: 'lower' }],
    ['a client id that is a property of objects', { client_id: '__proto__' }],
    ['a client id with a lone surrogate', { client_id: '\ud800' }],
    ['a client id that is too long', { client_id: 'x'.repeat(4096) }],
    ['a wrong secret', { client_secret: 'x'.repeat(64) }],
    ['a secret with an additional character', { client_secret: 'SECRET ' }],
    ['the address of the management API', { audience: MANAGEMENT }],
    ['the address of another tenant', { audience: 'twice.one.example:8080' }],
    ['the address of a tenant that does not exist', { audience: 'nobody.one.example:8080' }],
  ])('are denied for %s', async (what, over, at = AUTH_ONE) => {
    const body: Record<string, unknown> = { ...good, ...over };
    if (what.startsWith('a secret with')) body['client_secret'] = `${good['client_secret']} `;
    if (what.startsWith('a client id in')) body['client_id'] = good['client_id']!.toLowerCase();
    expect((await refusal(token(body, at))).toWire()).toEqual(UNAUTHORIZED);
  });

  /** At the authorization host of the first environment. */
  const ADVICE = 'tenant clients need audience, the address of the tenant: http://<subdomain>.one.example:8080';

  it.each<[string, Record<string, unknown>, string, string, string?]>([
    ['of a tenant client', {}, 'access_denied', `Unauthorized; ${ADVICE}`],
    ['that is empty', { audience: '' }, 'access_denied', `Unauthorized; ${ADVICE}`],
    ['of an unknown client', { client_id: 'A'.repeat(32) }, 'access_denied', `Unauthorized; ${ADVICE}`],
    ['beside another one', { client_secret: '' }, 'invalid_request', `Missing: client_secret; ${ADVICE}`],
    [
      'beside another grant',
      { grant_type: 'password' },
      'unsupported_grant_type',
      `grant_type must be client_credentials or urn:ietf:params:oauth:grant-type:token-exchange; ${ADVICE}`,
    ],
    [
      'in the other environment',
      {},
      'access_denied',
      'Unauthorized; tenant clients need audience, the address of the tenant: http://<subdomain>.two.example:8080',
      AUTH_TWO,
    ],
    [
      'at the management host',
      {},
      'access_denied',
      `Unauthorized; ${ADVICE}, and call ${AUTH_ONE}/oauth/token`,
      MANAGEMENT,
    ],
  ])('are refused with advice for an omitted audience %s [T648]', async (_what, over, code, message, at = AUTH_ONE) => {
    const body = { ...good, audience: undefined, ...over };
    expect(await refusal(token(body, at))).toMatchObject({ code, message });
    // With the address of a tenant, or of no tenant, there is nothing to advise.
    const environment = at === AUTH_TWO ? 'two' : 'one';
    const host = at === MANAGEMENT ? AUTH_ONE : at;
    const { message: without } = await refusal(
      token({ ...body, audience: `nobody.${environment}.example:8080` }, host),
    );
    expect(without).toBe(message.split('; ')[0]);
  });

  it.each<[string, Record<string, unknown>, string?, string?]>([
    ['with the wrong scheme', { audience: 'https://tokens.one.example:8080' }],
    ['without its port', { audience: 'tokens.one.example' }],
    ['with a path', { audience: 'tokens.one.example:8080/v1' }],
    ['that continues with another domain', { audience: 'tokens.one.example:8080.evil.example' }],
    ['with a user name', { audience: 'http://x@tokens.one.example:8080' }],
    ['with a line break', { audience: 'tokens.one.example:8080\n' }],
    ['that is the domain of the environment', { audience: 'one.example:8080' }],
    ['that is an authorization host', { audience: AUTH_ONE }],
    ['below another domain', { audience: 'http://tokens.three.example:8080' }],
    ['of an unknown client', { audience: 'tokens', client_id: 'A'.repeat(32) }],
    [
      'in another environment',
      { audience: 'twice.two.example:8080' },
      `${ADVICE.replace('one', 'two')}, and call ${AUTH_TWO}/oauth/token`,
    ],
    ['at the other environment', {}, `${ADVICE}, and call ${AUTH_ONE}/oauth/token`, AUTH_TWO],
    ['at the management host', {}, `${ADVICE}, and call ${AUTH_ONE}/oauth/token`, MANAGEMENT],
    ['at a tenant', {}, `${ADVICE}, and call ${AUTH_ONE}/oauth/token`, 'http://tokens.one.example:8080'],
  ])('are denied with advice for an audience %s [T648]', async (_what, over, advice = ADVICE, at = AUTH_ONE) => {
    const message = `Unauthorized; ${advice}`;
    expect((await refusal(token({ ...good, ...over }, at))).toWire()).toEqual({ ...UNAUTHORIZED, message });
  });

  it('are denied to management clients for a tenant, by secret and by its digest', async () => {
    const credentials = { ...first, grant_type: 'client_credentials' };
    expect((await refusal(token({ ...credentials, audience: good['audience'] }))).toWire()).toEqual(UNAUTHORIZED);
    const digest = secretDigest(first.client_secret);
    expect((await refusal(token({ ...credentials, client_secret: digest, audience: MANAGEMENT }))).toWire()).toEqual(
      UNAUTHORIZED,
    );
  });
});

describe('revocation', () => {
  const GRANT = { grant_type: 'client_credentials' };
  let acme: CreatedTenant;
  let other: CreatedTenant;
  let first: { client_id: string; client_secret: string };
  beforeAll(async () => {
    [acme, other] = [await create('revoking'), await create('revoking-too')];
    first = JSON.parse(await readFile(join(service.folder, FIRST_MANAGEMENT_CLIENT_FILE), 'utf8')) as typeof first;
  });
  const credentialsOf = ({ client: { clientId, clientSecret } }: CreatedTenant) => ({
    client_id: clientId,
    client_secret: clientSecret,
  });
  const tokenOf = async (made: CreatedTenant) =>
    (await token({ ...credentialsOf(made), ...GRANT, audience: made.subdomain })).access_token;
  const revoke = (body: Record<string, unknown>, publicUrl = AUTH_ONE) =>
    service.client.call(revokeToken, { body: body as never }, publicContext(publicUrl));
  const isRevoked = async (accessToken: string) => {
    const tokenId = decodeJwt(accessToken).jti!;
    return (await service.client.call(lookUpToken, { body: { tokenId } }, internal())).isRevoked;
  };
  const events = async (accessToken: string) =>
    (await allEvents()).filter(({ stream }) => stream === `revokedToken-${decodeJwt(accessToken).jti}`);

  it('revokes a token of the client once, and publishes the event', async () => {
    const [ended, lasting] = [await tokenOf(acme), await tokenOf(acme)];
    expect(await isRevoked(ended)).toBe(false);
    for (let n = 0; n < 2; n++) expect(await revoke({ token: ended, ...credentialsOf(acme) })).toEqual({});
    expect([await isRevoked(ended), await isRevoked(lasting)]).toEqual([true, false]);
    const stored = await events(ended);
    expect(stored.map(({ type, metadata }) => [type, metadata.tenantId, metadata.actor])).toEqual([
      ['TokenRevoked', acme.id, `client:${acme.client.clientId}`],
    ]);
    const { jti, exp } = decodeJwt(ended);
    await until(() => feed.some(({ data }) => (data as { tokenId?: string }).tokenId === jti));
    const said = feed.filter(({ subject }) => subject === 'event.management.token-revoked');
    expect(said.map(({ data }) => data)).toContainEqual({
      tokenId: jti,
      clientId: acme.client.clientId,
      expiresAt: new Date(exp! * 1000).toISOString(),
    });
  });

  it('revokes a token of a management client', async () => {
    const { access_token: own } = await token({ ...first, ...GRANT });
    expect(await revoke({ token: own, ...first })).toEqual({});
    expect(await isRevoked(own)).toBe(true);
  });

  it('answers the same for a token of another client, and changes nothing', async () => {
    const foreign = [await tokenOf(other), (await token({ ...first, ...GRANT })).access_token];
    for (const accessToken of foreign) {
      expect(await revoke({ token: accessToken, ...credentialsOf(acme), token_type_hint: 'access_token' })).toEqual({});
      expect(await isRevoked(accessToken)).toBe(false);
      expect(await events(accessToken)).toEqual([]);
    }
  });

  it('answers the same for an invalid token, an expired one, and a modified one', async () => {
    const old = await tokenOf(acme);
    const [head, , signature] = old.split('.') as [string, string, string];
    const claims = Buffer.from(JSON.stringify({ ...decodeJwt(old), exp: 9e9 })).toString('base64url');
    clock.time += 14_400_000;
    for (const value of [old, `${head}.${claims}.${signature}`, 'x', 'a.b.c', 'é', 'x'.repeat(4096)])
      expect(await revoke({ token: value, ...credentialsOf(acme), token_type_hint: 'refresh_token' })).toEqual({});
    expect(await events(old)).toEqual([]);
  });

  const UNAUTHORIZED = { kind: 'unauthenticated', code: 'invalid_client', message: 'Unauthorized' };

  it.each<[string, () => Record<string, unknown>, string?]>([
    ['an unknown client', () => ({ client_id: 'A'.repeat(32) })],
    ['a wrong secret', () => ({ client_secret: 'wrong' })],
    ["another client's secret", () => ({ client_secret: other.client.clientSecret })],
    ['a management client with a wrong secret', () => ({ client_id: first.client_id })],
    [
      'a management client with the digest of its secret',
      () => ({
        client_id: first.client_id,
        client_secret: secretDigest(first.client_secret),
      }),
    ],
    ['a client id that is a property of objects', () => ({ client_id: '__proto__' })],
    ['a client id with a lone surrogate', () => ({ client_id: '\ud800' })],
    ['a call to the authorization host of another environment', () => ({}), AUTH_TWO],
  ])('is denied for %s', async (_what, over, publicUrl = AUTH_ONE) => {
    const own = await tokenOf(acme);
    expect((await refusal(revoke({ token: own, ...credentialsOf(acme), ...over() }, publicUrl))).toWire()).toEqual(
      UNAUTHORIZED,
    );
    expect(await isRevoked(own)).toBe(false);
  });

  it('is denied to a deleted client', async () => {
    const made = await service.client.call(
      createClient,
      { params: { tenantId: acme.id }, body: { name: 'leaving', roles: ['issuer'] } },
      as('boss'),
    );
    secrets.add(made.clientSecret);
    const credentials = { client_id: made.clientId, client_secret: made.clientSecret };
    expect(await revoke({ token: 'x', ...credentials })).toEqual({});
    await service.client.call(deleteClient, { params: { tenantId: acme.id, clientId: made.clientId } }, as('boss'));
    expect((await refusal(revoke({ token: 'x', ...credentials }))).toWire()).toEqual(UNAUTHORIZED);
  });

  it('reports tokens that the platform did not issue as revoked', async () => {
    expect(await service.client.call(lookUpToken, { body: { tokenId: 'x' } }, internal())).toEqual({ isRevoked: true });
  });

  it('of a secret: tokens name it, and the tenant directory lists the valid secrets', async () => {
    const made = await service.client.call(
      createClient,
      { params: { tenantId: acme.id }, body: { name: 'rotating', roles: ['issuer'] } },
      as('boss'),
    );
    const { clientId } = made;
    const secretOf = async (client_secret: string) => {
      secrets.add(client_secret);
      const answer = await token({ client_id: clientId, client_secret, ...GRANT, audience: acme.subdomain });
      return decodeJwt(answer.access_token)['secret_id'] as string;
    };
    const listed = async () => {
      const { tenant: found } = await service.client.call(lookUpTenant, { body: { tenantId: acme.id } }, internal());
      return found!.clients.find((it) => it.clientId === clientId)!.secrets;
    };
    const old = await secretOf(made.clientSecret);
    expect(await secretOf(made.clientSecret)).toBe(old);
    expect(await listed()).toEqual([{ id: old }]);
    const params = { tenantId: acme.id, clientId };
    const rotated = await service.client.call(rotateClientSecret, { params, body: { overlapSeconds: 60 } }, as('boss'));
    const fresh = await secretOf(rotated.clientSecret);
    expect(fresh).not.toBe(old);
    expect(await secretOf(made.clientSecret)).toBe(old);
    expect(await listed()).toEqual([{ id: fresh }, { id: old, expiresAt: rotated.previousSecretExpiresAt }]);
    await until(() => feed.some(({ subject }) => subject === 'event.management.client-secret-rotated'));
    const last = await service.client.call(rotateClientSecret, { params, body: { overlapSeconds: 0 } }, as('boss'));
    expect(await listed()).toEqual([{ id: await secretOf(last.clientSecret) }]);
  });
});

describe('the directory', () => {
  it('answers by host and by id, for active tenants', async () => {
    const { id, subdomain: host, client: own } = await create('found');
    const secretId = { id: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/) };
    const found = {
      tenantId: id,
      host,
      name: 'found',
      restrictIdentityRoles: false,
      clients: [{ clientId: own.clientId, roles: ['admin'], secrets: [secretId] }],
    };
    const ask = (body: object) => service.client.call(lookUpTenant, { body }, internal());
    expect(await ask({ host })).toEqual({ tenant: found });
    expect(await ask({ tenantId: id })).toEqual({ tenant: found });
    expect(await ask({ host, tenantId: id })).toEqual({ tenant: found });
    expect(await ask({ host: 'tokens.one.example:8080', tenantId: id })).toEqual({});
    expect(await ask({})).toEqual({});
    for (const nobody of [
      '',
      'one.example:8080',
      'found.one.example',
      'x.found.one.example:8080',
      '\ud800.one.example:8080',
    ])
      expect(await ask({ host: nobody })).toEqual({});
    const added = await service.client.call(
      createClient,
      { params: { tenantId: id }, body: { name: 'n', roles: ['verifier'] } },
      as('boss'),
    );
    expect((await ask({ host })).tenant?.clients).toContainEqual({
      clientId: added.clientId,
      roles: ['verifier'],
      secrets: [secretId],
    });
    await service.client.call(deleteClient, { params: { tenantId: id, clientId: own.clientId } }, as('boss'));
    expect((await ask({ host })).tenant?.clients).toEqual([
      { clientId: added.clientId, roles: ['verifier'], secrets: [secretId] },
    ]);
    await service.client.call(deleteTenant, { params: { tenantId: id } }, as('boss'));

    await until(() => feed.some(({ data }) => (data as { host?: string }).host === host && feed.at(-1)!.data === data));
    const received = feed.filter(({ data }) => (data as { tenantId: string }).tenantId === id);
    expect(received.map(({ subject, data }) => [subject, data])).toEqual([
      ['event.management.tenant-created', { tenantId: id, environmentId: ENV_ONE, name: 'found', host }],
      ['event.management.client-created', { tenantId: id, clientId: own.clientId, roles: ['admin'] }],
      ['event.management.client-created', { tenantId: id, clientId: added.clientId, roles: ['verifier'] }],
      ['event.management.client-deleted', { tenantId: id, clientId: own.clientId }],
      ['event.management.tenant-deleted', { tenantId: id, host }],
    ]);
  });

  it('contains management clients, and accepts any string as id', async () => {
    const ask = async (clientId: string) =>
      (await service.client.call(lookUpManagementClient, { body: { clientId } }, internal())).exists;
    const { client_id } = JSON.parse(await readFile(join(service.folder, FIRST_MANAGEMENT_CLIENT_FILE), 'utf8')) as {
      client_id: string;
    };
    expect(await ask(client_id)).toBe(true);
    for (const unknown of ['nobody', '__proto__', '\ud800', client_id.slice(1)]) expect(await ask(unknown)).toBe(false);
  });
});

describe('management clients', () => {
  const login = (client_id: string, client_secret: string) =>
    token({ client_id, client_secret, grant_type: 'client_credentials' }, MANAGEMENT);
  const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

  it('have files that only the owner can read', async () => {
    expect(await mode(join(service.folder, FIRST_MANAGEMENT_CLIENT_FILE))).toBe('600');
    expect(await mode(requestFolder(service.folder))).toBe('700');
  });

  it('are registered through the function, with any string as id', async () => {
    const { streams, vault, ids } = service.engines;
    const register = (more: { clientId?: string; secret?: string }) =>
      registerManagementClient(streams, vault.macs, ids, clock, { name: 'X', ...more });
    const made = await register({});
    secrets.add(made.clientSecret);
    await login(made.clientId, made.clientSecret);
    const secret = 'a secret of the operator, 32 characters or more';
    secrets.add(secret);
    for (const clientId of ['ops team + 1', '__proto__', 'ö/%']) {
      await register({ clientId, secret });
      await register({ clientId, secret });
      expect(decodeJwt((await login(clientId, secret)).access_token).sub).toBe(clientId);
      await expect(register({ clientId, secret: 'another secret' })).rejects.toMatchObject({ kind: 'conflict' });
    }
  });

  it('are registered by the running platform from requests in the data folder', async () => {
    const { id, clientId, clientSecret } = await requestManagementClient(service.folder, 'CLI');
    secrets.add(clientSecret);
    expect(await refusal(login(clientId, clientSecret))).toMatchObject({ code: 'access_denied' });
    expect(await mode(requestFile(service.folder, id, 'json'))).toBe('600');
    await until(async () => (await managementClientOutcome(service.folder, id)).status !== 'pending');
    expect(await managementClientOutcome(service.folder, id)).toEqual({ status: 'done' });
    await login(clientId, clientSecret);
    await expect(requestManagementClient(service.folder, ' ')).rejects.toThrow('name');
  });

  it('are not registered from requests that are malformed or name an existing client', async () => {
    const inbox = service.get(ManagementClientInbox);
    const { id, clientId, clientSecret } = await requestManagementClient(service.folder, 'CLI');
    secrets.add(clientSecret);
    await inbox.poll();
    await until(async () => (await managementClientOutcome(service.folder, id)).status === 'done');
    const other = secretDigest('another');
    const requests: [string, string][] = [
      [JSON.stringify({ name: 'thief', client_id: clientId, client_secret_sha256: other }), 'exists'],
      ['{', 'JSON'],
      ['null', 'name'],
      [JSON.stringify({ name: 'n', client_id: '../..', client_secret_sha256: other }), 'client_id'],
      [JSON.stringify({ name: 'n', client_id: clientId, client_secret_sha256: 'x' }), 'client_secret_sha256'],
      [' '.repeat(5000), 'must have at most 4096 characters'],
    ];
    for (const [index, [text, reason]] of requests.entries()) {
      const request = `${index}0000000-0000-4000-8000-000000000000`;
      await writeFile(requestFile(service.folder, request, 'json'), text);
      await until(async () => {
        await inbox.poll();
        return (await managementClientOutcome(service.folder, request)).status !== 'pending';
      });
      expect(await managementClientOutcome(service.folder, request)).toEqual({
        status: 'rejected',
        reason: expect.stringContaining(reason),
      });
    }
    await login(clientId, clientSecret);
    expect((await readdir(requestFolder(service.folder))).filter((file) => /\.(json|tmp)$/.test(file))).toEqual([]);
  });
});

describe('a restart', () => {
  it('keeps all data', async () => {
    const made = await create('kept', 'keeper');
    const file = await readFile(join(service.folder, FIRST_MANAGEMENT_CLIENT_FILE), 'utf8');
    const { client_id, client_secret } = JSON.parse(file) as { client_id: string; client_secret: string };
    const grant_type = 'client_credentials';
    const keysBefore = await service.client.call(retrieveTokenKeys, {}, publicContext());
    await service.restart();
    expect(await readFile(join(service.folder, FIRST_MANAGEMENT_CLIENT_FILE), 'utf8')).toBe(file);
    await token({ client_id, client_secret, grant_type }, MANAGEMENT);
    await token({
      client_id: made.client.clientId,
      client_secret: made.client.clientSecret,
      grant_type,
      audience: made.subdomain,
    });
    expect(await service.client.call(retrieveTokenKeys, {}, publicContext())).toEqual(keysBefore);
    const { data } = (await service.client.call(listTenants, {}, as('keeper'))) as unknown as PageOf<Tenant>;
    expect(data.map(({ id }) => id)).toEqual([made.id]);
    expect(await refusal(create('kept', 'keeper'))).toMatchObject({ details: [{ param: 'subdomain' }] });
    const registrations = (await allEvents()).filter(
      ({ type, data }) => type.startsWith('ManagementClient') && (data as { clientId: string }).clientId === client_id,
    );
    expect(registrations).toHaveLength(1);
  });

  it('applies the configured management client and its new secret', async () => {
    const login = (client_secret: string) =>
      token({ client_id: 'ops@example', client_secret, grant_type: 'client_credentials' }, MANAGEMENT);
    const [old, fresh] = ['o'.repeat(40), 'f'.repeat(40)] as const;
    secrets.add(old).add(fresh);
    for (const secret of [old, fresh]) {
      await service.restart({ settings: { MANAGEMENT_CLIENT_ID: 'ops@example', MANAGEMENT_CLIENT_SECRET: secret } });
      await login(secret);
    }
    expect(await refusal(login(old))).toMatchObject({ code: 'access_denied' });
  });

  it('moves tenants with their environment when its domain changes', async () => {
    await service.restart({ settings: { ENVIRONMENTS: JSON.stringify([environment(ENV_ONE, 'moved.example')]) } });
    const { data } = (await service.client.call(listTenants, {}, as('keeper'))) as unknown as PageOf<Tenant>;
    expect(data.map(({ subdomain: host }) => host)).toEqual(['kept.moved.example']);
    const { tenant: found } = await service.client.call(
      lookUpTenant,
      { body: { host: 'kept.moved.example' } },
      internal(),
    );
    expect(found).toMatchObject({ tenantId: data[0]!.id, host: 'kept.moved.example' });
    await service.restart();
  });
});

describe('secrets', () => {
  it("are in no event and in no file except the operator's", async () => {
    expect(secrets.size).toBeGreaterThan(20);
    const stored = JSON.stringify(await allEvents());
    expect(stored).toContain('"secretMac"');
    await service.close();
    const files = (await readdir(service.folder, { recursive: true, withFileTypes: true })).filter((it) => it.isFile());
    expect(files.length).toBeGreaterThan(5);
    for (const { name, parentPath } of files) {
      const bytes = await readFile(join(parentPath, name));
      for (const secret of secrets)
        if (name !== FIRST_MANAGEMENT_CLIENT_FILE && bytes.includes(secret))
          throw new Error(`a secret stands in ${name}`);
    }
    for (const secret of secrets) {
      expect(stored).not.toContain(secret);
      expect(stored).not.toContain(secretDigest(secret));
    }
    await service.open();
  });
});
