import { memberAccess, memberWith, type Role } from '@attestry/contracts';
import { given } from '@attestry/event-store';
import {
  createClient,
  createTenant,
  deleteClient,
  deleteTenant,
  liveSecrets,
  rotateClientSecret,
  requireClient,
  updateClient,
  updateTenant,
  purgedUpTo,
  purgeTenant,
  MAX_CLIENTS_PER_TENANT,
  requireMember,
  type TenantCaller,
  withdrawTenant,
} from './tenant.decisions.js';
import type { TenantEvent } from './tenant.events.js';
import { tenant, tenantStream, type TenantState } from './tenant.state.js';

const machine = (clientId: string, access = memberWith('tenant:update')): TenantCaller => ({
  kind: 'client',
  clientId,
  access,
});
const now = '2026-03-01T10:00:00.000Z';
const secretMac = { pepper: 'p1', mac: 'm' };
const tenantId = '11111111-1111-4111-8111-111111111111';
const place = { environmentId: 'env', subdomain: 'acme', host: 'acme.example' };

const created: TenantEvent = { type: 'TenantCreated', data: { tenantId, name: 'Acme', ...place, createdAt: now } };
const member = (managementClientId: string, roles: Role[]): TenantEvent => ({
  type: 'MachineMembershipGranted',
  data: { tenantId, managementClientId, roles },
});
const client = (clientId: string, name = 'Default client', roles: Role[] = ['admin']): TenantEvent => ({
  type: 'TenantClientCreated',
  data: { tenantId, clientId, name, roles, secretMac, createdAt: now },
});
const deleted: TenantEvent = { type: 'TenantDeleted', data: { tenantId, ...place } };
const living = [created, member('boss', ['admin']), client('c1')];

describe('purging a tenant', () => {
  const purge = (state: TenantState) => purgeTenant(state, { tenantId }, { now });
  const purged: TenantEvent = { type: 'TenantPurged', data: { tenantId, purgedAt: now } };

  it('purges a deleted tenant, once', () => {
    given(tenant, [...living, deleted])
      .when(purge)
      .then([purged]);
    given(tenant, [...living, deleted, purged])
      .when(purge)
      .then([]);
  });

  it('does not affect active tenants, nor unknown ones', () => {
    given(tenant, living).when(purge).then([]);
    given(tenant, []).when(purge).then([]);
  });

  it('leaves nothing that could be deleted twice', () => {
    given(tenant, [...living, deleted, purged])
      .when((state) => deleteTenant(state, { caller: machine('boss') }))
      .thenThrows('NotFound');
  });

  it('is due after the configured days', () => {
    expect(purgedUpTo(new Date('2026-03-31T10:00:00.000Z'), 30)).toBe(now);
  });
});

