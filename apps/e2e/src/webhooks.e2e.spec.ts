import type { WebhookEvent } from '@attestry/contracts';
import {
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  startPlatform,
  verifyJwtVc,
  verifyLdpVc,
  waitUntil,
  WebhookReceiver,
  type RunningPlatform,
  type TenantUnderTest,
  PLATFORM_START_MS,
} from '@attestry/testing';
import { issue, makeIssuer, type Issuer } from './journey.js';

let platform: RunningPlatform;
let tenant: TenantUnderTest;
let issuer: Issuer;
beforeAll(async () => {
  platform = await startPlatform({ env: { WEBHOOK_RETRY_SECONDS: '1,1,1', WEBHOOK_TIMEOUT_MS: '700' } });
  tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'hooks');
  issuer = await makeIssuer(tenant);
}, PLATFORM_START_MS);
afterAll(async () => platform?.stop());

const receivers: WebhookReceiver[] = [];
const webhookIds: string[] = [];
const listen = async (options?: Parameters<typeof WebhookReceiver.start>[1]) => {
  const receiver = await WebhookReceiver.start(`${tenant.url}/v1/webhooks/jwks`, options);
  receivers.push(receiver);
  return receiver;
};
const subscribe = async (url: string, events: WebhookEvent[]) => {
  const { id } = expectStatus(await tenant.api.webhooks.create({ events, url }), 201);
  webhookIds.push(id);
  return id;
};
afterEach(async () => {
  for (const id of webhookIds.splice(0)) expect([204, 404]).toContain((await tenant.api.webhooks.delete(id)).status);
  for (const receiver of receivers.splice(0)) await receiver.close();
});

const claims = { given_name: 'Ada', note: 'first' };
const issueOne = () => issue(tenant, { credentials: [issuer.jwtVc], claims });

