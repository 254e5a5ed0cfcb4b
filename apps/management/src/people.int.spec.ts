/** @engines embedded postgres */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLocalJWKSet, decodeJwt, jwtVerify, type JSONWebKeySet } from 'jose';
import PostalMime from 'postal-mime';
import {
  acceptInvitation,
  admitUser,
  cancelInvitation,
  createClient,
  createTenant,
  deleteMembership,
  deleteTenant,
  inviteMember,
  issueMemberToken,
  listClients,
  listInvitations,
  listMembers,
  listTenantEvents,
  listTenants,
  lookUpMember,
  memberInvited,
  resendInvitation,
  retrieveMember,
  retrieveTenant,
  retrieveTokenKeys,
  retrieveUserInformation,
  updateMembership,
  updateTenant,
  updateUserInformation,
  type CreatedTenant,
  type Invitation,
  type ManagementContext,
  type Member,
  type PageOf,
  type Role,
  type Tenant,
} from '@attestry/contracts';
import { PLATFORM } from '@attestry/keys';
import { refusal, ServiceUnderTest, stoppedClock } from '@attestry/testing/services';
import { managementService } from './index.js';
import { tenant, tenantStream } from './tenants/tenant/tenant.state.js';

const DAY_MS = 24 * 3_600_000;
const clock = stoppedClock();
const service = new ServiceUnderTest(managementService, {
  settings: { BASE_DOMAIN: 'one.example' },
  clock,
  // The invited person in the integration event.
  subjects: [memberInvited.subject],
});
const { messages: feed } = service;

let environmentId: string;
/** Values that no event may contain in plain text. */
const personal = new Set<string>();
const secrets = new Set<string>();
let counter = 0;

beforeAll(async () => {
  await service.open();
  environmentId = service.config.environments[0]!.id;
}, 120_000);
afterAll(() => service.remove());

const { asManagement: context } = service;
const user = (userId: string) => context({ kind: 'user', userId });
const machine = (clientId: string) => context({ kind: 'management', clientId });
const gateway = () => machine('unused');

interface Claims {
  issuer?: string;
  email?: string;
  emailVerified?: boolean;
  name?: string;
}
const admit = async (subject: string, claims: Claims = {}): Promise<string> => {
  for (const value of [claims.email, claims.name]) if (value) personal.add(value);
  const body = { issuer: 'https://login.example', subject, ...claims };
  return (await service.client.call(admitUser, { body }, gateway())).userId;
};
const unique = (stem: string) => `${stem}${(++counter).toString(36)}`;
const freshEmail = () => {
  const email = `${unique('someone-')}@people.example`;
  personal.add(email);
  return email;
};
const newPerson = async (name?: string) => {
  const email = freshEmail();
  const userId = await admit(unique('sub-'), { email, emailVerified: true, ...(name && { name }) });
  return { userId, email };
};
const create = (by: ManagementContext): Promise<CreatedTenant> =>
  service.client.call(createTenant, { body: { subdomain: unique('tenant-'), environmentId } }, by);
const invite = (tenantId: string, email: string, roles: Role[], by: ManagementContext) =>
  service.client.call(inviteMember, { params: { tenantId }, body: { email, roles } }, by);
const members = (tenantId: string, by: ManagementContext, query: { limit?: number; cursor?: string } = {}) =>
  service.client.call(listMembers, { params: { tenantId }, query }, by) as unknown as Promise<PageOf<Member>>;
const member = (tenantId: string, userId: string, by: ManagementContext) =>
  service.client.call(retrieveMember, { params: { tenantId, userId } }, by);
const tenantsOf = async (by: ManagementContext) =>
  ((await service.client.call(listTenants, {}, by)) as unknown as PageOf<Tenant>).data;
const accept = (token: string, by: ManagementContext) =>
  service.client.call(acceptInvitation, { body: { token } }, by as ReturnType<typeof user>);
