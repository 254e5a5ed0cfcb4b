import { memberAccess, memberWith, type Role } from '@attestry/contracts';
import { given, stateAfter } from '@attestry/event-store';
import {
  acceptInvitation,
  cancelInvitation,
  INVITATION_MS,
  inviteMember,
  MAX_MEMBERS_PER_TENANT,
  memberStatus,
  removeMember,
  resendInvitation,
  seenMember,
  updateMembership,
} from './membership.decisions.js';
import { createTenant, requireMember, type TenantCaller } from './tenant.decisions.js';
import type { TenantEvent } from './tenant.events.js';
import { tenant, type TenantState } from './tenant.state.js';

const now = '2026-03-01T10:00:00.000Z';
const later = (ms: number) => new Date(Date.parse(now) + ms).toISOString();
const expiresAt = '2026-03-06T10:00:00.000Z';
const secretMac = { pepper: 'p1', mac: 'm' };
const tenantId = '11111111-1111-4111-8111-111111111111';
const place = { environmentId: 'env', subdomain: 'acme', host: 'acme.example' };
const access = memberWith('tenant-members:update');
const user = (userId: string): TenantCaller => ({ kind: 'user', userId, access });
const machine = (clientId: string): TenantCaller => ({ kind: 'client', clientId, access });
const anyMember = <C extends TenantCaller>(caller: C): C => ({ ...caller, access: memberAccess });
const orSelf = <C extends TenantCaller>(caller: C): C => ({
  ...caller,
  access: memberWith('tenant-members:delete', 'orSelf'),
});

const created: TenantEvent = { type: 'TenantCreated', data: { tenantId, name: 'Acme', ...place, createdAt: now } };
const machineMember = (managementClientId: string, roles: Role[]): TenantEvent => ({
  type: 'MachineMembershipGranted',
  data: { tenantId, managementClientId, roles },
});
const added = (userId: string, roles: Role[] = ['admin']): TenantEvent => ({
  type: 'MemberAdded',
  data: { tenantId, userId, roles, addedAt: now },
});
const invited = (userId: string, invitationId = 'i1', roles: Role[] = ['issuer']): TenantEvent => ({
  type: 'MemberInvited',
  data: { tenantId, userId, roles, invitationId, invitedAt: now, expiresAt, secretMac, sealedSecret: 'sealed' },
});
const accepted = (userId: string, acceptedBy = userId, invitationId = 'i1'): TenantEvent => ({
  type: 'InvitationAccepted',
  data: { tenantId, userId, invitationId, acceptedBy, acceptedAt: now },
});
const removed = (userId: string): TenantEvent => ({ type: 'MemberRemoved', data: { tenantId, userId } });
const deleted: TenantEvent = { type: 'TenantDeleted', data: { tenantId, ...place } };
const living = [created, added('ann')];

describe('a tenant that a person creates', () => {
  it('has that person as admin, and no machine client', () => {
    const create = (state: TenantState) =>
      createTenant(
        state,
        { tenantId, name: 'Acme', ...place, creator: user('ann') },
        { clientId: 'c', secretMac, now },
      );
    const client: TenantEvent = {
      type: 'TenantClientCreated',
      data: { tenantId, clientId: 'c', name: 'Default client', roles: ['admin'], secretMac, createdAt: now },
    };
    given(tenant, [])
      .when(create)
      .then([created, added('ann'), client]);
  });

  it('distinguishes people and machine clients', () => {
    const seen = (caller: TenantCaller) => (state: TenantState) => (requireMember(state, anyMember(caller)), []);
    given(tenant, living)
      .when(seen(user('ann')))
      .then([]);
    given(tenant, living)
      .when(seen(machine('ann')))
      .thenThrows('NotFound');
    const byMachine = [created, machineMember('boss', ['admin'])];
    given(tenant, byMachine)
      .when(seen(machine('boss')))
      .then([]);
    given(tenant, byMachine)
      .when(seen(user('boss')))
      .thenThrows('NotFound');
  });

  it('is not visible to invited people who have not accepted, nor to removed members', () => {
    const seen = (caller: TenantCaller) => (state: TenantState) => (requireMember(state, anyMember(caller)), []);
    const admin = (caller: TenantCaller) => (state: TenantState) => (requireMember(state, caller), []);
    given(tenant, [...living, invited('bob')])
      .when(seen(user('bob')))
      .thenThrows('NotFound');
    given(tenant, [...living, invited('bob'), accepted('bob')])
      .when(seen(user('bob')))
      .then([]);
    given(tenant, [...living, invited('bob'), accepted('bob')])
      .when(admin(user('bob')))
      .thenThrows('Forbidden');
    given(tenant, [...living, added('bob'), removed('bob')])
      .when(seen(user('bob')))
      .thenThrows('NotFound');
  });
});