describe('a webhook', () => {
  it('is delivered signed, with the credential that the wallet received [T41]', async () => {
    const receiver = await listen();
    const webhookId = await subscribe(receiver.url, ['OpenIdCredentialIssued']);
    const { issued, credentials } = await issueOne();
    const { body, headers, verified, fault } = await receiver.next();
    expect([verified, fault]).toEqual([true, undefined]);
    expect(body).toEqual({
      deliveryId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      deliveryTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      webhookId,
      event: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        type: 'OpenIdCredentialIssued',
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        payload: {
          format: 'jwt_vc_json',
          userId: issued.userId,
          credentialProfile: 'jwt-vc',
          credentialConfigurationId: issuer.jwtVc,
          credentialId: expect.any(String),
          credential: credentials[0]!.credential,
        },
      },
    });
    expect(headers['content-type']).toMatch(/^application\/json\b/);
    expect(headers['x-webhook-id']).toBe(webhookId);
    expect(headers['x-webhook-event-type']).toBe('OpenIdCredentialIssued');
    await verifyJwtVc(body.event.payload['credential'] as string);
    const data = await waitUntil(async () => {
      const list = expectStatus(await tenant.api.users.credentials(issued.userId), 200).data;
      return list.length > 0 && list;
    });
    expect(data.map(({ id }) => id)).toEqual([body.event.payload['credentialId']]);
  });

  it('delivers a data integrity credential that still verifies', async () => {
    const receiver = await listen();
    await subscribe(receiver.url, ['OpenIdCredentialIssued']);
    await issue(tenant, { credentials: [issuer.webSemantic], claims });
    const { body } = await receiver.next();
    await verifyLdpVc(body.event.payload['credential'] as Record<string, unknown>);
  });

  it('with the summary payload contains no credential and no claim', async () => {
    const receiver = await listen();
    await subscribe(receiver.url, ['OpenIdCredentialIssuedSummary']);
    const { credentials } = await issueOne();
    const { text, body, verified } = await receiver.next();
    expect(verified).toBe(true);
    expect(body.event.payload).not.toHaveProperty('credential');
    expect(text).not.toContain('Ada');
    expect(text).not.toContain(String(credentials[0]!.credential).split('.')[2]);
  });

  it('is delivered for each enabled subscription, and not for a disabled one', async () => {
    const [both, disabled] = [await listen(), await listen()];
    await subscribe(both.url, ['OpenIdCredentialIssued', 'OpenIdCredentialIssuedSummary']);
    const id = await subscribe(disabled.url, ['OpenIdCredentialIssuedSummary']);
    const change = { events: ['OpenIdCredentialIssuedSummary' as const], url: disabled.url };
    expect(expectStatus(await tenant.api.webhooks.update(id, { ...change, disabled: true }), 200).disabled).toBe(true);
    // Absent keeps what was set.
    expect(expectStatus(await tenant.api.webhooks.update(id, change), 200).disabled).toBe(true);
    await issueOne();
    await waitUntil(() => both.deliveries.length === 2);
    expect(both.deliveries.map(({ body }) => body.event.type).sort()).toEqual([
      'OpenIdCredentialIssued',
      'OpenIdCredentialIssuedSummary',
    ]);
    // Enabled again it gets events from now on, and none from before.
    expectStatus(await tenant.api.webhooks.update(id, { ...change, disabled: false }), 200);
    const second = await issueOne();
    await disabled.next();
    expect(disabled.deliveries.map(({ body }) => body.event.payload['userId'])).toEqual([second.issued.userId]);
  });

  it('is retried after an error, a redirect and a time-out, with the same event', async () => {
    const answers = [500, 302, 'never', 200] as const;
    const receiver = await listen({ respond: (delivery) => answers[delivery - 1] ?? 200 });
    await subscribe(receiver.url, ['OpenIdCredentialIssuedSummary']);
    await issueOne();
    await receiver.waitFor(({ status }) => status === 200, 15_000);
    const { deliveries } = receiver;
    expect(deliveries.map(({ path, verified }) => [path, verified])).toEqual(Array(4).fill(['/hook', true]));
    expect(new Set(deliveries.map(({ body }) => body.event.id)).size).toBe(1);
    expect(new Set(deliveries.map(({ body }) => body.deliveryId)).size).toBe(4);
    // One second, with a fifth of jitter either way.
    for (let n = 1; n < 4; n++)
      expect(deliveries[n]!.receivedAt - deliveries[n - 1]!.receivedAt).toBeGreaterThanOrEqual(790);
  });

  it('is given up after the last retry', async () => {
    const receiver = await listen({ respond: () => 503 });
    const working = await listen();
    await subscribe(receiver.url, ['OpenIdCredentialIssuedSummary']);
    await issueOne();
    await waitUntil(() => receiver.deliveries.length === 4, { what: 'three retries' });
    // Two further deliveries, one after the other, take longer than a retry would.
    let count = 0;
    working.respond = () => (++count < 3 ? 500 : 200);
    await subscribe(working.url, ['OpenIdCredentialIssuedSummary']);
    receiver.respond = () => 200;
    await issueOne();
    await working.waitFor(({ status }) => status === 200, 15_000);
    const events = receiver.deliveries.map(({ body }) => body.event.id);
    expect(events.filter((id) => id === events[0])).toHaveLength(4);
  });

  it('is retried after a restart, and after a kill', async () => {
    let up = false;
    const receiver = await listen({ respond: () => (up ? 200 : 500) });
    await subscribe(receiver.url, ['OpenIdCredentialIssued']);
    const { credentials } = await issueOne();
    await receiver.next();
    expect(await platform.end()).toBe(0);
    await platform.restart({ WEBHOOK_RETRY_SECONDS: '1,1,1', WEBHOOK_TIMEOUT_MS: '700' });
    await receiver.next(15_000);
    await platform.kill();
    up = true;
    await platform.restart();
    const last = await receiver.waitFor(({ status }) => status === 200, 15_000);
    expect(last.verified).toBe(true);
    expect(last.body.event.payload['credential']).toBe(credentials[0]!.credential);
    expect(new Set(receiver.deliveries.map(({ body }) => body.event.id)).size).toBe(1);
  }, 120_000);

  it('that is deleted is not retried', async () => {
    const receiver = await listen({ respond: () => 500 });
    const other = await listen();
    const id = await subscribe(receiver.url, ['OpenIdCredentialIssuedSummary']);
    await issueOne();
    await receiver.next();
    expect((await tenant.api.webhooks.delete(id)).status).toBe(204);
    const before = receiver.deliveries.length;
    let count = 0;
    other.respond = () => (++count < 3 ? 500 : 200);
    await subscribe(other.url, ['OpenIdCredentialIssuedSummary']);
    await issueOne();
    await other.waitFor(({ status }) => status === 200, 15_000);
    expect(receiver.deliveries.length).toBe(before);
  });
});