const badToken = { kind: 'invalid', code: 'BadRequest', details: [{ param: 'token', location: 'body' }] };
const eventsOf = () => service.events();
/** Lists follow from projections, at most 10 s later on a busy machine (ADR 0057). */
const eventually = async (check: () => Promise<void>): Promise<void> => {
  const end = Date.now() + 10_000;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
};
/** The token in the link of the newest invitation, from the e-mail in the data folder. */
const linkOf = async (tenantId: string, userId: string): Promise<string> => {
  const { state } = await service.engines.streams.load(tenant, tenantStream(tenantId));
  const member = state.status === 'active' ? state.members.get(userId) : undefined;
  if (member?.status !== 'invited') throw new Error('is not invited');
  let token: string | null | undefined;
  await eventually(async () => {
    const mail = await PostalMime.parse(await readFile(join(service.folder, 'mail', `${member.invitationId}.eml`)));
    token = new URL(/^http\S+$/m.exec(mail.text ?? '')![0]).searchParams.get('token');
  });
  secrets.add(token!.split('.').at(-1)!);
  return token!;
};

describe('a person', () => {
  it('is one user by issuer and subject, whatever the other claims are [M22]', async () => {
    const first = await admit('ada', { email: 'Ada@People.example', emailVerified: true, name: 'Ada Lovelace' });
    expect(await admit('ada', { email: 'ada@people.example', emailVerified: true })).toBe(first);
    expect(await admit('ada')).toBe(first);
    expect(await admit('ada', { issuer: 'https://other.example' })).not.toBe(first);
    expect(await service.client.call(retrieveUserInformation, {}, user(first))).toEqual({
      id: first,
      email: 'ada@people.example',
      name: 'Ada Lovelace',
      pricingPlan: { type: 'Standard' },
      status: 'Active',
    });
  });

  it('is one user also after ten concurrent first calls', async () => {
    const claims = { email: freshEmail(), emailVerified: true };
    const seen = await Promise.all(Array.from({ length: 10 }, () => admit('many', claims)));
    expect(new Set(seen).size).toBe(1);
    expect((await service.client.call(retrieveUserInformation, {}, user(seen[0]!))).email).toBe(claims.email);
  });

  it('has an e-mail address only when it is verified, valid, and not used by another user', async () => {
    const { email } = await newPerson();
    for (const claims of [
      { email: freshEmail() },
      { email: freshEmail(), emailVerified: false },
      { email: 'no address', emailVerified: true },
      { email, emailVerified: true },
    ]) {
      const userId = await admit(unique('sub-'), claims);
      expect(await service.client.call(retrieveUserInformation, {}, user(userId))).toMatchObject({ email: '' });
    }
  });

  it('changes to another verified e-mail address, and releases the old one', async () => {
    const before = freshEmail();
    const after = freshEmail();
    const userId = await admit('mover', { email: before, emailVerified: true });
    await admit('mover', { email: after, emailVerified: false });
    expect((await service.client.call(retrieveUserInformation, {}, user(userId))).email).toBe(before);
    await admit('mover', { email: after, emailVerified: true });
    expect((await service.client.call(retrieveUserInformation, {}, user(userId))).email).toBe(after);
    const heir = await admit('heir', { email: before, emailVerified: true });
    expect(heir).not.toBe(userId);
    expect((await service.client.call(retrieveUserInformation, {}, user(heir))).email).toBe(before);
  });

  it('changes the name, and nothing else [M23]', async () => {
    const { userId, email } = await newPerson('Grace');
    personal.add('Rear Admiral Hopper');
    const updated = await service.client.call(
      updateUserInformation,
      { body: { name: ' Rear Admiral Hopper ' } },
      user(userId),
    );
    expect(updated).toEqual({
      id: userId,
      email,
      name: 'Rear Admiral Hopper',
      pricingPlan: { type: 'Standard' },
      status: 'Active',
    });
    expect(await service.client.call(retrieveUserInformation, {}, user(userId))).toEqual(updated);
    for (const name of ['', '  ', 7, 'a\u0000b', undefined])
      expect(
        await refusal(service.client.call(updateUserInformation, { body: { name } as never }, user(userId))),
      ).toMatchObject({ kind: 'invalid', details: [{ param: 'name', location: 'body' }] });
  });

  it('has user information; a machine client gets 403', async () => {
    expect(await refusal(service.client.call(retrieveUserInformation, {}, machine('boss') as never))).toMatchObject({
      kind: 'forbidden',
    });
    expect(
      await refusal(service.client.call(updateUserInformation, { body: { name: 'x' } }, machine('boss') as never)),
    ).toMatchObject({
      kind: 'forbidden',
    });
    const nobody = user('77777777-7777-4777-8777-777777777777');
    expect(await refusal(service.client.call(retrieveUserInformation, {}, nobody))).toMatchObject({
      kind: 'forbidden',
    });
  });

  it('who creates a tenant is its admin and a member', async () => {
    const { userId, email } = await newPerson('Maker');
    const made = await create(user(userId));
    expect(made.membership).toEqual({ roles: ['admin'] });
    await eventually(async () => {
      expect((await tenantsOf(user(userId))).map(({ id }) => id)).toEqual([made.id]);
    });
    expect(await service.client.call(retrieveTenant, { params: { tenantId: made.id } }, user(userId))).toMatchObject({
      membership: { roles: ['admin'] },
    });
    await eventually(async () => {
      expect(await members(made.id, user(userId))).toEqual({
        data: [{ id: userId, email, name: 'Maker', status: 'Active', roles: ['admin'] }],
      });
    });
    // A machine client with the same id is another principal.
    expect(
      await refusal(service.client.call(retrieveTenant, { params: { tenantId: made.id } }, machine(userId))),
    ).toMatchObject({ kind: 'notFound' });
  });
});