describe('tenant', () => {
  const create = (state: TenantState) =>
    createTenant(
      state,
      { tenantId, name: 'Acme', ...place, creator: machine('boss') },
      { clientId: 'c1', secretMac, now },
    );

  it('is created with its creator as admin and a default client, in one append', () => {
    given(tenant, []).when(create).then(living);
  });

  it('is created once', () => {
    given(tenant, living).when(create).thenThrows('Conflict');
    given(tenant, [...living, deleted])
      .when(create)
      .thenThrows('Conflict');
  });

  it('has a stream named after it', () => {
    expect(tenantStream(tenantId)).toBe(`tenant-${tenantId}`);
  });

  it('is accessible only to members, and for changes only to admins', () => {
    const seen = (caller: string) => (state: TenantState) => (requireMember(state, machine(caller, memberAccess)), []);
    const admin = (caller: string) => (state: TenantState) => (requireMember(state, machine(caller)), []);
    const withAuditor = [...living, member('eye', ['auditor'])];
    given(tenant, withAuditor).when(seen('boss')).then([]);
    given(tenant, withAuditor).when(seen('eye')).then([]);
    given(tenant, withAuditor).when(admin('boss')).then([]);
    given(tenant, withAuditor).when(admin('eye')).thenThrows('Forbidden');
    for (const outsider of ['nobody', '', '__proto__', 'constructor', 'c1']) {
      given(tenant, withAuditor).when(seen(outsider)).thenThrows('NotFound');
      given(tenant, withAuditor).when(admin(outsider)).thenThrows('NotFound');
    }
    given(tenant, []).when(seen('boss')).thenThrows('NotFound');
    given(tenant, [...living, deleted])
      .when(admin('boss'))
      .thenThrows('NotFound');
  });

  it('is renamed by an admin; the same name appends nothing, the subdomain is kept', () => {
    const rename =
      (name: string, caller = 'boss') =>
      (state: TenantState) =>
        updateTenant(state, { caller: machine(caller), name });
    const renamed: TenantEvent = { type: 'TenantRenamed', data: { tenantId, name: 'Acme Ltd' } };
    given(tenant, living).when(rename('Acme Ltd')).then([renamed]);
    given(tenant, [...living, renamed])
      .when(rename('Acme Ltd'))
      .then([]);
    const state = [...living, renamed].reduce(tenant.evolve, tenant.initial);
    expect(state).toMatchObject({ name: 'Acme Ltd', subdomain: 'acme', host: 'acme.example' });
    given(tenant, living).when(rename('Mine', 'other')).thenThrows('NotFound');
    given(tenant, [...living, member('eye', ['issuer'])])
      .when(rename('Mine', 'eye'))
      .thenThrows('Forbidden');
    given(tenant, [...living, deleted])
      .when(rename('Late'))
      .thenThrows('NotFound');
  });

  it('lets its admins restrict which roles change its identity, independently of the name', () => {
    const restricted = (restrictIdentityRoles: boolean): TenantEvent => ({
      type: 'TenantIdentityRolesRestrictionChanged',
      data: { tenantId: (living[0] as { data: { tenantId: string } }).data.tenantId, restrictIdentityRoles },
    });
    const change =
      (body: { name?: string; restrictIdentityRoles?: boolean }, caller = 'boss') =>
      (state: TenantState) =>
        updateTenant(state, { caller: machine(caller), ...body });
    expect(living.reduce(tenant.evolve, tenant.initial)).toMatchObject({ restrictIdentityRoles: false });
    given(tenant, living)
      .when(change({ restrictIdentityRoles: true }))
      .then([restricted(true)]);
    given(tenant, living)
      .when(change({ restrictIdentityRoles: false }))
      .then([]);
    given(tenant, [...living, restricted(true)])
      .when(change({ name: 'Acme Ltd' }))
      .then([{ type: 'TenantRenamed', data: { tenantId: restricted(true).data.tenantId, name: 'Acme Ltd' } }]);
    given(tenant, [...living, restricted(true)])
      .when(change({ restrictIdentityRoles: false }))
      .then([restricted(false)]);
    given(tenant, living).when(change({})).thenThrows('BadRequest');
    given(tenant, [...living, member('eye', ['issuer'])])
      .when(change({ restrictIdentityRoles: true }, 'eye'))
      .thenThrows('Forbidden');
    given(tenant, living)
      .when(change({ restrictIdentityRoles: true }, 'other'))
      .thenThrows('NotFound');
    expect([...living, restricted(true)].reduce(tenant.evolve, tenant.initial)).toMatchObject({
      name: expect.any(String),
      restrictIdentityRoles: true,
    });
  });

  it('is deleted once, by an admin', () => {
    const remove = (caller: string) => (state: TenantState) => deleteTenant(state, { caller: machine(caller) });
    given(tenant, living).when(remove('boss')).then([deleted]);
    given(tenant, living).when(remove('boss')).thenState({ status: 'deleted' });
    given(tenant, living).when(remove('other')).thenThrows('NotFound');
    given(tenant, [...living, member('eye', ['issuer'])])
      .when(remove('eye'))
      .thenThrows('Forbidden');
    given(tenant, [...living, deleted])
      .when(remove('boss'))
      .thenThrows('NotFound');
  });

  it('is withdrawn by a creation that lost its subdomain, once', () => {
    given(tenant, living).when(withdrawTenant).then([deleted]);
    given(tenant, [...living, deleted])
      .when(withdrawTenant)
      .then([]);
    given(tenant, []).when(withdrawTenant).then([]);
  });
});

