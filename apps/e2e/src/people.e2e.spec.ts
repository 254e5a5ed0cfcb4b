import {
  ApiClient,
  clientToken,
  connectManagement,
  expectStatus,
  ManagementApi,
  PLATFORM_START_MS,
  startPlatform,
  TenantApi,
  waitUntil,
  type MailReceiver,
  type OpenIdProvider,
  type RunningPlatform,
} from '@attestry/testing';
import { AUDIENCE, closeSurroundings, INVITATION_URL, openSurroundings } from './surroundings.js';

let provider: OpenIdProvider;
let mail: MailReceiver;
let platform: RunningPlatform;

beforeAll(async () => {
  const surroundings = await openSurroundings();
  ({ provider, mail } = surroundings);
  platform = await startPlatform({ startTimeoutMs: PLATFORM_START_MS, env: surroundings.env });
}, 2 * PLATFORM_START_MS);
afterAll(async () => {
  await platform?.stop();
  await closeSurroundings();
});

const tokensOf = (sub: string, email = `${sub}@people.example`) =>
  provider.signIn({ sub, email, email_verified: true, name: `${sub} of the provider` });
const connect = async (sub: string, email?: string) =>
  new ManagementApi(platform.ready.management, (await tokensOf(sub, email)).access_token);

describe('a person who signs in at the OpenID provider', () => {
  it('is authenticated as a user only by the access token', async () => {
    const { access_token, id_token } = await tokensOf('ada');
    const ada = new ManagementApi(platform.ready.management, access_token);
    expect(expectStatus(await ada.user.retrieve(), 200)).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      email: 'ada@people.example',
      name: 'ada of the provider',
      pricingPlan: { type: 'Standard' },
      status: 'Active',
    });
    const [head, , signature] = access_token.split('.') as [string, string, string];
    const forged = [head, id_token.split('.')[1], signature].join('.');
    const notValid = 'The access token is not valid';
    const otherAudience = `The access token has another audience; request one for ${AUDIENCE}`;
    for (const [token, reason] of [
      [id_token, 'The access token must have the typ at+jwt in its header (RFC 9068 section 2.1)'],
      [forged, otherAudience],
      [
        await provider.machineToken(),
        'The access token belongs to a machine: its sub is its client; sign in as a person',
      ],
      [`${access_token.slice(0, -2)}AA`, notValid],
    ] as const) {
      const answer = await new ManagementApi(platform.ready.management, token).tenants.list();
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe(
        `Bearer error="invalid_token", error_description="${reason}"`,
      );
      expect(answer.body).toMatchObject({ code: 'Unauthorized', type: expect.any(String), message: reason });
    }
  });

  it('leaves a line for a token that the provider signed, and none for any other [T765]', async () => {
    const answer = await new ManagementApi(platform.ready.management, await provider.machineToken()).tenants.list();
    const requestId = answer.headers.get('x-request-id')!;
    const line = await waitUntil(() =>
      platform
        .log()
        .split('\n')
        .find((it) => it.includes(requestId)),
    );
    expect(JSON.parse(line)).toMatchObject({
      level: 'info',
      msg: 'operation refused',
      check: 'check-user-token',
      reason: expect.stringMatching(/^The access token belongs to a machine/),
    });
  });

  it('is the same user after the next sign-in, with the name set here', async () => {
    const grace = await connect('grace');
    const { id } = expectStatus(await grace.user.update('Rear Admiral Hopper'), 200);
    const again = await connect('grace');
    expect(expectStatus(await again.user.retrieve(), 200)).toMatchObject({ id, name: 'Rear Admiral Hopper' });
  });

  it('is required for user information: a machine client gets 403', async () => {
    const machine = await connectManagement(platform);
    const refused = await machine.user.retrieve();
    expect(refused.status).toBe(403);
    const reason = 'The operation is for users; the caller is a client';
    expect(refused.body).toMatchObject({ code: 'Forbidden', message: reason });
    expect(refused.headers.get('www-authenticate')).toBe(
      `Bearer error="insufficient_scope", error_description="${reason}"`,
    );
    expect((await machine.user.update('x')).status).toBe(403);
  });

  it("cannot call a tenant's API with that token", async () => {
    const ada = await connect('ada');
    const environmentId = expectStatus(await ada.environments.list(), 200).data[0]!.id;
    const made = expectStatus(await ada.tenants.create({ subdomain: 'adas', environmentId }), 201);
    const url = `${new URL(platform.ready.management).protocol}//${made.subdomain}`;
    const answer = await new ApiClient(url, ada.client.token).request('GET', '/v1/dids');
    expect(answer.status).toBe(401);
    // The tenant's own client does.
    const own = new TenantApi(url, await clientToken(platform, url, made.client));
    expectStatus(await own.dids.list(), 200);
    // The acting user is in the tenant's audit trail.
    const { id } = expectStatus(await ada.user.retrieve(), 200);
    await waitUntil(
      async () => {
        const { data } = expectStatus(await own.analytics.list({ managementUserIds: [id] }), 200);
        return data.some(({ type }) => type === 'TENANT_CREATE_SUCCESS');
      },
      { what: "the person's call in the tenant's trail" },
    );
  });
});