describe('an invitation', () => {
  const invite =
    (over: { caller?: TenantCaller; userId?: string; registered?: boolean; at?: string; invitationId?: string } = {}) =>
    (state: TenantState) => {
      const { caller = user('ann'), userId = 'bob', registered = false, at = now, invitationId = 'i1' } = over;
      const facts = { registered, invitationId, secretMac, sealedSecret: 'sealed', now: at };
      return inviteMember(state, { caller, userId, roles: ['issuer'] }, facts);
    };

  it('makes an unknown person pending for five days', () => {
    given(tenant, living)
      .when(invite())
      .then([invited('bob')]);
    expect(Date.parse(expiresAt) - Date.parse(now)).toBe(INVITATION_MS);
    const member = { status: 'invited', roles: ['issuer'] as Role[], inviteExpiresAt: expiresAt } as const;
    const pending = { ...member, invitationId: 'i1', secretMac };
    expect(memberStatus(pending, now)).toBe('Pending');
    expect(memberStatus(pending, later(INVITATION_MS - 1))).toBe('Pending');
    expect(memberStatus(pending, later(INVITATION_MS))).toBe('Expired');
    expect(memberStatus({ status: 'active', roles: [] }, later(10 * INVITATION_MS))).toBe('Active');
  });

  it('adds a registered user at once, also one whose invitation is pending', () => {
    const withExpiry: TenantEvent = {
      type: 'MemberAdded',
      data: { tenantId, userId: 'bob', roles: ['issuer'], addedAt: now, inviteExpiresAt: expiresAt },
    };
    given(tenant, living)
      .when(invite({ registered: true }))
      .then([withExpiry]);
    given(tenant, [...living, invited('bob')])
      .when(invite({ registered: true }))
      .then([withExpiry]);
  });

  it('is allowed for admins: people and the machine client that created the tenant', () => {
    given(tenant, [...living, added('eve', ['issuer'])])
      .when(invite({ caller: user('eve') }))
      .thenThrows('Forbidden');
    given(tenant, living)
      .when(invite({ caller: user('stranger') }))
      .thenThrows('NotFound');
    given(tenant, [...living, invited('eve', 'i0', ['admin'])])
      .when(invite({ caller: user('eve') }))
      .thenThrows('NotFound');
    given(tenant, [created, machineMember('boss', ['admin'])])
      .when(invite({ caller: machine('boss') }))
      .then([invited('bob')]);
    given(tenant, [...living, machineMember('eye', ['auditor'])])
      .when(invite({ caller: machine('eye') }))
      .thenThrows('Forbidden');
    given(tenant, [...living, deleted])
      .when(invite())
      .thenThrows('NotFound');
  });

  it('is refused for an existing member', () => {
    given(tenant, living)
      .when(invite({ userId: 'ann' }))
      .thenThrows('BadRequest');
    given(tenant, [...living, invited('bob'), accepted('bob')])
      .when(invite())
      .thenThrows('BadRequest');
  });

  it(`is refused beyond ${MAX_MEMBERS_PER_TENANT} members, but may be repeated`, () => {
    const others = Array.from({ length: MAX_MEMBERS_PER_TENANT - 2 }, (_, n) => added(`m${n}`, ['issuer']));
    given(tenant, [...living, ...others])
      .when(invite())
      .then([invited('bob')]);
    given(tenant, [...living, ...others, invited('bob', 'i0')])
      .when(invite())
      .then([invited('bob')]);
    given(tenant, [...living, ...others, added('zoe')])
      .when(invite())
      .thenThrows('BadRequest');
  });

  const accept =
    (over: { acceptedBy?: string; invitationId?: string; genuine?: boolean; registered?: boolean; at?: string } = {}) =>
    (state: TenantState) => {
      const { acceptedBy = 'bob', invitationId = 'i1', genuine = true, registered = false, at = now } = over;
      const facts = { isGenuine: () => genuine, registered, now: at };
      return acceptInvitation(state, { userId: 'bob', invitationId, acceptedBy }, facts);
    };
  const open = [...living, invited('bob')];

  const cancelled: TenantEvent = {
    type: 'InvitationCancelled',
    data: { tenantId, userId: 'bob', invitationId: 'i1' },
  };

  it('is resent with its roles: a new link and five more days, and the old link is invalid', () => {
    const resend =
      (over: { caller?: TenantCaller; registered?: boolean; at?: string } = {}) =>
      (state: TenantState) => {
        const { caller = user('ann'), registered = false, at = now } = over;
        const facts = { registered, invitationId: 'i2', secretMac, sealedSecret: 'sealed', now: at };
        return resendInvitation(state, { caller, userId: 'bob' }, facts);
      };
    given(tenant, open)
      .when(resend())
      .then([invited('bob', 'i2')]);
    // Expired ones too.
    const at = later(2 * INVITATION_MS);
    const data = {
      tenantId,
      userId: 'bob',
      roles: ['issuer'] as Role[],
      invitedAt: at,
      expiresAt: later(3 * INVITATION_MS),
    };
    given(tenant, open)
      .when(resend({ at }))
      .then([{ type: 'MemberInvited', data: { ...data, invitationId: 'i2', secretMac, sealedSecret: 'sealed' } }]);
    given(tenant, [...open, invited('bob', 'i2')])
      .when(accept())
      .thenThrows('BadRequest');
    given(tenant, [...open, invited('bob', 'i2')])
      .when(accept({ invitationId: 'i2' }))
      .then([accepted('bob', 'bob', 'i2')]);
    // A user who has registered meanwhile needs no link.
    given(tenant, open)
      .when(resend({ registered: true }))
      .then([
        {
          type: 'MemberAdded',
          data: { tenantId, userId: 'bob', roles: ['issuer'], addedAt: now, inviteExpiresAt: expiresAt },
        },
      ]);
    for (const history of [living, [...open, cancelled], [...open, removed('bob')], [...open, deleted]])
      given(tenant, history).when(resend()).thenThrows('NotFound');
    given(tenant, [...open, accepted('bob')])
      .when(resend())
      .thenThrows('BadRequest');
    given(tenant, [...open, added('eve', ['issuer'])])
      .when(resend({ caller: user('eve') }))
      .thenThrows('Forbidden');
    given(tenant, open)
      .when(resend({ caller: user('bob') }))
      .thenThrows('NotFound');
  });

  it('can be cancelled until it is accepted: its link is invalid, and the invited person is removed', () => {
    const cancel =
      (caller: TenantCaller = user('ann')) =>
      (state: TenantState) =>
        cancelInvitation(state, { caller, userId: 'bob' });
    given(tenant, open).when(cancel()).then([cancelled]);
    given(tenant, [...open, cancelled])
      .when(accept())
      .thenThrows('BadRequest');
    const after = [...open, cancelled].reduce(tenant.evolve, tenant.initial);
    expect(after.status === 'active' && [...after.members.keys()]).toEqual(['ann']);
    for (const history of [living, [...open, cancelled], [...open, deleted]])
      given(tenant, history).when(cancel()).thenThrows('NotFound');
    for (const history of [
      [...open, accepted('bob')],
      [...living, added('bob')],
    ])
      given(tenant, history).when(cancel()).thenThrows('BadRequest');
    given(tenant, [...open, added('eve', ['issuer'])])
      .when(cancel(user('eve')))
      .thenThrows('Forbidden');
    given(tenant, open)
      .when(cancel(user('stranger')))
      .thenThrows('NotFound');
    // Invited again there is another one.
    given(tenant, [...open, cancelled])
      .when(invite({ invitationId: 'i2' }))
      .then([invited('bob', 'i2')]);
  });

  it('is accepted once, in time, with its own secret', () => {
    given(tenant, open)
      .when(accept())
      .then([accepted('bob')]);
    given(tenant, [...open, accepted('bob')])
      .when(accept())
      .thenThrows('BadRequest');
    given(tenant, open)
      .when(accept({ genuine: false }))
      .thenThrows('BadRequest');
    given(tenant, open)
      .when(accept({ at: later(INVITATION_MS) }))
      .thenThrows('BadRequest');
    given(tenant, open)
      .when(accept({ at: later(INVITATION_MS - 1) }))
      .then([
        {
          type: 'InvitationAccepted',
          data: {
            tenantId,
            userId: 'bob',
            invitationId: 'i1',
            acceptedBy: 'bob',
            acceptedAt: later(INVITATION_MS - 1),
          },
        },
      ]);
    for (const ended of [removed('bob'), deleted])
      given(tenant, [...open, ended])
        .when(accept())
        .thenThrows('BadRequest');
    given(tenant, []).when(accept()).thenThrows('BadRequest');
  });

  it('is invalid when a new one is sent', () => {
    const again = [...open, invited('bob', 'i2')];
    given(tenant, again).when(accept()).thenThrows('BadRequest');
    given(tenant, again)
      .when(accept({ invitationId: 'i2' }))
      .then([accepted('bob', 'bob', 'i2')]);
  });

  it('can be accepted as another user only while the invited one has never registered', () => {
    given(tenant, open)
      .when(accept({ acceptedBy: 'bobby' }))
      .then([accepted('bob', 'bobby')]);
    given(tenant, open)
      .when(accept({ acceptedBy: 'bobby', registered: true }))
      .thenThrows('BadRequest');
    given(tenant, open)
      .when(accept({ registered: true }))
      .then([accepted('bob')]);
    given(tenant, open)
      .when(accept({ acceptedBy: 'ann' }))
      .thenThrows('BadRequest');
    const seen = (id: string) => (state: TenantState) => (requireMember(state, anyMember(user(id))), []);
    given(tenant, [...open, accepted('bob', 'bobby')])
      .when(seen('bobby'))
      .then([]);
    given(tenant, [...open, accepted('bob', 'bobby')])
      .when(seen('bob'))
      .thenThrows('NotFound');
  });
});