describe('clients of a tenant', () => {
  const facts = { clientId: 'c2', secretMac, now };
  const add =
    (caller = 'boss') =>
    (state: TenantState) =>
      createClient(state, { caller: machine(caller), name: 'Issuer', roles: ['issuer'] }, facts);
  const remove =
    (clientId: string, caller = 'boss') =>
    (state: TenantState) =>
      deleteClient(state, { caller: machine(caller), clientId });

  it('are created by an admin', () => {
    given(tenant, living)
      .when(add())
      .then([client('c2', 'Issuer', ['issuer'])]);
    given(tenant, [...living, member('eye', ['issuer'])])
      .when(add('eye'))
      .thenThrows('Forbidden');
    given(tenant, living).when(add('other')).thenThrows('NotFound');
    given(tenant, [...living, deleted])
      .when(add())
      .thenThrows('NotFound');
    given(tenant, [...living, client('c2')])
      .when(add())
      .thenThrows('Conflict');
  });

  it(`are at most ${MAX_CLIENTS_PER_TENANT}, not counting deleted ones`, () => {
    const more = Array.from({ length: MAX_CLIENTS_PER_TENANT - 1 }, (_, n) => client(`more-${n}`));
    given(tenant, [...living, ...more.slice(1)])
      .when(add())
      .then([client('c2', 'Issuer', ['issuer'])]);
    given(tenant, [...living, ...more])
      .when(add())
      .thenThrows('BadRequest');
    const gone: TenantEvent = { type: 'TenantClientDeleted', data: { tenantId, clientId: 'c1' } };
    given(tenant, [...living, ...more, gone])
      .when(add())
      .then([client('c2', 'Issuer', ['issuer'])]);
  });

  it('are renamed and get other roles by an admin; unchanged values append nothing', () => {
    const update =
      (name: string, roles: Role[], caller = 'boss', clientId = 'c1') =>
      (state: TenantState) =>
        updateClient(state, { caller: machine(caller), clientId, name, roles });
    const renamed: TenantEvent = { type: 'TenantClientRenamed', data: { tenantId, clientId: 'c1', name: 'CI' } };
    const changed = (...roles: Role[]): TenantEvent => ({
      type: 'TenantClientRolesChanged',
      data: { tenantId, clientId: 'c1', roles },
    });
    given(tenant, living)
      .when(update('CI', ['admin']))
      .then([renamed]);
    given(tenant, living)
      .when(update('Default client', ['issuer', 'auditor']))
      .then([changed('issuer', 'auditor')]);
    given(tenant, living)
      .when(update('CI', ['issuer']))
      .then([renamed, changed('issuer')]);
    given(tenant, [...living, renamed, changed('issuer', 'auditor')])
      .when(update('CI', ['auditor', 'issuer']))
      .then([]);
    const look = (caller: string, clientId: string) => (state: TenantState) => (
      requireClient(state, machine(caller), clientId),
      []
    );
    for (const call of [update('CI', ['issuer'], 'other'), update('CI', ['issuer'], 'boss', 'c9'), look('boss', 'c9')])
      given(tenant, living).when(call).thenThrows('NotFound');
    for (const call of [update('CI', ['issuer'], 'eye'), look('eye', 'c1')])
      given(tenant, [...living, member('eye', ['issuer'])])
        .when(call)
        .thenThrows('Forbidden');
    const gone: TenantEvent = { type: 'TenantClientDeleted', data: { tenantId, clientId: 'c1' } };
    given(tenant, [...living, gone])
      .when(update('CI', ['issuer']))
      .thenThrows('NotFound');
  });

  describe('get a new secret', () => {
    const later = (seconds: number) => new Date(Date.parse(now) + seconds * 1000).toISOString();
    const mac = (value: string) => ({ pepper: 'p1', mac: value });
    const rotate =
      (value: string, overlapSeconds: number, { at = now, caller = 'boss', clientId = 'c1' } = {}) =>
      (state: TenantState) =>
        rotateClientSecret(
          state,
          { caller: machine(caller), clientId, overlapSeconds },
          { secretMac: mac(value), now: at },
        );
    const rotated = (value: string, rotatedAt: string, previousExpiresAt?: string): TenantEvent => ({
      type: 'TenantClientSecretRotated',
      data: {
        tenantId,
        clientId: 'c1',
        secretMac: mac(value),
        rotatedAt,
        ...(previousExpiresAt !== undefined && { previousExpiresAt }),
      },
    });
    /** The secrets that are good at a time, after these events. */
    const good = (events: TenantEvent[], at: string): string[] => {
      const state = events.reduce(tenant.evolve, tenant.initial);
      return state.status === 'active' ? liveSecrets(state.clients.get('c1')!, at).map((it) => it.mac) : [];
    };

    it('while the previous one is valid until the end of the overlap, and not longer', () => {
      given(tenant, living)
        .when(rotate('m2', 60))
        .then([rotated('m2', now, later(60))]);
      const history = [...living, rotated('m2', now, later(60))];
      expect(good(history, now)).toEqual(['m2', 'm']);
      expect(good(history, later(59.999))).toEqual(['m2', 'm']);
      expect(good(history, later(60))).toEqual(['m2']);
    });

    it('while the previous one ends at once, without an overlap', () => {
      given(tenant, living)
        .when(rotate('m2', 0))
        .then([rotated('m2', now)]);
      expect(good([...living, rotated('m2', now)], now)).toEqual(['m2']);
    });

    it('and never have a third: the oldest ends early', () => {
      const history = [...living, rotated('m2', now, later(600))];
      given(tenant, history)
        .when(rotate('m3', 60, { at: later(10) }))
        .then([rotated('m3', later(10), later(70))]);
      expect(good([...history, rotated('m3', later(10), later(70))], later(10))).toEqual(['m3', 'm2']);
      expect(good([...history, rotated('m3', later(10))], later(10))).toEqual(['m3']);
    });

    it('and keep it through other changes', () => {
      const renamed: TenantEvent = { type: 'TenantClientRenamed', data: { tenantId, clientId: 'c1', name: 'CI' } };
      const changed: TenantEvent = {
        type: 'TenantClientRolesChanged',
        data: { tenantId, clientId: 'c1', roles: ['issuer'] },
      };
      expect(good([...living, rotated('m2', now, later(60)), renamed, changed], now)).toEqual(['m2', 'm']);
    });

    it('from an admin, while they exist', () => {
      given(tenant, living)
        .when(rotate('m2', 0, { clientId: 'c9' }))
        .thenThrows('NotFound');
      given(tenant, living)
        .when(rotate('m2', 0, { caller: 'other' }))
        .thenThrows('NotFound');
      given(tenant, [...living, member('eye', ['issuer'])])
        .when(rotate('m2', 0, { caller: 'eye' }))
        .thenThrows('Forbidden');
      const gone: TenantEvent = { type: 'TenantClientDeleted', data: { tenantId, clientId: 'c1' } };
      given(tenant, [...living, gone])
        .when(rotate('m2', 0))
        .thenThrows('NotFound');
    });
  });

  it('are deleted by an admin, the last one too, and once', () => {
    const gone: TenantEvent = { type: 'TenantClientDeleted', data: { tenantId, clientId: 'c1' } };
    given(tenant, living).when(remove('c1')).then([gone]);
    given(tenant, [...living, gone])
      .when(remove('c1'))
      .thenThrows('NotFound');
    given(tenant, living).when(remove('c9')).thenThrows('NotFound');
    given(tenant, living).when(remove('c1', 'other')).thenThrows('NotFound');
    given(tenant, [...living, member('eye', ['issuer'])])
      .when(remove('c1', 'eye'))
      .thenThrows('Forbidden');
  });
});