describe('members of a tenant', () => {
  it('are added at once when they are registered [M14, M15, M16, M18]', async () => {
    const owner = user((await newPerson()).userId);
    const guest = await newPerson('Guest');
    const { id: tenantId } = await create(owner);
    const inviteExpiresAt = new Date(clock.time + 5 * DAY_MS).toISOString();
    expect(await invite(tenantId, guest.email.toUpperCase(), ['issuer'], owner)).toEqual({
      userId: guest.userId,
      status: 'Active',
      inviteExpiresAt,
    });
    const shown = {
      id: guest.userId,
      email: guest.email,
      name: 'Guest',
      status: 'Active',
      roles: ['issuer'],
      inviteExpiresAt,
    };
    expect(await member(tenantId, guest.userId, owner)).toEqual(shown);
    await eventually(async () => {
      expect((await members(tenantId, owner)).data).toContainEqual(shown);
    });
    await eventually(async () => {
      expect((await tenantsOf(user(guest.userId))).map(({ id, membership }) => [id, membership.roles])).toEqual([
        [tenantId, ['issuer']],
      ]);
    });
    expect(await refusal(invite(tenantId, guest.email, ['admin'], owner))).toMatchObject({
      kind: 'invalid',
      message: 'Validation Error',
      details: [{ param: 'email', location: 'body', msg: 'is already a member' }],
    });
  });

  it('are Pending when unknown, Expired after five days, and Pending again when invited again [M16, M17, M18]', async () => {
    const owner = user((await newPerson()).userId);
    const { id: tenantId } = await create(owner);
    const email = freshEmail();
    const first = await invite(tenantId, email, ['issuer'], owner);
    expect(first).toEqual({
      userId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      status: 'Pending',
      inviteExpiresAt: new Date(clock.time + 5 * DAY_MS).toISOString(),
    });
    const { userId } = first;
    const dead = await linkOf(tenantId, userId);
    expect(await member(tenantId, userId, owner)).toMatchObject({ email, name: email, status: 'Pending' });
    clock.time += 5 * DAY_MS;
    expect(await member(tenantId, userId, owner)).toMatchObject({ status: 'Expired' });
    await eventually(async () => {
      expect((await members(tenantId, owner)).data).toContainEqual(
        expect.objectContaining({ id: userId, status: 'Expired' }),
      );
    });
    const person = user(await admit(unique('sub-')));
    expect(await refusal(accept(dead, person))).toMatchObject(badToken);
    const second = await invite(tenantId, email, ['auditor'], owner);
    expect(second).toEqual({
      userId,
      status: 'Pending',
      inviteExpiresAt: new Date(clock.time + 5 * DAY_MS).toISOString(),
    });
    expect(await refusal(accept(dead, person))).toMatchObject(badToken);
    expect(await member(tenantId, userId, owner)).toMatchObject({ status: 'Pending', roles: ['auditor'] });
  });

  it('are listed as invitations until they are accepted, oldest first in pages', async () => {
    const owner = user((await newPerson()).userId);
    const { id: tenantId } = await create(owner);
    const invitations = (query: { limit?: number; cursor?: string } = {}) =>
      service.client.call(listInvitations, { params: { tenantId }, query }, owner) as unknown as Promise<
        PageOf<Invitation>
      >;
    const [early, late] = [freshEmail(), freshEmail()];
    const { userId: first } = await invite(tenantId, early, ['issuer'], owner);
    clock.time += DAY_MS;
    const { userId: second } = await invite(tenantId, late, ['auditor', 'verifier'], owner);
    await invite(tenantId, (await newPerson()).email, ['issuer'], owner);
    const shown = (userId: string, email: string, status: string, roles: string[], days: number) => ({
      userId,
      email,
      status,
      roles,
      inviteExpiresAt: new Date(clock.time + days * DAY_MS).toISOString(),
    });
    // The owner and registered users were never invited with a link.
    await eventually(async () => {
      expect(await invitations()).toEqual({
        data: [
          shown(first, early, 'Pending', ['issuer'], 4),
          shown(second, late, 'Pending', ['auditor', 'verifier'], 5),
        ],
      });
    });
    clock.time += 4 * DAY_MS;
    const page = await invitations({ limit: 1 });
    expect(page.data).toEqual([shown(first, early, 'Expired', ['issuer'], 0)]);
    expect(await invitations({ limit: 1, cursor: page.nextCursor! })).toEqual({
      data: [shown(second, late, 'Pending', ['auditor', 'verifier'], 1)],
    });
    // The cursor of another list is none.
    expect(await refusal(members(tenantId, owner, { cursor: page.nextCursor! }))).toMatchObject({
      details: [{ param: 'cursor', location: 'query' }],
    });
    await accept(await linkOf(tenantId, second), user((await newPerson()).userId));
    await eventually(async () => {
      expect((await invitations()).data.map(({ userId }) => userId)).toEqual([first]);
    });
  });

  it('are invited again by resending: the old link is invalid at once, the roles are kept', async () => {
    const owner = user((await newPerson()).userId);
    const { id: tenantId } = await create(owner);
    const { userId } = await invite(tenantId, freshEmail(), ['auditor'], owner);
    const params = { tenantId, userId };
    const old = await linkOf(tenantId, userId);
    clock.time += 6 * DAY_MS;
    expect(await service.client.call(resendInvitation, { params }, owner)).toEqual({
      userId,
      status: 'Pending',
      inviteExpiresAt: new Date(clock.time + 5 * DAY_MS).toISOString(),
    });
    const guest = await newPerson();
    expect(await refusal(accept(old, user(guest.userId)))).toMatchObject(badToken);
    const fresh = await linkOf(tenantId, userId);
    expect(fresh).not.toBe(old);
    expect(await accept(fresh, user(guest.userId))).toEqual({ userId: guest.userId, tenantId, roles: ['auditor'] });
    // The invited user is no longer a member, and the one who accepted was not invited.
    expect(await refusal(service.client.call(resendInvitation, { params }, owner))).toMatchObject({ kind: 'notFound' });
    const member = { tenantId, userId: guest.userId };
    for (const operation of [resendInvitation, cancelInvitation])
      expect(await refusal(service.client.call(operation, { params: member }, owner))).toMatchObject({
        kind: 'invalid',
        details: [{ param: 'userId', location: 'params', msg: 'is already a member' }],
      });
  });

  it('are added at once by resending, when they have registered meanwhile', async () => {
    const owner = user((await newPerson()).userId);
    const { id: tenantId } = await create(owner);
    const email = freshEmail();
    const { userId } = await invite(tenantId, email, ['auditor'], owner);
    const old = await linkOf(tenantId, userId);
    await admit(unique('sub-'), { email, emailVerified: true });
    expect(await service.client.call(resendInvitation, { params: { tenantId, userId } }, owner)).toMatchObject({
      status: 'Active',
    });
    expect(await member(tenantId, userId, owner)).toMatchObject({ status: 'Active', roles: ['auditor'] });
    expect(await refusal(accept(old, user(userId)))).toMatchObject(badToken);
  });

  it('are removed when their invitation is cancelled, and its link is invalid', async () => {
    const owner = user((await newPerson()).userId);
    const { id: tenantId } = await create(owner);
    const { userId } = await invite(tenantId, freshEmail(), ['admin'], owner);
    const params = { tenantId, userId };
    const link = await linkOf(tenantId, userId);
    await service.client.call(cancelInvitation, { params }, owner);
    expect(await refusal(accept(link, user((await newPerson()).userId)))).toMatchObject(badToken);
    for (const call of [
      member(tenantId, userId, owner),
      service.client.call(cancelInvitation, { params }, owner),
      service.client.call(resendInvitation, { params }, owner),
      service.client.call(deleteMembership, { params }, owner),
    ])
      expect(await refusal(call)).toMatchObject({ kind: 'notFound' });
    await eventually(async () => {
      expect((await members(tenantId, owner)).data.map(({ id }) => id)).not.toContain(userId);
      expect(await service.client.call(listInvitations, { params: { tenantId } }, owner)).toEqual({ data: [] });
    });
  });

  it('are published to the other services by id, never by address', async () => {
    const owner = user((await newPerson()).userId);
    const guest = await newPerson();
    const { id: tenantId } = await create(owner);
    const received = () =>
      feed.flatMap(({ data }) => ((data as { tenantId: string }).tenantId === tenantId ? [data] : []));
    const inviteExpiresAt = new Date(clock.time + 5 * DAY_MS).toISOString();
    const { userId } = await invite(tenantId, freshEmail(), ['issuer'], owner);
    await invite(tenantId, guest.email, ['auditor'], owner);
    await service.client.call(resendInvitation, { params: { tenantId, userId } }, owner);
    // The owner was not invited; a new link is published again.
    await eventually(async () => expect(received()).toHaveLength(3));
    const pending = { tenantId, userId, roles: ['issuer'], status: 'Pending', inviteExpiresAt };
    expect(received()).toEqual([
      pending,
      { tenantId, userId: guest.userId, roles: ['auditor'], status: 'Active', inviteExpiresAt },
      pending,
    ]);
  });

  it('become Active with the link, once, as the user with the verified e-mail address [M17]', async () => {
    const owner = user((await newPerson()).userId);
    const { id: tenantId } = await create(owner);
    const email = freshEmail();
    const { userId } = await invite(tenantId, email, ['issuer'], owner);
    const token = await linkOf(tenantId, userId);
    expect(await admit(unique('sub-'), { email, emailVerified: true })).toBe(userId);
    // Registered, but not yet a member: this requires the link, or another invitation.
    await eventually(async () => {
      expect(await tenantsOf(user(userId))).toEqual([]);
    });
    expect(await refusal(service.client.call(retrieveTenant, { params: { tenantId } }, user(userId)))).toMatchObject({
      kind: 'notFound',
    });
    const outsider = user((await newPerson()).userId);
    for (const [wrong, by] of [
      [`${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`, user(userId)],
      ['nonsense', user(userId)],
      [token, outsider],
    ] as const)
      expect(await refusal(accept(wrong, by))).toMatchObject(badToken);
    expect(await refusal(accept(token, machine('boss')))).toMatchObject({ kind: 'forbidden' });
    const race = await Promise.allSettled([accept(token, user(userId)), accept(token, user(userId))]);
    expect(race.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(race.find(({ status }) => status === 'fulfilled')).toMatchObject({
      value: { userId, tenantId, roles: ['issuer'] },
    });
    expect(await refusal(accept(token, user(userId)))).toMatchObject(badToken);
    await eventually(async () => {
      expect((await tenantsOf(user(userId))).map(({ id }) => id)).toEqual([tenantId]);
    });
    expect(await member(tenantId, userId, owner)).toMatchObject({ status: 'Active', roles: ['issuer'] });
  });

  it('can accept as an existing user, when the address was never registered', async () => {
    const owner = user((await newPerson()).userId);
    const { id: tenantId } = await create(owner);
    const { userId: invited } = await invite(tenantId, freshEmail(), ['issuer'], owner);
    const { userId } = await newPerson('Other Address');
    await accept(await linkOf(tenantId, invited), user(userId));
    await eventually(async () => {
      expect((await members(tenantId, owner)).data.map(({ id, status }) => [id, status])).toEqual([
        [expect.any(String), 'Active'],
        [userId, 'Active'],
      ]);
    });
    expect(await refusal(member(tenantId, invited, owner))).toMatchObject({ kind: 'notFound' });
  });

  it('can be invited by the machine client that created the tenant, which is not in the list of members', async () => {
    const boss = machine('boss');
    const { id: tenantId } = await create(boss);
    const { userId, email } = await newPerson();
    await invite(tenantId, email, ['admin'], boss);
    await eventually(async () => {
      expect((await members(tenantId, boss)).data.map(({ id }) => id)).toEqual([userId]);
    });
    expect((await service.client.call(retrieveTenant, { params: { tenantId } }, boss)).membership).toEqual({
      roles: ['admin'],
    });
  });

  it('are listed oldest first in pages', async () => {
    const owner = await newPerson();
    const { id: tenantId } = await create(user(owner.userId));
    const ids = [owner.userId];
    for (let n = 0; n < 4; n++) {
      clock.time += 1000;
      ids.push((await invite(tenantId, freshEmail(), ['issuer'], user(owner.userId))).userId);
    }
    await eventually(async () => {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await members(tenantId, user(owner.userId), { limit: 2, ...(cursor !== undefined && { cursor }) });
        seen.push(...page.data.map(({ id }) => id));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(seen).toEqual(ids);
    });
    expect(await refusal(members(tenantId, user(owner.userId), { cursor: 'bm9uc2Vuc2U' }))).toMatchObject({
      kind: 'invalid',
      details: [{ param: 'cursor', location: 'query' }],
    });
  });

  it('change roles, and lose all access when they are removed [M20, M21]', async () => {
    const owner = user((await newPerson()).userId);
    const guest = await newPerson();
    const by = user(guest.userId);
    const { id: tenantId } = await create(owner);
    const params = { tenantId, userId: guest.userId };
    await invite(tenantId, guest.email, ['issuer'], owner);
    expect(await refusal(service.client.call(listClients, { params: { tenantId } }, by))).toMatchObject({
      kind: 'forbidden',
    });
    expect(
      await service.client.call(updateMembership, { params, body: { roles: ['admin', 'issuer'] } }, owner),
    ).toEqual({
      userId: guest.userId,
      tenantId,
      roles: ['admin', 'issuer'],
    });
    expect(await service.client.call(listClients, { params: { tenantId } }, by)).toMatchObject({
      data: [expect.anything()],
    });
    await service.client.call(deleteMembership, { params }, owner);
    for (const call of [
      service.client.call(retrieveTenant, { params: { tenantId } }, by),
      service.client.call(listClients, { params: { tenantId } }, by),
      members(tenantId, by),
      member(tenantId, guest.userId, owner),
      service.client.call(deleteMembership, { params }, owner),
      service.client.call(updateMembership, { params, body: { roles: ['issuer'] } }, owner),
    ])
      expect(await refusal(call)).toMatchObject({ kind: 'notFound' });
    await eventually(async () => {
      expect(await tenantsOf(by)).toEqual([]);
    });
    await eventually(async () => {
      expect((await members(tenantId, owner)).data.map(({ id }) => id)).not.toContain(guest.userId);
    });
  });

  it('keep their last admin: of two who leave concurrently, one is refused', async () => {
    const one = await newPerson();
    const two = await newPerson();
    const { id: tenantId } = await create(user(one.userId));
    const params = (userId: string) => ({ tenantId, userId });
    const lonely = { kind: 'invalid', code: 'BadRequest' };
    expect(
      await refusal(service.client.call(deleteMembership, { params: params(one.userId) }, user(one.userId))),
    ).toMatchObject({ ...lonely, details: [{ param: 'userId', location: 'params' }] });
    expect(
      await refusal(
        service.client.call(
          updateMembership,
          { params: params(one.userId), body: { roles: ['issuer'] } },
          user(one.userId),
        ),
      ),
    ).toMatchObject({ ...lonely, details: [{ param: 'roles', location: 'body' }] });
    await invite(tenantId, two.email, ['admin'], user(one.userId));
    const gone = await Promise.allSettled(
      [one, two].map(({ userId }) => service.client.call(deleteMembership, { params: params(userId) }, user(userId))),
    );
    expect(gone.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(gone.find(({ status }) => status === 'rejected')).toMatchObject({ reason: lonely });
  });

  it('are available to members: other callers get a 404, members without the role admin a 403', async () => {
    const owner = user((await newPerson()).userId);
    const guest = await newPerson();
    const { id: tenantId } = await create(owner);
    await invite(tenantId, guest.email, ['issuer'], owner);
    const { userId: pending } = await invite(tenantId, freshEmail(), ['admin'], owner);
    const params = { tenantId, userId: guest.userId };
    const calls = (by: ManagementContext) => [
      members(tenantId, by),
      invite(tenantId, 'victim@people.example', ['admin'], by),
      service.client.call(updateMembership, { params, body: { roles: ['admin'] } }, by),
      service.client.call(createClient, { params: { tenantId }, body: { name: 'n', roles: ['issuer'] } }, by),
      service.client.call(deleteTenant, { params: { tenantId } }, by),
      member(tenantId, pending, by),
      service.client.call(listInvitations, { params: { tenantId } }, by),
      service.client.call(resendInvitation, { params: { tenantId, userId: pending } }, by),
      service.client.call(cancelInvitation, { params: { tenantId, userId: pending } }, by),
      service.client.call(updateTenant, { params: { tenantId }, body: { name: 'mine' } }, by),
      service.client.call(listTenantEvents, { params: { tenantId } }, by),
      service.client.call(deleteMembership, { params: { tenantId, userId: pending } }, by),
    ];
    for (const call of calls(user(guest.userId))) expect(await refusal(call)).toMatchObject({ kind: 'forbidden' });
    for (const by of [user((await newPerson()).userId), user(pending), machine('boss'), machine(guest.userId)])
      for (const call of calls(by)) expect(await refusal(call)).toMatchObject({ kind: 'notFound' });
    expect(await member(tenantId, guest.userId, user(guest.userId))).toMatchObject({ id: guest.userId });
    await service.client.call(deleteMembership, { params }, user(guest.userId));
    // An attempt by another caller stored no person.
    const { userId, status } = await invite(tenantId, 'victim@people.example', ['issuer'], owner);
    expect(status).toBe('Pending');
    const known = (await eventsOf()).find(({ stream }) => stream === `managementUser-${userId}`);
    expect(known?.metadata.actor).toMatch(/^user:/);
    personal.add('victim@people.example');
  });

  it.each([
    ['email', { roles: ['issuer'] }],
    ['email', { email: 'no address', roles: ['issuer'] }],
    ['email', { email: `${'a'.repeat(250)}@x.example`, roles: ['issuer'] }],
    ['email', { email: 'a@x.example\r\nBcc: b@y.example', roles: ['issuer'] }],
    ['roles', { email: 'a@people.example', roles: [] }],
    ['roles', { email: 'a@people.example', roles: ['root'] }],
    ['roles', { email: 'a@people.example' }],
  ])('are not invited with an invalid %s: %j', async (param, body) => {
    const { id: tenantId } = await create(machine('boss'));
    const before = (await eventsOf()).length;
    const call = service.client.call(inviteMember, { params: { tenantId }, body: body as never }, machine('boss'));
    expect(await refusal(call)).toMatchObject({ kind: 'invalid', details: [{ param, location: 'body' }] });
    expect(await eventsOf()).toHaveLength(before);
  });
});

describe('a token of a member', () => {
  const AUTH = 'http://auth.one.example';
  const seconds = () => Math.floor(clock.time / 1000);
  const exchange = (userId: string, audience: string, over: object = {}) =>
    service.client.call(
      issueMemberToken,
      { body: { userId, audience, publicUrl: AUTH, subjectExpiresAt: seconds() + 3600, ...over } },
      gateway(),
    );
  const rolesOf = async (tenantId: string, userId: string) =>
    (await service.client.call(lookUpMember, { body: { tenantId, userId } }, gateway())).roles;
  const TARGET = {
    kind: 'invalid',
    code: 'invalid_target',
    message: 'audience must be the address of a tenant that the person is a member of',
  };
  const verified = async (token: string) => {
    const jwks = await service.client.call(retrieveTokenKeys, {}, { ...gateway(), caller: { kind: 'public' } });
    return jwtVerify(token, createLocalJWKSet(jwks as unknown as JSONWebKeySet), { currentDate: clock.now() });
  };

  it('names person and tenant, and no client and no role [T845]', async () => {
    const { userId } = await newPerson();
    const { subdomain: host } = await create(user(userId));
    for (const audience of [host, `http://${host}`, `HTTP://${host.toUpperCase()}/`]) {
      const answer = await exchange(userId, audience);
      expect(answer).toEqual({
        access_token: expect.any(String),
        expires_in: 300,
        token_type: 'Bearer',
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      });
      const { payload, protectedHeader } = await verified(answer.access_token);
      expect(payload).toEqual({
        iss: AUTH,
        aud: `http://${host}`,
        sub: userId,
        jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
        iat: seconds(),
        exp: seconds() + 300,
      });
      expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) });
    }
  });

  it('carries the grant of the exchanged token, and ends with it [T853]', async () => {
    const { userId } = await newPerson();
    const { subdomain: host } = await create(user(userId));
    const answer = await exchange(userId, host, { subjectExpiresAt: seconds() + 42, grantId: 'g' });
    expect(answer.expires_in).toBe(42);
    expect(decodeJwt(answer.access_token)).toMatchObject({ grant_id: 'g', exp: seconds() + 42 });
    expect(await refusal(exchange(userId, host, { subjectExpiresAt: seconds() }))).toMatchObject({
      code: 'invalid_request',
      message: 'The access token has expired',
    });
  });

  it('is for members only, and the refusal does not reveal whether there is a tenant [T852]', async () => {
    const { userId } = await newPerson();
    const { subdomain: host } = await create(machine('boss'));
    const { id: tenantId, subdomain: own } = await create(user(userId));
    for (const audience of [
      host,
      'nobody-has-this.one.example',
      'management.one.example',
      'auth.one.example',
      `${own}/v1`,
    ])
      expect(await refusal(exchange(userId, audience))).toMatchObject(TARGET);
    for (const publicUrl of ['http://management.one.example', 'http://auth.two.example', `http://${own}`])
      expect(await refusal(exchange(userId, own, { publicUrl }))).toMatchObject(TARGET);
    const { userId: pending } = await invite(tenantId, freshEmail(), ['admin'], user(userId));
    expect(await refusal(exchange(pending, own))).toMatchObject(TARGET);
    await service.client.call(deleteTenant, { params: { tenantId } }, user(userId));
    expect(await refusal(exchange(userId, own))).toMatchObject(TARGET);
  });

  it('has the roles that the member has at the time of the look-up [T846]', async () => {
    const [owner, guest] = [await newPerson(), await newPerson()];
    const by = user(owner.userId);
    const { id: tenantId } = await create(by);
    expect(await rolesOf(tenantId, guest.userId)).toBeUndefined();
    await invite(tenantId, guest.email, ['issuer'], by);
    expect(await rolesOf(tenantId, guest.userId)).toEqual(['issuer']);
    const params = { tenantId, userId: guest.userId };
    await service.client.call(updateMembership, { params, body: { roles: ['auditor', 'verifier'] } }, by);
    expect(await rolesOf(tenantId, guest.userId)).toEqual(['auditor', 'verifier']);
    await service.client.call(deleteMembership, { params }, by);
    expect(await rolesOf(tenantId, guest.userId)).toBeUndefined();
    const { userId: pending } = await invite(tenantId, freshEmail(), ['admin'], by);
    expect(await rolesOf(tenantId, pending)).toBeUndefined();
    expect(await rolesOf(tenantId, owner.userId)).toEqual(['admin']);
    await service.client.call(deleteTenant, { params: { tenantId } }, by);
    expect(await rolesOf(tenantId, owner.userId)).toBeUndefined();
    expect(await rolesOf('77777777-7777-4777-8777-777777777777', owner.userId)).toBeUndefined();
  });
});

describe('the stored data of people', () => {
  it('reveals neither addresses nor names nor the secrets of links, and is erased with their key', async () => {
    const { userId } = await newPerson('Ephemeral Emma');
    const text = JSON.stringify(await eventsOf());
    expect(personal.size).toBeGreaterThan(20);
    for (const value of personal) expect(text.toLowerCase()).not.toContain(value.toLowerCase());
    expect(secrets.size).toBeGreaterThan(2);
    for (const secret of secrets) expect(text).not.toContain(secret);
    await service.engines.vault.sealing.destroyDataKeys(PLATFORM, [userId]);
    expect(await service.client.call(retrieveUserInformation, {}, user(userId))).toMatchObject({ email: '', name: '' });
  });
});