describe('a membership', () => {
  const update =
    (userId: string, roles: Role[], caller: TenantCaller = user('ann')) =>
    (state: TenantState) =>
      updateMembership(state, { caller, userId, roles });
  const remove =
    (userId: string, caller: TenantCaller = user('ann')) =>
    (state: TenantState) =>
      removeMember(state, { caller: orSelf(caller), userId });
  const changed = (userId: string, roles: Role[]): TenantEvent => ({
    type: 'MemberRolesChanged',
    data: { tenantId, userId, roles },
  });
  const two = [...living, added('bob', ['issuer'])];

  it('is shown to admins and to the member', () => {
    const seen = (caller: TenantCaller, userId: string) => (state: TenantState) => (
      seenMember(state, orSelf(caller), userId),
      []
    );
    given(tenant, two)
      .when(seen(user('ann'), 'bob'))
      .then([]);
    given(tenant, two)
      .when(seen(user('bob'), 'bob'))
      .then([]);
    given(tenant, two)
      .when(seen(user('bob'), 'ann'))
      .thenThrows('Forbidden');
    given(tenant, two)
      .when(seen(user('bob'), 'nobody'))
      .thenThrows('Forbidden');
    given(tenant, two)
      .when(seen(user('ann'), 'nobody'))
      .thenThrows('NotFound');
    given(tenant, two)
      .when(seen(user('eve'), 'bob'))
      .thenThrows('NotFound');
  });

  it('gets other roles from an admin', () => {
    given(tenant, two)
      .when(update('bob', ['auditor']))
      .then([changed('bob', ['auditor'])]);
    given(tenant, two)
      .when(update('bob', ['issuer']))
      .then([]);
    given(tenant, two)
      .when(update('bob', ['admin'], user('bob')))
      .thenThrows('Forbidden');
    given(tenant, two)
      .when(update('bob', ['admin'], user('eve')))
      .thenThrows('NotFound');
    given(tenant, two)
      .when(update('nobody', ['admin']))
      .thenThrows('NotFound');
    given(tenant, [...living, invited('bob')])
      .when(update('bob', ['admin']))
      .then([changed('bob', ['admin'])]);
  });

  it('is ended by an admin or by the member, once', () => {
    given(tenant, two)
      .when(remove('bob'))
      .then([removed('bob')]);
    given(tenant, two)
      .when(remove('bob', user('bob')))
      .then([removed('bob')]);
    given(tenant, two)
      .when(remove('ann', user('bob')))
      .thenThrows('Forbidden');
    given(tenant, [...two, removed('bob')])
      .when(remove('bob'))
      .thenThrows('NotFound');
    given(tenant, [...living, invited('bob')])
      .when(remove('bob'))
      .then([removed('bob')]);
  });

  it('of the last admin neither ends nor loses that role, unless a machine client is admin too', () => {
    for (const history of [
      two,
      [...two, machineMember('eye', ['auditor'])],
      [...living, invited('bob', 'i', ['admin'])],
    ]) {
      given(tenant, history).when(remove('ann')).thenThrows('BadRequest');
      given(tenant, history)
        .when(update('ann', ['issuer']))
        .thenThrows('BadRequest');
      given(tenant, history)
        .when(update('ann', ['issuer', 'admin']))
        .then([changed('ann', ['issuer', 'admin'])]);
    }
    for (const other of [machineMember('boss', ['admin']), added('zoe')]) {
      given(tenant, [...two, other])
        .when(remove('ann'))
        .then([removed('ann')]);
      given(tenant, [...two, other])
        .when(update('ann', ['issuer']))
        .then([changed('ann', ['issuer'])]);
    }
  });
});