describe('the refusal of a change to a tenant', () => {
  const stateOf = (events: TenantEvent[]) => events.reduce(tenant.evolve, tenant.initial);
  const facts = { clientId: 'c1', secretMac, now };
  const caller = machine('boss');
  const full = Array.from({ length: MAX_CLIENTS_PER_TENANT - 1 }, (_, n) => client(`full${n}`));

  it.each<[string, () => unknown, object]>([
    [
      'the tenant already exists',
      () => createTenant(stateOf(living), { tenantId, name: 'Acme', ...place, creator: caller }, facts),
      { kind: 'conflict', message: 'The tenant already exists' },
    ],
    [
      'the client already exists',
      () => createClient(stateOf(living), { caller, name: 'Twin', roles: ['issuer'] }, facts),
      { kind: 'conflict', message: 'The client already exists' },
    ],
    [
      'the tenant has too many clients',
      () =>
        createClient(
          stateOf([...living, ...full]),
          { caller, name: 'One more', roles: ['issuer'] },
          { ...facts, clientId: 'new' },
        ),
      { details: [{ param: 'tenantId', location: 'params', msg: 'a tenant can have at most 100 clients' }] },
    ],
    [
      'the request has no member to change',
      () => updateTenant(stateOf(living), { caller }),
      { details: [{ param: 'name', location: 'body', msg: 'must be given when restrictIdentityRoles is not' }] },
    ],
  ])('states that %s', (_, act, fault) => expect(act).toThrow(expect.objectContaining(fault)));

  it('compares the roles of a client as sets, so that fewer and more are a change', () => {
    const state = stateOf([...living, client('c2', 'Two', ['issuer', 'auditor'])]);
    const update = (roles: Role[]) => updateClient(state, { caller, clientId: 'c2', name: 'Two', roles });
    expect(update(['auditor', 'issuer'])).toEqual([]);
    expect(update(['issuer'])).toHaveLength(1);
    expect(update(['issuer', 'admin'])).toHaveLength(1);
  });

  it('leaves one valid secret after the overlap', () => {
    const rotated = stateOf([
      ...living,
      ...rotateClientSecret(
        stateOf(living),
        { caller, clientId: 'c1', overlapSeconds: 60 },
        { ...facts, secretMac: { pepper: 'p1', mac: 'new' } },
      ),
    ]);
    const seen = requireClient(rotated, caller, 'c1');
    expect(liveSecrets(seen, now)).toEqual([{ pepper: 'p1', mac: 'new' }, secretMac]);
    expect(liveSecrets(seen, '2026-03-01T10:01:00.000Z')).toEqual([{ pepper: 'p1', mac: 'new' }]);
  });
});