describe('an invitation', () => {
  it('is accepted from the e-mail, and the membership can be removed', async () => {
    const owner = await connect('owner');
    const environmentId = expectStatus(await owner.environments.list(), 200).data[0]!.id;
    const { id: tenantId } = expectStatus(await owner.tenants.create({ subdomain: 'inviting', environmentId }), 201);
    const email = 'guest@people.example';
    const invited = expectStatus(await owner.members.invite(tenantId, { email, roles: ['admin'] }), 200);
    expect(invited.status).toBe('Pending');

    const link = await mail.linkTo(email);
    expect(`${link.origin}${link.pathname}`).toBe(INVITATION_URL);
    const token = link.searchParams.get('token')!;
    const guest = await connect('guest');
    expect((await guest.tenants.retrieve(tenantId)).status).toBe(404);
    expect(expectStatus(await guest.members.accept(token), 200)).toEqual({
      userId: invited.userId,
      tenantId,
      roles: ['admin'],
    });
    expect((await guest.members.accept(token)).status).toBe(400);
    await waitUntil(async () => expectStatus(await guest.tenants.list(), 200).data.some(({ id }) => id === tenantId), {
      what: 'the tenant in the list',
    });
    expectStatus(await guest.clients.create(tenantId, { name: 'by the guest', roles: ['issuer'] }), 201);
    expect(expectStatus(await owner.members.retrieve(tenantId, invited.userId), 200)).toMatchObject({
      email,
      name: 'guest of the provider',
      status: 'Active',
      roles: ['admin'],
    });

    expect((await owner.members.delete(tenantId, invited.userId)).status).toBe(204);
    // With the token that was good a moment ago.
    expect((await guest.tenants.retrieve(tenantId)).status).toBe(404);
    expect((await guest.clients.create(tenantId, { name: 'too late', roles: ['issuer'] })).status).toBe(404);
    expect((await guest.user.retrieve()).status).toBe(200);
  });

  it('that is resent invalidates the previous link; a cancelled one has no valid link', async () => {
    const owner = await connect('resender');
    const environmentId = expectStatus(await owner.environments.list(), 200).data[0]!.id;
    const { id: tenantId } = expectStatus(await owner.tenants.create({ subdomain: 'resending', environmentId }), 201);
    const email = 'late-guest@people.example';
    const { userId } = expectStatus(await owner.members.invite(tenantId, { email, roles: ['auditor'] }), 200);
    const tokenOf = (link: URL) => link.searchParams.get('token')!;
    const first = tokenOf(await mail.linkTo(email));
    expect(expectStatus(await owner.invitations.resend(tenantId, userId), 200)).toMatchObject({
      userId,
      status: 'Pending',
    });
    const guest = await connect('accepting-guest');
    // At once, whether or not the second e-mail has been sent.
    expect((await guest.members.accept(first)).status).toBe(400);
    await waitUntil(() => mail.to(email).length === 2, { what: 'the second e-mail' });
    const second = tokenOf(await mail.linkTo(email));
    expect(second).not.toBe(first);
    expect(expectStatus(await guest.members.accept(second), 200)).toMatchObject({ tenantId, roles: ['auditor'] });
    const { id: guestId } = expectStatus(await guest.user.retrieve(), 200);
    for (const answer of [
      await owner.invitations.resend(tenantId, guestId),
      await owner.invitations.cancel(tenantId, guestId),
    ]) {
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ details: [expect.objectContaining({ param: 'userId' })] });
    }

    const other = 'unwanted@people.example';
    const cancelled = expectStatus(await owner.members.invite(tenantId, { email: other, roles: ['admin'] }), 200);
    const dead = tokenOf(await mail.linkTo(other));
    await waitUntil(async () => expectStatus(await owner.invitations.list(tenantId), 200).data.length === 1, {
      what: 'the invitation in the list',
    });
    expect(expectStatus(await owner.invitations.list(tenantId), 200).data).toEqual([
      {
        userId: cancelled.userId,
        email: other,
        status: 'Pending',
        roles: ['admin'],
        inviteExpiresAt: expect.any(String),
      },
    ]);
    expectStatus(await owner.invitations.cancel(tenantId, cancelled.userId), 204);
    expect((await (await connect('unwanted')).members.accept(dead)).status).toBe(400);
    expect((await owner.members.retrieve(tenantId, cancelled.userId)).status).toBe(404);
    expect(expectStatus(await owner.invitations.list(tenantId), 200).data).toEqual([]);
  });

  it('from the machine client that created the tenant adds a registered person at once', async () => {
    const machine = await connectManagement(platform);
    const environmentId = expectStatus(await machine.environments.list(), 200).data[0]!.id;
    const { id: tenantId } = expectStatus(
      await machine.tenants.create({ subdomain: 'made-by-ci', environmentId }),
      201,
    );
    const lin = await connect('lin');
    const { id: userId } = expectStatus(await lin.user.retrieve(), 200);
    expect(
      expectStatus(await machine.members.invite(tenantId, { email: 'LIN@people.example', roles: ['auditor'] }), 200),
    ).toMatchObject({ userId, status: 'Active' });
    expect(expectStatus(await lin.tenants.retrieve(tenantId), 200).membership).toEqual({ roles: ['auditor'] });
    expect((await lin.clients.list(tenantId)).status).toBe(403);
    expect(mail.to('lin@people.example')).toEqual([]);
    const log = platform.log();
    for (const text of ['lin@people.example', 'of the provider', 'guest@people.example'])
      expect(log).not.toContain(text);
  });
});