describe('the refusal of a membership change', () => {
  const stateOf = (events: TenantEvent[]) => events.reduce(tenant.evolve, tenant.initial);
  const facts = { registered: false, invitationId: 'i2', secretMac, sealedSecret: 'sealed', now };
  const invite = (events: TenantEvent[], userId: string) => () =>
    inviteMember(stateOf(events), { caller: user('ann'), userId, roles: ['issuer'] }, facts);
  const accept =
    (events: TenantEvent[], over: { acceptedBy?: string; registered?: boolean; at?: string } = {}) =>
    () =>
      acceptInvitation(
        stateOf(events),
        { userId: 'bob', invitationId: 'i1', acceptedBy: over.acceptedBy ?? 'bob' },
        { isGenuine: () => true, registered: over.registered ?? false, now: over.at ?? now },
      );
  const pending = [...living, invited('bob')];
  const full = Array.from({ length: MAX_MEMBERS_PER_TENANT - 1 }, (_, n) => added(`m${n}`, ['issuer']));

  it.each<[string, () => unknown, object]>([
    ['a member is invited', invite(living, 'ann'), { param: 'email', location: 'body', msg: 'is already a member' }],
    [
      'the tenant is full',
      invite([...living, ...full], 'bob'),
      { param: 'tenantId', location: 'params', msg: 'a tenant can have at most 1000 members' },
    ],
    [
      'the invitation of a member is resent',
      () => resendInvitation(stateOf(living), { caller: user('ann'), userId: 'ann' }, facts),
      { param: 'userId', location: 'params', value: 'ann', msg: 'is already a member' },
    ],
    [
      'the user has no open invitation',
      accept(living),
      { param: 'token', location: 'body', msg: 'must be the token of an open invitation' },
    ],
    [
      'the tenant was deleted',
      accept([...pending, deleted]),
      { param: 'token', location: 'body', msg: 'must be the token of an open invitation' },
    ],
    [
      'the invitation has expired',
      accept(pending, { at: expiresAt }),
      { param: 'token', location: 'body', msg: 'has expired; ask the sender for a new invitation' },
    ],
    [
      'a registered user accepts the invitation of another user',
      accept(pending, { acceptedBy: 'eve', registered: true }),
      { param: 'token', location: 'body', msg: 'is for another user' },
    ],
    [
      'a member accepts an invitation',
      accept(pending, { acceptedBy: 'ann' }),
      { param: 'token', location: 'body', msg: 'can only be used by someone who is not yet a member' },
    ],
    [
      'the last admin would lose the role',
      () => updateMembership(stateOf(living), { caller: user('ann'), userId: 'ann', roles: ['issuer'] }),
      { param: 'roles', location: 'body', msg: 'must include admin, because the tenant has no other admin' },
    ],
    [
      'the last admin would be removed',
      () => removeMember(stateOf(living), { caller: orSelf(user('ann')), userId: 'ann' }),
      { param: 'userId', location: 'params', value: 'ann', msg: 'must not be the last admin of the tenant' },
    ],
  ])('names the reason when %s', (_, act, detail) =>
    expect(act).toThrow(expect.objectContaining({ kind: 'invalid', details: [detail] })),
  );

  it('compares roles as sets, so that fewer and more are a change', () => {
    const both = stateOf([...living, added('bob', ['issuer', 'auditor'])]);
    const update = (roles: Role[]) => updateMembership(both, { caller: user('ann'), userId: 'bob', roles });
    expect(update(['auditor', 'issuer'])).toEqual([]);
    expect(update(['issuer'])).toHaveLength(1);
    expect(update(['issuer', 'admin'])).toHaveLength(1);
  });

  it('does not confuse a client with a user of the same id', () => {
    const state = stateOf([...living, machineMember('bob', ['auditor']), added('bob', ['issuer'])]);
    expect(() => seenMember(state, orSelf(machine('bob')), 'bob')).toThrow(
      expect.objectContaining({ kind: 'forbidden' }),
    );
  });
});

describe('the refusal of a member without the role admin', () => {
  it('names the role', () => {
    const state = stateAfter(tenant, [...living, added('bob', ['issuer'])]);
    const message = 'The caller needs the role admin on the tenant';
    expect(() => seenMember(state, orSelf(user('bob')), 'ann')).toThrow(message);
    expect(() => requireMember(state, user('bob'))).toThrow(message);
  });
});