describe('an operator of a receiver', () => {
  it('sends a test, reads its result, and repeats the delivery', async () => {
    const receiver = await listen({ respond: (delivery) => (delivery === 1 ? 500 : 204) });
    const id = await subscribe(receiver.url, ['OpenIdCredentialIssuedSummary']);
    const { event } = expectStatus(await tenant.api.webhooks.test(id), 202);
    expect(event.type).toBe('WebhookTested');
    await receiver.waitFor(({ status }) => status === 204, 15_000);
    const attempts = await waitUntil(async () => {
      const { data } = expectStatus(await tenant.api.webhooks.attempts(id), 200);
      return data.length === 2 && data[0]!.status === 'Delivered' && data;
    });
    if (!attempts) throw new Error('no attempts');
    expect(attempts).toMatchObject([
      { attempt: 2, status: 'Delivered', httpStatus: 204, event },
      { attempt: 1, status: 'Failed', httpStatus: 500, event },
    ]);
    expect(attempts.map(({ deliveryId }) => deliveryId).reverse()).toEqual(
      receiver.deliveries.map(({ body }) => body.deliveryId),
    );
    const again = expectStatus(await tenant.api.webhooks.redeliver(id, attempts[0]!.deliveryId), 202);
    expect(again).toEqual({ webhookId: id, event });
    await waitUntil(() => receiver.deliveries.length === 3, { what: 'the repetition' });
    expect(receiver.deliveries[2]!.verified).toBe(true);
    expect(receiver.deliveries[2]!.body.event).toEqual(receiver.deliveries[0]!.body.event);
  });

  it('receives events about DIDs and clients', async () => {
    const receiver = await listen();
    await subscribe(receiver.url, ['DidCreated', 'TenantClientCreated']);
    const { did } = expectStatus(await tenant.api.dids.create({ method: 'key', options: { keyType: 'Ed25519' } }), 201);
    const created = await connectManagement(platform).then((management) =>
      management.clients.create(tenant.id, { name: 'A name', roles: ['issuer'] }),
    );
    const { clientId } = expectStatus(created, 201);
    await waitUntil(() => receiver.deliveries.length === 2, { what: 'both events' });
    expect(receiver.deliveries.every(({ verified }) => verified)).toBe(true);
    const payloads = Object.fromEntries(receiver.deliveries.map(({ body }) => [body.event.type, body.event.payload]));
    expect(payloads).toEqual({
      DidCreated: { did, method: 'key' },
      TenantClientCreated: { clientId, roles: ['issuer'] },
    });
  });

  it('receives events about invitations, without e-mail addresses', async () => {
    const receiver = await listen();
    await subscribe(receiver.url, ['TenantMemberInvited']);
    const management = await connectManagement(platform);
    const body = { email: 'webhook-guest@people.example', roles: ['auditor' as const] };
    const { userId, inviteExpiresAt } = expectStatus(await management.members.invite(tenant.id, body), 200);
    const { body: received, verified } = await receiver.next();
    expect(verified).toBe(true);
    expect(received.event).toMatchObject({
      type: 'TenantMemberInvited',
      payload: { userId, roles: ['auditor'], status: 'Pending', inviteExpiresAt },
    });
    expect(JSON.stringify(received)).not.toContain('people.example');
    // A new link is published too, its end is not.
    expectStatus(await management.invitations.resend(tenant.id, userId), 200);
    expect((await receiver.next()).body.event).toMatchObject({ type: 'TenantMemberInvited', payload: { userId } });
    expectStatus(await management.invitations.cancel(tenant.id, userId), 204);
  });

  it('verifies with the key set from before and from after a rotation', async () => {
    const receiver = await listen();
    const id = await subscribe(receiver.url, ['DidCreated']);
    const kids = async () => expectStatus(await tenant.api.webhooks.keys(), 200).keys.map(({ kid }) => kid);
    const before = await kids();
    const { kid, previous } = expectStatus(await tenant.api.webhooks.rotateKeys(), 200);
    expect(await kids()).toEqual([...before, kid]);
    expect(before).toContain(previous.kid);
    expectStatus(await tenant.api.webhooks.test(id), 202);
    const { headers, verified } = await receiver.next();
    // It signs later, when no cached copy of the key set lacks it any more.
    expect(headers['signature-input']).toContain(`keyid="${previous.kid}"`);
    expect(verified).toBe(true);
  });
});
