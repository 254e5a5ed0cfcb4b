/** @engines embedded postgres */
import { createHash, createPublicKey, randomUUID, verify } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import {
  clientCreated,
  memberInvited,
  AppError,
  notFound,
  retrieveCredentialDocument,
  createWebhook,
  credentialIssued,
  credentialStatusChanged,
  customDomainVerified,
  deleteWebhook,
  didCreated,
  listWebhookAttempts,
  listWebhooks,
  redeliverWebhookAttempt,
  retrieveWebhook,
  retrieveWebhookKeys,
  rotateWebhookKeys,
  tenantDeleted,
  testWebhook,
  updateWebhook,
  userDeleted,
  webhookDeleted,
  webhookSaved,
  type IntegrationEventType,
  type ClientContext,
  type PageOf,
  type Webhook,
  type WebhookAttempt,
  type WebhookEvent,
} from '@attestry/contracts';
import { isErased } from '@attestry/keys';
import type { FeedMessage } from '@attestry/messaging';
import { type PlatformConfig, type RequestOf } from '@attestry/service-kit';
import { waitUntil } from '@attestry/testing';
import { ServiceUnderTest } from '@attestry/testing/services';
import { deliveryKeyOf } from './webhook-delivery/delivery-key.js';
import { webhooksService } from './index.js';
import { scheduleDelivery, startAttempt } from './webhook-delivery/webhook-delivery.decisions.js';
import type { ScheduledDelivery } from './webhook-delivery/webhook-delivery.events.js';
import { webhookDelivery, webhookDeliveryStream } from './webhook-delivery/webhook-delivery.state.js';

const FULL = 'OpenIdCredentialIssued' as const;
const SUMMARY = 'OpenIdCredentialIssuedSummary' as const;

interface Received {
  url: string;
  method: string;
  headers: IncomingHttpHeaders;
  body: string;
}
interface Envelope {
  deliveryId: string;
  deliveryTimestamp: string;
  webhookId: string;
  event: { id: string; type: string; timestamp: string; payload: Record<string, unknown> };
}

const until = <T>(look: () => T | Promise<T>, what: string) => waitUntil(look, { what, intervalMs: 10 });

const service = new ServiceUnderTest(webhooksService, { settings: { WEBHOOK_TIMEOUT_MS: '700' } });
/** Sealed documents by credential, as issuance returns them. */
const documents = new Map<string, string>();
/** Calls of issuance that fail. */
let unavailable = 0;
service.answer(retrieveCredentialDocument, ({ body: { tenantId, sessionId, credentialId } }) => {
  if (unavailable-- > 0) throw new AppError('unavailable', 'later');
  const sealed = documents.get(`${tenantId} ${sessionId} ${credentialId}`);
  if (sealed === undefined) throw notFound();
  return { sealed };
});

const contextOf = service.asClient;

describe('webhooks', () => {
  const servers: Server[] = [];

  const start = (webhookRetrySeconds: number[], allowPrivate = true, settings: Partial<PlatformConfig> = {}) =>
    service.open({
      settings: { ALLOW_PRIVATE_TARGETS: String(allowPrivate) },
      config: { webhookRetrySeconds, ...settings },
    });
  const stop = () => service.close();

  const receiver = async (answer: (attempt: number) => (response: ServerResponse) => void) => {
    const received: Received[] = [];
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { url = '', method = '', headers } = request;
        received.push({ url, method, headers, body: Buffer.concat(chunks).toString('utf8') });
        answer(received.length)(response);
      });
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in` };
  };
  const status = (code: number) => () => (response: ServerResponse) => {
    response.writeHead(code).end();
  };

  const subscribe = (tenantId: string, url: string, events: WebhookEvent[]) =>
    service.client.call(createWebhook, { body: { url, events } }, contextOf(tenantId));

  const list = async (request: Partial<RequestOf<typeof listWebhooks>>, context: ClientContext) =>
    (await service.client.call(listWebhooks, request, context)) as PageOf<Webhook>;

  const publish = <Data extends object>(type: IntegrationEventType<Data>, data: Data, id: string = randomUUID()) =>
    service.engines.bus.publish([
      {
        id,
        subject: type.subject,
        headers: { tenantId: '', requestId: `request-${id}`, occurredAt: new Date().toISOString() },
        data,
      },
    ]);

  const issue = async (
    tenantId: string,
    credential?: object,
    userId: string = randomUUID(),
    { isStored = true } = {},
  ) => {
    const id = randomUUID();
    const keyId = randomUUID();
    let sealed: string | undefined;
    if (credential) {
      await service.engines.vault.sealing.createDataKey(tenantId, 'delivery', keyId);
      sealed = await service.engines.vault.sealing.sealText(tenantId, 'delivery', keyId, JSON.stringify(credential));
    }
    const data = {
      tenantId,
      issuer: 'http://acme.localhost',
      credentialId: randomUUID(),
      format: 'jwt_vc_json' as const,
      profile: 'jwt-vc' as const,
      credentialConfigurationId: randomUUID(),
      userId,
      sessionId: randomUUID(),
      issuedAt: new Date().toISOString(),
      ...(sealed !== undefined && { documentKeyId: keyId }),
    };
    if (sealed !== undefined && isStored) documents.set(`${tenantId} ${data.sessionId} ${data.credentialId}`, sealed);
    await publish(credentialIssued, data, id);
    return {
      id,
      data,
      erased: async () =>
        sealed !== undefined && isErased(await service.engines.vault.sealing.openSealed(tenantId, 'delivery', sealed)),
    };
  };

  const eventsOf = async (tenantId: string, eventId: string, webhookId: string, type: WebhookEvent = FULL) => {
    const stream = webhookDeliveryStream(tenantId, deliveryKeyOf(eventId, webhookId, type));
    return (await service.engines.events.readStream(stream)).map(({ type: name, data }) => ({
      name,
      data: data as object,
    }));
  };
  const ended = (tenantId: string, eventId: string, webhookId: string, type: WebhookEvent = FULL) =>
    until(async () => {
      const events = await eventsOf(tenantId, eventId, webhookId, type);
      const names = events.map(({ name }) => name);
      return /Succeeded|Exhausted|Cancelled/.test(names.at(-1) ?? '') && events;
    }, 'the end of a delivery');
  /** The process seems to have ended right after it. */
  const storeScheduled = (tenantId: string, delivery: ScheduledDelivery) =>
    service.engines.streams.runDecision(
      webhookDelivery,
      webhookDeliveryStream(tenantId, delivery.deliveryKey),
      (state) => scheduleDelivery(state, delivery),
      { tenantId, requestId: 'r', actor: 'service:webhooks', operation: 'test' },
    );
  const failedOnce = (...of: Parameters<typeof eventsOf>) =>
    until(
      async () => (await eventsOf(...of)).some(({ name }) => name === 'DeliveryAttemptFailed'),
      'the first failure',
    );
  /** The ids of the attempts that were sent: the first may be in the event that scheduled it. */
  const startsOf = (events: readonly { name: string; data: object }[]) =>
    events
      .filter(({ name }) => name === 'DeliveryScheduled' || name === 'DeliveryAttemptStarted')
      .flatMap(({ data }) => ('deliveryId' in data ? [data.deliveryId as string] : []));
  const envelopeOf = ({ body }: Received) => JSON.parse(body) as Envelope;

  beforeEach(() => start([0.05, 0.05, 0.05]));
  afterEach(async () => {
    await service.remove();
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  describe('subscriptions', () => {
    it('are created, listed, retrieved, replaced and deleted within their tenant [T31] [T33] [T35] [T36] [T37] [T38] [T39]', async () => {
      const [mine, other] = [randomUUID(), randomUUID()];
      const created = await subscribe(mine, 'https://bücher.example.com/in', [FULL]);
      expect(created).toEqual({
        id: expect.any(String) as string,
        events: [FULL],
        url: 'https://xn--bcher-kva.example.com/in',
        disabled: false,
      });
      const second = await service.client.call(
        createWebhook,
        { body: { url: 'https://b.example.com', events: [SUMMARY], disabled: true } },
        contextOf(mine),
      );
      expect(second).toMatchObject({ url: 'https://b.example.com', disabled: true });

      const first = await list({ query: { limit: 1 } }, contextOf(mine));
      expect(first.data).toEqual([created]);
      const { nextCursor } = first;
      const rest = await list({ query: { cursor: nextCursor! } }, contextOf(mine));
      expect(rest).toEqual({ data: [second] });
      await expect(list({ query: { cursor: nextCursor! } }, contextOf(other))).rejects.toMatchObject({
        kind: 'invalid',
      });
      expect(await list({}, contextOf(other))).toEqual({ data: [] });

      const params = { webhookId: created.id };
      expect(await service.client.call(retrieveWebhook, { params }, contextOf(mine))).toEqual(created);
      const body = { url: 'https://c.example.com/x', events: [SUMMARY] };
      for (const call of [
        service.client.call(retrieveWebhook, { params }, contextOf(other)),
        service.client.call(updateWebhook, { params, body }, contextOf(other)),
        service.client.call(deleteWebhook, { params }, contextOf(other)),
      ])
        await expect(call).rejects.toMatchObject({ kind: 'notFound' });
      const malformed = service.client.call(retrieveWebhook, { params: { webhookId: 'x' } }, contextOf(mine));
      await expect(malformed).rejects.toMatchObject({ kind: 'invalid' });

      // An absent `disabled` is not changed.
      const at = { webhookId: second.id.toUpperCase() };
      const replaced = await service.client.call(updateWebhook, { params: at, body }, contextOf(mine));
      expect(replaced).toEqual({ id: second.id, ...body, disabled: true });
      expect((await list({}, contextOf(mine))).data).toEqual([created, replaced]);

      await service.client.call(deleteWebhook, { params }, contextOf(mine));
      await expect(service.client.call(deleteWebhook, { params }, contextOf(mine))).rejects.toMatchObject({
        kind: 'notFound',
      });
      await expect(service.client.call(retrieveWebhook, { params }, contextOf(mine))).rejects.toMatchObject({
        kind: 'notFound',
      });
      expect((await list({}, contextOf(mine))).data).toEqual([replaced]);
    });

    it('accept null as an absent `disabled`, and an update without other members replaces them', async () => {
      const context = contextOf(randomUUID());
      const body = { url: 'https://a.example.com/in', events: [FULL, SUMMARY], disabled: null as never };
      const created = await service.client.call(createWebhook, { body }, context);
      expect(created.disabled).toBe(false);
      const params = { webhookId: created.id };
      const change = { url: 'https://b.example.com/in', events: [SUMMARY] };
      await service.client.call(updateWebhook, { params, body: { ...change, disabled: true } }, context);
      const kept = await service.client.call(
        updateWebhook,
        { params, body: { ...change, disabled: null as never } },
        context,
      );
      expect(kept).toEqual({ id: created.id, ...change, disabled: true });
      const unknown = { webhookId: randomUUID() };
      // The fault that no other body would correct comes first.
      const wrong = service.client.call(
        updateWebhook,
        { params: unknown, body: { ...change, url: 'mailto:a@b.c' } },
        context,
      );
      await expect(wrong).rejects.toMatchObject({ kind: 'notFound' });
    });

    it('are at most twenty, also when they are created concurrently', async () => {
      const tenantId = randomUUID();
      let count = 0;
      const create = () => subscribe(tenantId, `https://a.example.com/in/${count++}`, [FULL]);
      await Promise.all(Array.from({ length: 15 }, create).map((call) => call.catch((error: unknown) => error)));
      const kinds = new Set<string>();
      for (let i = 0; i < 3; i++)
        for (const result of await Promise.allSettled(Array.from({ length: 8 }, create)))
          if (result.status === 'rejected') kinds.add((result.reason as { kind: string }).kind);
      expect(kinds).toContain('invalid');
      const { data } = await list({}, contextOf(tenantId));
      expect(data).toHaveLength(20);
      await service.client.call(deleteWebhook, { params: { webhookId: data[0]!.id } }, contextOf(tenantId));
      await create();
      await expect(create()).rejects.toMatchObject({ kind: 'invalid', details: [{ param: 'webhooks' }] });
    });

    it('are at most five with one URL, also when they are created and changed concurrently', async () => {
      const tenantId = randomUUID();
      const url = 'https://shared.example.com/in';
      const atMostFive = async (calls: Promise<unknown>[]) => {
        for (const outcome of await Promise.allSettled(calls))
          if (outcome.status === 'rejected')
            expect(outcome.reason).toMatchObject({
              kind: 'invalid',
              details: [
                {
                  param: 'url',
                  location: 'body',
                  msg: 'must not be the URL of more than 5 webhooks of a tenant',
                  value: expect.stringMatching(/^https:\/\/shared/i) as string,
                },
              ],
            });
        const { data } = await list({}, contextOf(tenantId));
        return data.filter((it) => new URL(it.url).href === url);
      };
      const update = (webhookId: string, to: string) =>
        service.client.call(
          updateWebhook,
          { params: { webhookId }, body: { url: to, events: [FULL] } },
          contextOf(tenantId),
        );
      const created = await atMostFive(
        Array.from({ length: 8 }, (_, n) =>
          subscribe(tenantId, n % 2 ? url : 'https://SHARED.example.com:443/x/../in', [FULL]),
        ),
      );
      expect(created).toHaveLength(5);
      // A refused one uses no slot.
      const others = await Promise.all(
        Array.from({ length: 15 }, (_, n) => subscribe(tenantId, `https://other.example.com/${n}`, [FULL])),
      );
      expect(await atMostFive(others.slice(0, 4).map(({ id }) => update(id, url)))).toHaveLength(5);
      const params = { webhookId: others[0]!.id };
      expect(await service.client.call(retrieveWebhook, { params }, contextOf(tenantId))).toEqual(others[0]);
      await update(created[0]!.id, 'https://elsewhere.example.com/');
      await service.client.call(deleteWebhook, { params: { webhookId: created[1]!.id } }, contextOf(tenantId));
      expect(await atMostFive(others.slice(0, 6).map(({ id }) => update(id, url)))).toHaveLength(5);
      // A webhook that has the URL keeps it, and its other members can change.
      await update(created[2]!.id, url);
      // Webhooks of another tenant count apart.
      await subscribe(randomUUID(), url, [FULL]);
    });

    it('can be tested at most ten times a minute each', async () => {
      const tenantId = randomUUID();
      const { received, url } = await receiver(status(200));
      const [{ id: one }, { id: other }] = [
        await subscribe(tenantId, url, [FULL]),
        await subscribe(tenantId, `${url}/other`, [FULL]),
      ];
      const test = (webhookId: string) =>
        service.client.call(testWebhook, { params: { webhookId } }, contextOf(tenantId)).then(
          () => 'sent' as const,
          (error: unknown) => error as AppError,
        );
      const outcomes = await Promise.all(Array.from({ length: 14 }, () => test(one)));
      const refused = outcomes.filter((it) => it !== 'sent');
      expect(refused).toHaveLength(4);
      for (const error of refused) {
        expect(error).toMatchObject({ kind: 'tooManyRequests', code: 'TooManyRequests' });
        const seconds = Number(error.headers!['retry-after']);
        expect([seconds > 0, seconds <= 60]).toEqual([true, true]);
      }
      // Not after a restart either.
      await stop();
      await start([0.05]);
      expect(await test(one)).not.toBe('sent');
      expect(await test(other)).toBe('sent');
      await until(() => received.length === 11, 'the deliveries');
      expect(await test(randomUUID())).toMatchObject({ kind: 'notFound' });
    });

    it('are published to the other services in their current form', async () => {
      const tenantId = randomUUID();
      const delivered: FeedMessage[] = [];
      const consumer = service.engines.bus.consume(
        { name: 'test.told', subjects: [webhookSaved.subject, webhookDeleted.subject] },
        (messages) => {
          delivered.push(...messages);
          return Promise.resolve();
        },
      );
      const { id: webhookId } = await subscribe(tenantId, 'https://a.example.com/in', [FULL]);
      const params = { webhookId };
      const body = { url: 'https://b.example.com/in', events: [SUMMARY], disabled: true };
      await service.client.call(updateWebhook, { params, body }, contextOf(tenantId));
      await service.client.call(deleteWebhook, { params }, contextOf(tenantId));
      await until(() => delivered.some(({ subject }) => subject === webhookDeleted.subject), 'the deletion');
      expect(delivered.map(({ data }) => data)).toEqual([
        { tenantId, webhookId, events: [FULL], disabled: false },
        { tenantId, webhookId, events: [SUMMARY], disabled: false },
        { tenantId, webhookId, events: [SUMMARY], disabled: true },
        { tenantId, webhookId },
      ]);
      await consumer.close();
    });

    it('have one key set per tenant, the same for concurrent callers [T34]', async () => {
      const ask = (tenantId: string) =>
        service.client.call(retrieveWebhookKeys, {}, { ...contextOf(tenantId), caller: { kind: 'public' } });
      const tenantId = randomUUID();
      const [first, again] = await Promise.all([ask(tenantId), ask(tenantId)]);
      expect(first.keys).toEqual([
        {
          kty: 'OKP',
          crv: 'Ed25519',
          x: expect.stringMatching(/^[\w-]{43}$/) as string,
          use: 'sig',
          alg: 'EdDSA',
          kid: expect.any(String) as string,
        },
      ]);
      expect(again).toEqual(first);
      expect((await ask(randomUUID())).keys[0]!['kid']).not.toBe(first.keys[0]!['kid']);
    });
  });

  it('delivers both events, signed, and destroys the delivery key afterwards [T32] [T41]', async () => {
    const tenantId = randomUUID();
    const { received, url } = await receiver(status(204));
    const first = await subscribe(tenantId, url, [FULL, SUMMARY]);
    const second = await subscribe(tenantId, `${url}/second`, [FULL]);
    const outsider = await receiver(status(204));
    await subscribe(randomUUID(), outsider.url, [FULL, SUMMARY]);
    const credential = { jwt: 'eyJ.secret.credential' };
    const { id, data, erased } = await issue(tenantId, credential);

    await until(() => received.length >= 3, 'three deliveries');
    const payload = {
      format: data.format,
      userId: data.userId,
      credentialProfile: data.profile,
      credentialConfigurationId: data.credentialConfigurationId,
      credentialId: data.credentialId,
    };
    const got = received.map((request) => {
      const { webhookId, event } = envelopeOf(request);
      expect(event).toEqual({
        id,
        type: event.type,
        timestamp: data.issuedAt,
        payload: event.type === FULL ? { ...payload, credential } : payload,
      });
      expect(request.headers).toMatchObject({
        'x-webhook-id': webhookId,
        'x-webhook-event-type': event.type,
        'x-webhook-attempt': '1',
        'content-type': 'application/json',
      });
      return `${webhookId} ${event.type}`;
    });
    expect(got.sort()).toEqual([`${first.id} ${FULL}`, `${first.id} ${SUMMARY}`, `${second.id} ${FULL}`].sort());

    const { keys } = await service.client.call(
      retrieveWebhookKeys,
      {},
      { ...contextOf(tenantId), caller: { kind: 'public' } },
    );
    const { verifySignature } = await import('http-message-sig');
    for (const { headers, body, method, url: path } of received) {
      const digest = createHash('sha256').update(body).digest('base64');
      expect(headers['content-digest']).toBe(`sha-256=:${digest}:`);
      const verified = await verifySignature(
        {
          kind: 'request',
          method,
          targetUri: new URL(path, url).href,
          fields: Object.entries(headers).map(([name, value]) => ({ name, value: String(value) })),
        },
        {
          label: 'sig1',
          policy: {
            algorithms: ['ed25519'],
            requiredComponents: ['@method', '@target-uri', 'content-type', 'content-digest'],
            requiredParameters: ['created', 'expires', 'keyid', 'alg', 'tag'],
            maxAge: 300,
          },
          resolveVerifier: ({ parameters }) => {
            const key = keys.find(({ kid }) => kid === parameters.keyid)!;
            return {
              algorithm: 'ed25519',
              verify: (base, signature) =>
                verify(null, base, createPublicKey({ key: key as never, format: 'jwk' }), signature),
            };
          },
        },
      );
      expect(verified.parameters.tag).toBe('webhook');
      expect(verified.parameters.expires).toBe(verified.parameters.created! + 300);
    }
    await until(erased, 'the key to be destroyed');
    expect(outsider.received).toEqual([]);
    const stored = JSON.stringify((await service.engines.events.readAll({ limit: 1000 })).events);
    expect(stored).not.toContain('eyJ.secret.credential');
  });

  it('repeats a failed attempt under a new delivery id and the same event id', async () => {
    const tenantId = randomUUID();
    const { received, url } = await receiver((attempt) => status(attempt < 3 ? 503 : 200)());
    const { id: webhookId } = await subscribe(tenantId, url, [FULL]);
    const { id, erased } = await issue(tenantId, { a: 1 });
    const events = await ended(tenantId, id, webhookId);
    expect(events.map(({ name }) => name).filter((name) => name !== 'DeliveryAttemptStarted')).toEqual([
      'DeliveryScheduled',
      'DeliveryAttemptFailed',
      'DeliveryAttemptFailed',
      'DeliverySucceeded',
    ]);
    expect(events.find(({ name }) => name === 'DeliveryAttemptFailed')!.data).toMatchObject({
      attempt: 1,
      status: 503,
    });
    expect(received.map(({ headers }) => headers['x-webhook-attempt'])).toEqual(['1', '2', '3']);
    const envelopes = received.map(envelopeOf);
    expect(new Set(envelopes.map(({ deliveryId }) => deliveryId)).size).toBe(3);
    expect(startsOf(events)).toEqual(envelopes.map(({ deliveryId }) => deliveryId));
    expect(new Set(envelopes.map(({ event }) => event.id))).toEqual(new Set([id]));
    expect(envelopes.every(({ event }) => 'credential' in event.payload)).toBe(true);
    await until(erased, 'the key to be destroyed');
  });

  it('treats time-outs, redirects and refused connections as failures, and gives up after the last retry', async () => {
    const tenantId = randomUUID();
    const elsewhere = await receiver(status(200));
    const redirecting = await receiver(() => (response) => {
      response.writeHead(307, { location: elsewhere.url }).end();
    });
    const silent = await receiver(() => () => undefined);
    const hooks = await Promise.all([
      subscribe(tenantId, silent.url, [FULL]),
      subscribe(tenantId, redirecting.url, [FULL]),
      subscribe(tenantId, 'http://127.0.0.1:1/', [FULL]),
    ]);
    const { id, erased } = await issue(tenantId, { a: 1 });
    const why: unknown[] = [];
    for (const { id: webhookId } of hooks) {
      const events = await ended(tenantId, id, webhookId);
      const failures = events.filter(({ name }) => name === 'DeliveryAttemptFailed');
      expect(failures).toHaveLength(4);
      expect(failures.map(({ data }) => 'nextAttemptAt' in data)).toEqual([true, true, true, false]);
      expect(events.at(-1)).toMatchObject({ name: 'DeliveryExhausted', data: { attempts: 4 } });
      const { status: code, error } = failures[0]!.data as { status?: number; error?: string };
      why.push(code ?? error);
    }
    expect(why).toEqual(['timeout', 307, 'ECONNREFUSED']);
    expect(elsewhere.received).toEqual([]);
    expect(redirecting.received).toHaveLength(4);
    await until(erased, 'the key to be destroyed');
  });

  it('delivers other events, with only the members declared for receivers', async () => {
    const tenantId = randomUUID();
    const { received, url } = await receiver(status(200));
    const { id: webhookId } = await subscribe(tenantId, url, [
      'DidCreated',
      'TenantClientCreated',
      'CustomDomainVerified',
    ]);
    await subscribe(tenantId, `${url}/other`, [SUMMARY]);
    const [didId, clientId] = [randomUUID(), randomUUID()];
    const created = { tenantId, did: 'did:key:z6Mk', method: 'key' as const, internal: 'not told' };
    await publish(didCreated, created, didId);
    // Twice, as the feed may.
    await publish(didCreated, created, didId);
    await publish(clientCreated, { tenantId, clientId, roles: ['issuer'] });
    await publish(customDomainVerified, { tenantId, domain: 'brand.example', revision: 3 });
    await publish(didCreated, { ...created, tenantId: randomUUID() });
    await issue(tenantId);
    await until(() => received.length >= 4, 'four deliveries');
    const delivered = received.map((request) => [request.url, envelopeOf(request)] as const);
    const event = (type: string, payload: object, id: unknown = expect.any(String)) => [
      '/in',
      expect.objectContaining({ webhookId, event: { id, type, timestamp: expect.any(String) as string, payload } }),
    ];
    expect(delivered).toEqual(
      expect.arrayContaining([
        event('DidCreated', { did: 'did:key:z6Mk', method: 'key' }, didId),
        event('TenantClientCreated', { clientId, roles: ['issuer'] }),
        event('CustomDomainVerified', { domain: 'brand.example' }),
        ['/in/other', expect.objectContaining({ event: expect.objectContaining({ type: SUMMARY }) as object })],
      ]),
    );
    await ended(tenantId, didId, webhookId, 'DidCreated');
    expect(received).toHaveLength(4);
  });

  it('identifies an invited person only by id, without an address, whatever the integration event contains', async () => {
    const tenantId = randomUUID();
    const { received, url } = await receiver(status(200));
    const { id: webhookId } = await subscribe(tenantId, url, ['TenantMemberInvited']);
    const [userId, eventId] = [randomUUID(), randomUUID()];
    const payload = {
      userId,
      roles: ['issuer' as const],
      status: 'Pending' as const,
      inviteExpiresAt: '2026-03-06T10:00:00.000Z',
    };
    const fact = { tenantId, ...payload, email: 'ada@people.example' };
    await publish(memberInvited, fact, eventId);
    await until(() => received.length >= 1, 'a delivery');
    expect(envelopeOf(received[0]!)).toMatchObject({
      webhookId,
      event: { id: eventId, type: 'TenantMemberInvited', payload },
    });
    expect(JSON.stringify(envelopeOf(received[0]!))).not.toContain('people.example');
    await ended(tenantId, eventId, webhookId, 'TenantMemberInvited');
  });

  it('delivers changes of the status of credentials, with their reason, within the tenant [T155]', async () => {
    const tenantId = randomUUID();
    const { received, url } = await receiver(status(200));
    const { id: webhookId } = await subscribe(tenantId, url, ['CredentialStatusChanged']);
    const payload = {
      credentialId: randomUUID(),
      userId: randomUUID(),
      credentialConfigurationId: randomUUID(),
      format: 'dc+sd-jwt' as const,
      credentialProfile: 'sd-jwt' as const,
      status: 'suspended' as const,
      formerStatus: 'valid' as const,
    };
    const [first, second] = [randomUUID(), randomUUID()];
    await publish(credentialStatusChanged, { tenantId: randomUUID(), ...payload });
    await publish(credentialStatusChanged, { tenantId, ...payload, reason: 'Under review' }, first);
    const restored = { ...payload, status: 'valid' as const, formerStatus: 'suspended' as const };
    await publish(credentialStatusChanged, { tenantId, ...restored }, second);
    await ended(tenantId, first, webhookId, 'CredentialStatusChanged');
    await ended(tenantId, second, webhookId, 'CredentialStatusChanged');
    const events = new Map(received.map(envelopeOf).map(({ event }) => [event.id, event]));
    const event = { type: 'CredentialStatusChanged', timestamp: expect.any(String) as string };
    expect(events.get(first)).toEqual({ id: first, ...event, payload: { ...payload, reason: 'Under review' } });
    expect(events.get(second)).toEqual({ id: second, ...event, payload: restored });
    expect(received).toHaveLength(2);
  });

  describe('requests that callers make the platform send', () => {
    const outcome = (call: Promise<unknown>) =>
      call.then(
        () => 'sent' as const,
        (error: unknown) => error as AppError,
      );
    const test = (tenantId: string, webhookId: string) =>
      outcome(service.client.call(testWebhook, { params: { webhookId } }, contextOf(tenantId)));
    const tooMany = { kind: 'tooManyRequests', headers: { 'retry-after': expect.stringMatching(/^\d+$/) as string } };

    it('are limited to ten tests a minute per URL, also for webhooks that are created again', async () => {
      const tenantId = randomUUID();
      const { received, url } = await receiver(status(200));
      const outcomes: ('sent' | AppError)[] = [];
      for (let n = 0; n < 3; n++) {
        const { id: webhookId } = await subscribe(tenantId, url, [FULL]);
        for (let k = 0; k < 6; k++) outcomes.push(await test(tenantId, webhookId));
        await service.client.call(deleteWebhook, { params: { webhookId } }, contextOf(tenantId));
      }
      expect(outcomes.slice(0, 10)).toEqual(Array(10).fill('sent'));
      for (const refused of outcomes.slice(10)) expect(refused).toMatchObject(tooMany);
      expect(received.length).toBeLessThanOrEqual(10);
      // Another tenant has its own budget.
      const other = randomUUID();
      expect(await test(other, (await subscribe(other, url, [FULL])).id)).toBe('sent');
    });

    it('are limited to sixty a minute per origin, tests and repeated deliveries together', async () => {
      const tenantId = randomUUID();
      const { received, url } = await receiver(status(200));
      const attempt = async (webhookId: string) => {
        expect(await test(tenantId, webhookId)).toBe('sent');
        return until(async () => {
          const request = { params: { webhookId }, query: {} };
          const { data } = (await service.client.call(
            listWebhookAttempts,
            request,
            contextOf(tenantId),
          )) as PageOf<WebhookAttempt>;
          return data[0]?.status === 'Delivered' && data[0];
        }, 'the attempt');
      };
      const redeliver = (webhookId: string, deliveryId: string) =>
        outcome(
          service.client.call(redeliverWebhookAttempt, { params: { webhookId, deliveryId } }, contextOf(tenantId)),
        );
      const webhooks = await Promise.all(
        Array.from({ length: 8 }, (_, n) => subscribe(tenantId, `${url}/${n}`, [FULL])),
      );
      const one = webhooks[0]!.id;
      const { deliveryId } = await attempt(one);
      // Calls refused for another reason are not counted.
      for (let n = 0; n < 70; n++) expect(await redeliver(one, randomUUID())).toMatchObject({ kind: 'notFound' });
      let sent = 1;
      for (const { id } of webhooks.slice(1))
        for (let n = 0; n < 8; n++, sent++) expect(await test(tenantId, id)).toBe('sent');
      for (; sent < 60; sent++) {
        const before = received.length;
        const again = await until(async () => {
          const it = await redeliver(one, deliveryId);
          return (it === 'sent' || it.kind !== 'conflict') && it;
        }, 'the end of the delivery before');
        expect(again).toBe('sent');
        await until(() => received.length > before, 'the repeated delivery');
      }
      await until(() => received.length === 60, 'the deliveries');
      expect(await redeliver(one, deliveryId)).toMatchObject(tooMany);
      expect(await test(tenantId, webhooks[1]!.id)).toMatchObject(tooMany);
      expect(received).toHaveLength(60);
    }, 60_000);
  });

  describe('attempts', () => {
    const attemptsOf = async (tenantId: string, webhookId: string, query: { limit?: number; cursor?: string } = {}) =>
      (await service.client.call(
        listWebhookAttempts,
        { params: { webhookId }, query },
        contextOf(tenantId),
      )) as PageOf<WebhookAttempt>;
    const whole = (tenantId: string, webhookId: string, count: number) =>
      until(async () => {
        const { data } = await attemptsOf(tenantId, webhookId);
        return data.length === count && data.every(({ status: name }) => name !== 'Started') && data;
      }, `${count} attempts in the list`);
    const redeliver = (tenantId: string, webhookId: string, deliveryId: string) =>
      service.client.call(redeliverWebhookAttempt, { params: { webhookId, deliveryId } }, contextOf(tenantId));

    it('are listed newest first, in pages, only for their tenant', async () => {
      const tenantId = randomUUID();
      const { received, url } = await receiver((attempt) => status(attempt < 3 ? 503 : 200)());
      const { id: webhookId } = await subscribe(tenantId, url, [SUMMARY]);
      expect(await attemptsOf(tenantId, webhookId)).toEqual({ data: [] });
      const { id, data: delivered } = await issue(tenantId);
      const data = await whole(tenantId, webhookId, 3);
      const events = await eventsOf(tenantId, id, webhookId, SUMMARY);
      const next = events.filter(({ name }) => name === 'DeliveryAttemptFailed').map(({ data: failed }) => failed);
      const time = expect.stringMatching(/^\d{4}-.*Z$/) as string;
      const attempt = (number: number) => ({
        deliveryId: envelopeOf(received[number - 1]!).deliveryId,
        webhookId,
        event: { id, type: SUMMARY, timestamp: delivered.issuedAt },
        attempt: number,
        startedAt: envelopeOf(received[number - 1]!).deliveryTimestamp,
        endedAt: time,
      });
      const failed = (number: number) => ({
        ...attempt(number),
        status: 'Failed',
        httpStatus: 503,
        nextAttemptAt: (next[number - 1] as { nextAttemptAt: string }).nextAttemptAt,
      });
      expect(data).toEqual([{ ...attempt(3), status: 'Delivered', httpStatus: 200 }, failed(2), failed(1)]);

      const first = await attemptsOf(tenantId, webhookId, { limit: 2 });
      expect(first.data).toEqual(data.slice(0, 2));
      expect(await attemptsOf(tenantId, webhookId, { cursor: first.nextCursor! })).toEqual({ data: data.slice(2) });
      await expect(attemptsOf(randomUUID(), webhookId)).rejects.toMatchObject({ kind: 'notFound' });
      const { id: other } = await subscribe(tenantId, url, [FULL]);
      expect(await attemptsOf(tenantId, other)).toEqual({ data: [] });
      const elsewhere = attemptsOf(tenantId, other, { cursor: first.nextCursor! });
      await expect(elsewhere).rejects.toMatchObject({ kind: 'invalid' });
    });

    it('name the reason of a missing response, and why no attempt followed', async () => {
      const tenantId = randomUUID();
      await stop();
      await start([600]);
      const { id: webhookId } = await subscribe(tenantId, 'http://127.0.0.1:1/', [SUMMARY]);
      await issue(tenantId);
      const [failed] = await whole(tenantId, webhookId, 1);
      expect(failed).toMatchObject({ status: 'Failed', error: 'ECONNREFUSED', nextAttemptAt: expect.any(String) });
      const body = { url: 'http://127.0.0.1:1/', events: [SUMMARY], disabled: true };
      await service.client.call(updateWebhook, { params: { webhookId }, body }, contextOf(tenantId));
      const [cancelled] = await until(async () => {
        const { data } = await attemptsOf(tenantId, webhookId);
        return data[0]?.cancelled && data;
      }, 'the cancellation');
      expect(cancelled).toMatchObject({ status: 'Failed', error: 'ECONNREFUSED', cancelled: 'webhook-disabled' });
      expect(cancelled).not.toHaveProperty('nextAttemptAt');
    });

    it('are repeated on request: the same event, numbered from 1, retried after a failure', async () => {
      const tenantId = randomUUID();
      const { received, url } = await receiver((attempt) => status(attempt <= 5 ? 500 : 200)());
      const { id: webhookId } = await subscribe(tenantId, url, [SUMMARY]);
      const { id, data } = await issue(tenantId);
      const exhausted = await whole(tenantId, webhookId, 4);
      expect(exhausted[0]).not.toHaveProperty('nextAttemptAt');
      const event = { id, type: SUMMARY, timestamp: data.issuedAt };
      const { deliveryId } = exhausted[2]!;
      expect(await redeliver(tenantId, webhookId, deliveryId)).toEqual({ webhookId, event });
      const all = await whole(tenantId, webhookId, 6);
      expect(all.map(({ attempt, status: name }) => `${attempt} ${name}`)).toEqual([
        '2 Delivered',
        '1 Failed',
        ...['4 Failed', '3 Failed', '2 Failed', '1 Failed'],
      ]);
      expect(received.map(({ headers }) => headers['x-webhook-attempt'])).toEqual(['1', '2', '3', '4', '1', '2']);
      expect(new Set(received.map((request) => envelopeOf(request).event.id))).toEqual(new Set([id]));
      expect(new Set(received.map((request) => envelopeOf(request).deliveryId)).size).toBe(6);
      // One that was delivered, too.
      await redeliver(tenantId, webhookId, all[0]!.deliveryId);
      await whole(tenantId, webhookId, 7);
    });

    it('are not repeated for other tenants, nor while the delivery is in progress or the webhook is disabled', async () => {
      const tenantId = randomUUID();
      await stop();
      await start([600]);
      const { url } = await receiver(status(500));
      const { id: webhookId } = await subscribe(tenantId, url, [SUMMARY]);
      await issue(tenantId);
      const [{ deliveryId }] = (await whole(tenantId, webhookId, 1)) as [WebhookAttempt];
      await expect(redeliver(tenantId, webhookId, deliveryId)).rejects.toMatchObject({ kind: 'conflict' });
      await expect(redeliver(randomUUID(), webhookId, deliveryId)).rejects.toMatchObject({ kind: 'notFound' });
      await expect(redeliver(tenantId, webhookId, randomUUID())).rejects.toMatchObject({ kind: 'notFound' });
      const { id: other } = await subscribe(tenantId, url, [SUMMARY]);
      await expect(redeliver(tenantId, other, deliveryId)).rejects.toMatchObject({ kind: 'notFound' });
      const body = { url, events: [SUMMARY], disabled: true };
      await service.client.call(updateWebhook, { params: { webhookId }, body }, contextOf(tenantId));
      await expect(redeliver(tenantId, webhookId, deliveryId)).rejects.toMatchObject({ kind: 'conflict' });
    });

    it('are repeated with the credential while another delivery needs it, and refused after that', async () => {
      const tenantId = randomUUID();
      await stop();
      await start([600]);
      const quick = await receiver(status(200));
      const { id: webhookId } = await subscribe(tenantId, quick.url, [FULL]);
      const failing = await subscribe(tenantId, (await receiver(status(500))).url, [FULL]);
      const { id, erased } = await issue(tenantId, { a: 1 });
      const [{ deliveryId }] = (await whole(tenantId, webhookId, 1)) as [WebhookAttempt];
      await whole(tenantId, failing.id, 1);
      await redeliver(tenantId, webhookId, deliveryId);
      await whole(tenantId, webhookId, 2);
      expect(quick.received.map((request) => envelopeOf(request).event)).toMatchObject([
        { id, payload: { credential: { a: 1 } } },
        { id, payload: { credential: { a: 1 } } },
      ]);
      await service.client.call(deleteWebhook, { params: { webhookId: failing.id } }, contextOf(tenantId));
      await until(erased, 'the key to be destroyed');
      await expect(redeliver(tenantId, webhookId, deliveryId)).rejects.toMatchObject({
        kind: 'invalid',
        details: [
          { param: 'deliveryId', location: 'params', msg: expect.stringContaining('no longer stored') as string },
        ],
      });
      expect(quick.received).toHaveLength(2);
    });

    it('of an interrupted sender are listed as interrupted', async () => {
      const tenantId = randomUUID();
      await stop();
      await start([1]);
      const { url } = await receiver((attempt) => status(attempt === 1 ? 500 : 200)());
      const { id: webhookId } = await subscribe(tenantId, url, [SUMMARY]);
      const { id } = await issue(tenantId);
      const stream = webhookDeliveryStream(tenantId, deliveryKeyOf(id, webhookId, SUMMARY));
      await failedOnce(tenantId, id, webhookId, SUMMARY);
      await service.stop();
      await service.engines.streams.runDecision(
        webhookDelivery,
        stream,
        (state) => startAttempt(state, { deliveryId: 'lost' }, { now: new Date(Date.now() + 60_000).toISOString() }),
        { tenantId, requestId: 'r', actor: 'service:webhooks', operation: 'test' },
      );
      await service.close();
      await start([1]);
      await ended(tenantId, id, webhookId, SUMMARY);
      const data = await whole(tenantId, webhookId, 3);
      expect(data.find(({ deliveryId }) => deliveryId === 'lost')).toMatchObject({
        attempt: 2,
        status: 'Failed',
        error: 'interrupted',
      });
    });
  });

  describe('a test event', () => {
    const test = (tenantId: string, webhookId: string) =>
      service.client.call(testWebhook, { params: { webhookId } }, contextOf(tenantId));

    it('is delivered like any other event, whatever the webhook subscribed to', async () => {
      const tenantId = randomUUID();
      const { received, url } = await receiver((attempt) => status(attempt === 1 ? 500 : 200)());
      const { id: webhookId } = await subscribe(tenantId, url, [FULL]);
      const sent = await test(tenantId, webhookId);
      expect(sent).toEqual({
        webhookId,
        event: { id: expect.any(String) as string, type: 'WebhookTested', timestamp: expect.any(String) as string },
      });
      await until(() => received.length === 2, 'the second attempt');
      expect(envelopeOf(received[1]!)).toMatchObject({ webhookId, event: { ...sent.event, payload: {} } });
      expect(received[1]!.headers).toMatchObject({ 'x-webhook-event-type': 'WebhookTested', 'x-webhook-attempt': '2' });
    });

    it('requires an enabled webhook of the tenant', async () => {
      const tenantId = randomUUID();
      const { received, url } = await receiver(status(200));
      const { id: webhookId } = await subscribe(tenantId, url, [FULL]);
      await expect(test(randomUUID(), webhookId)).rejects.toMatchObject({ kind: 'notFound' });
      await service.client.call(
        updateWebhook,
        { params: { webhookId }, body: { url, events: [FULL], disabled: true } },
        contextOf(tenantId),
      );
      await expect(test(tenantId, webhookId)).rejects.toMatchObject({ kind: 'conflict' });
      await service.client.call(deleteWebhook, { params: { webhookId } }, contextOf(tenantId));
      await expect(test(tenantId, webhookId)).rejects.toMatchObject({ kind: 'notFound' });
      expect(received).toEqual([]);
    });
  });

  describe('keys', () => {
    const keySet = async (tenantId: string) =>
      (
        await service.client.call(retrieveWebhookKeys, {}, { ...contextOf(tenantId), caller: { kind: 'public' } })
      ).keys.map(({ kid }) => kid as string);
    const rotate = (tenantId: string) => service.client.call(rotateWebhookKeys, {}, contextOf(tenantId));
    const restart = async (times: {
      tenantKeyLeadSeconds?: number;
      tenantKeyOverlapSeconds?: number;
      tenantKeyDays?: number;
    }) => {
      await stop();
      await start([0.05], true, times);
    };
    const kidOf = ({ headers }: Received) => /;keyid="([^"]+)"/.exec(String(headers['signature-input']))![1]!;

    it('are published before they sign, and until the end of their overlap', async () => {
      await restart({ tenantKeyLeadSeconds: 2, tenantKeyOverlapSeconds: 3 });
      const tenantId = randomUUID();
      const { received, url } = await receiver(status(200));
      let webhookId = '';
      let tests = 0;
      const send = async () => {
        // A URL is tested ten times a minute at most, an origin sixty times.
        await pause(200);
        if (tests++ % 10 === 0) {
          if (webhookId) await service.client.call(deleteWebhook, { params: { webhookId } }, contextOf(tenantId));
          webhookId = (await subscribe(tenantId, `${url}/${tests}`, [SUMMARY])).id;
        }
        const before = received.length;
        await service.client.call(testWebhook, { params: { webhookId } }, contextOf(tenantId));
        await until(() => received.length > before, 'a delivery');
        return kidOf(received.at(-1)!);
      };
      const [old] = (await keySet(tenantId)) as [string];
      expect(await send()).toBe(old);
      const { kid, signsFrom, previous } = await rotate(tenantId);
      expect(Date.parse(previous.publishedUntil) - Date.parse(signsFrom)).toBe(3000);
      expect(previous.kid).toBe(old);
      expect(await keySet(tenantId)).toEqual([old, kid]);
      // A copy of the key set fetched now contains the keys of all later deliveries.
      const cached = new Set(await keySet(tenantId));
      expect(await rotate(tenantId)).toEqual({ kid, signsFrom, previous });
      const after = await until(async () => {
        const used = await send();
        expect(cached).toContain(used);
        return used !== old && used;
      }, 'the new key to sign');
      expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(signsFrom));
      expect(after).toBe(kid);
      await until(async () => (await keySet(tenantId)).length === 1, 'the end of the overlap');
      expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(previous.publishedUntil));
      expect(await keySet(tenantId)).toEqual([kid]);
      await until(
        async () => (await service.engines.vault.signingKeys.listSigningKeys(tenantId, 'webhook')).length === 1,
        'the old key to be destroyed',
      );
      expect(await send()).toBe(kid);
    });

    it('that were created before key rotation are kept', async () => {
      const tenantId = randomUUID();
      const { keyId } = await service.engines.vault.signingKeys.ensureSigningKey(tenantId, 'webhook', 'Ed25519');
      expect(await keySet(tenantId)).toEqual([keyId]);
      const { kid, previous } = await rotate(tenantId);
      expect(previous.kid).toBe(keyId);
      expect(await keySet(tenantId)).toEqual([keyId, kid]);
    });

    it('are rotated by schedule, and deleted with the tenant', async () => {
      const tenantId = randomUUID();
      const [old] = (await keySet(tenantId)) as [string];
      await subscribe(tenantId, 'https://a.example.com/in', [FULL]);
      await restart({ tenantKeyDays: 1e-5, tenantKeyLeadSeconds: 1, tenantKeyOverlapSeconds: 600 });
      const keys = await until(async () => {
        const found = await keySet(tenantId);
        return found.length > 1 && found;
      }, 'a scheduled rotation');
      expect(keys[0]).toBe(old);
      await publish(tenantDeleted, { tenantId, host: 'acme.localhost' });
      await until(async () => (await keySet(tenantId)).length === 0, 'the keys to be published no more');
      await expect(rotate(tenantId)).rejects.toMatchObject({ kind: 'notFound' });
    });
  });

  it('continues pending deliveries after a restart', async () => {
    const tenantId = randomUUID();
    await stop();
    await start([2, 0.05]);
    let code = 500;
    const { received, url } = await receiver(() => status(code)());
    const { id: webhookId } = await subscribe(tenantId, url, [FULL]);
    const { id } = await issue(tenantId, { a: 1 });
    await failedOnce(tenantId, id, webhookId);
    await stop();
    code = 200;
    await start([2, 0.05]);
    const events = await ended(tenantId, id, webhookId);
    expect(events.at(-1)).toMatchObject({ name: 'DeliverySucceeded', data: { attempt: 2, status: 200 } });
    expect(received.map(({ headers }) => headers['x-webhook-attempt'])).toEqual(['1', '2']);
    // The webhook is in the directory again.
    const next = await issue(tenantId, { a: 2 });
    expect((await ended(tenantId, next.id, webhookId)).at(-1)!.name).toBe('DeliverySucceeded');
  });

  it.each([
    ['deleted', 'webhook-deleted'],
    ['disabled', 'webhook-disabled'],
  ])('cancels pending deliveries when the webhook is %s', async (what, reason) => {
    const tenantId = randomUUID();
    await stop();
    await start([600]);
    const { received, url } = await receiver(status(500));
    const { id: webhookId } = await subscribe(tenantId, url, [FULL]);
    const { id, erased } = await issue(tenantId, { a: 1 });
    await failedOnce(tenantId, id, webhookId);
    expect(await erased()).toBe(false);
    const params = { webhookId };
    if (what === 'deleted') await service.client.call(deleteWebhook, { params }, contextOf(tenantId));
    else
      await service.client.call(
        updateWebhook,
        { params, body: { url, events: [FULL], disabled: true } },
        contextOf(tenantId),
      );
    const events = await ended(tenantId, id, webhookId);
    expect(events.at(-1)).toMatchObject({ name: 'DeliveryCancelled', data: { reason } });
    await until(erased, 'the key to be destroyed');
    // Nothing is scheduled any more, and an unneeded key is destroyed at once.
    const next = await issue(tenantId, { a: 2 });
    await until(next.erased, 'the second key to be destroyed');
    expect(await eventsOf(tenantId, next.id, webhookId)).toEqual([]);
    expect(received).toHaveLength(1);
  });

  it('keeps a shared key until the last delivery has ended', async () => {
    const tenantId = randomUUID();
    await stop();
    await start([600]);
    const quick = await subscribe(tenantId, (await receiver(status(200))).url, [FULL]);
    const failing = await subscribe(tenantId, (await receiver(status(500))).url, [FULL]);
    const { id, erased } = await issue(tenantId, { a: 1 });
    expect((await ended(tenantId, id, quick.id)).at(-1)!.name).toBe('DeliverySucceeded');
    const stream = webhookDeliveryStream(tenantId, deliveryKeyOf(id, quick.id, FULL));
    const [last] = await service.engines.events.readStream(stream, { direction: 'backwards', limit: 1 });
    await until(async () => {
      const reached = await service.engines.checkpoints.read('webhooks.delivery-keys');
      return reached !== undefined && service.engines.events.comparePositions(reached, last!.position) >= 0;
    }, 'the first end to be handled');
    expect(await erased()).toBe(false);
    await service.client.call(deleteWebhook, { params: { webhookId: failing.id } }, contextOf(tenantId));
    await until(erased, 'the key to be destroyed');
  });

  it('loads the credential from issuance for each attempt, and waits for issuance', async () => {
    const tenantId = randomUUID();
    const { received, url } = await receiver(status(200));
    const { id: webhookId } = await subscribe(tenantId, url, [FULL]);
    unavailable = 2;
    const { id, data, erased } = await issue(tenantId, { a: 1 });
    await ended(tenantId, id, webhookId);
    unavailable = 0;
    const events = await eventsOf(tenantId, id, webhookId);
    expect(events.map(({ name }) => name).filter((name) => name !== 'DeliveryAttemptStarted')).toEqual([
      'DeliveryScheduled',
      'DeliverySucceeded',
    ]);
    const { documentKeyId: keyId, sessionId } = data;
    expect(events[0]!.data).toMatchObject({ sealedCredential: { keyId, sessionId } });
    expect(JSON.stringify(events)).not.toContain('v1.');
    expect((JSON.parse(received[0]!.body) as Envelope).event.payload['credential']).toEqual({ a: 1 });
    await until(erased, 'the key to be destroyed');
  });

  it('ends without the credential that issuance does not have', async () => {
    const tenantId = randomUUID();
    const { received, url } = await receiver(status(200));
    await stop();
    await start([]);
    const { id: webhookId } = await subscribe(tenantId, url, [FULL]);
    const { id } = await issue(tenantId, { a: 1 }, randomUUID(), { isStored: false });
    expect((await ended(tenantId, id, webhookId)).map(({ data }) => (data as { error?: string }).error)).toContain(
      'credential-missing',
    );
    expect(received).toEqual([]);
  });

  it('cancels a delivery whose credential was erased, and still delivers the summary', async () => {
    const tenantId = randomUUID();
    const { received, url } = await receiver((attempt) => status(attempt <= 2 ? 500 : 200)());
    await stop();
    await start([1, 1]);
    const { id: webhookId } = await subscribe(tenantId, url, [FULL, SUMMARY]);
    const { id, data } = await issue(tenantId, { a: 1 });
    await until(() => received.length === 2, 'both attempts');
    await service.engines.vault.sealing.destroyDataKeys(tenantId, [data.documentKeyId!]);
    expect((await ended(tenantId, id, webhookId)).at(-1)).toMatchObject({
      name: 'DeliveryCancelled',
      data: { reason: 'credential-erased' },
    });
    expect((await ended(tenantId, id, webhookId, SUMMARY)).at(-1)!.name).toBe('DeliverySucceeded');
  });

  it('erases and cancels pending deliveries of a deleted user', async () => {
    const tenantId = randomUUID();
    await stop();
    await start([600]);
    const { id: webhookId } = await subscribe(tenantId, (await receiver(status(500))).url, [FULL]);
    const [userId, other] = [randomUUID(), randomUUID()];
    const gone = await issue(tenantId, { a: 1 }, userId);
    const kept = await issue(tenantId, { a: 2 }, other);
    for (const { id } of [gone, kept]) await failedOnce(tenantId, id, webhookId);
    await publish(userDeleted, { tenantId, userId });
    expect((await ended(tenantId, gone.id, webhookId)).at(-1)).toMatchObject({ data: { reason: 'user-deleted' } });
    expect(await gone.erased()).toBe(true);
    expect(await kept.erased()).toBe(false);
  });

  it('completes the deliveries that an earlier run of the consumer planned, and adds none', async () => {
    const tenantId = randomUUID();
    const { received, url } = await receiver(status(200));
    const first = await subscribe(tenantId, url, [FULL]);
    const second = await subscribe(tenantId, url, [FULL]);
    // The process seems to have ended between the two appends, and the second webhook since.
    const [id, keyId] = [randomUUID(), randomUUID()];
    await service.engines.vault.sealing.createDataKey(tenantId, 'delivery', keyId);
    const sealed = await service.engines.vault.sealing.sealText(tenantId, 'delivery', keyId, '{"a":1}');
    const payload = {
      format: 'jwt_vc_json' as const,
      userId: randomUUID(),
      credentialConfigurationId: randomUUID(),
      credentialId: randomUUID(),
    };
    const [issuedAt, sessionId] = [new Date().toISOString(), randomUUID()];
    documents.set(`${tenantId} ${sessionId} ${payload.credentialId}`, sealed);
    await storeScheduled(tenantId, {
      deliveryKey: deliveryKeyOf(id, first.id, FULL),
      webhookId: first.id,
      event: { id, type: FULL, timestamp: issuedAt },
      payload: { ...payload, credentialProfile: 'jwt-vc' as const },
      sealedCredential: { keyId, sessionId },
      sharedBy: [first.id, second.id],
      attemptAt: issuedAt,
    });
    await ended(tenantId, id, first.id);
    await service.client.call(deleteWebhook, { params: { webhookId: second.id } }, contextOf(tenantId));
    expect(isErased(await service.engines.vault.sealing.openSealed(tenantId, 'delivery', sealed))).toBe(false);
    const data = { tenantId, issuer: '', profile: 'jwt-vc' as const, sessionId, issuedAt, ...payload };
    await publish(credentialIssued, { ...data, documentKeyId: keyId }, id);
    expect((await ended(tenantId, id, second.id)).at(-1)).toMatchObject({ data: { reason: 'webhook-deleted' } });
    await until(
      async () => isErased(await service.engines.vault.sealing.openSealed(tenantId, 'delivery', sealed)),
      'the key to go',
    );
    expect(received).toHaveLength(1);
    expect((await eventsOf(tenantId, id, first.id)).map(({ name }) => name)).toEqual([
      'DeliveryScheduled',
      'DeliveryAttemptStarted',
      'DeliverySucceeded',
    ]);
  });

  it('repeats an attempt during which the sender was killed', async () => {
    const tenantId = randomUUID();
    await stop();
    await start([1]);
    const { received, url } = await receiver((attempt) => status(attempt === 1 ? 500 : 200)());
    const { id: webhookId } = await subscribe(tenantId, url, [SUMMARY]);
    const { id } = await issue(tenantId);
    const stream = webhookDeliveryStream(tenantId, deliveryKeyOf(id, webhookId, SUMMARY));
    await failedOnce(tenantId, id, webhookId, SUMMARY);
    await service.stop();
    // The state after a process was killed once it had recorded the start of an attempt.
    await service.engines.streams.runDecision(
      webhookDelivery,
      stream,
      (state) => startAttempt(state, { deliveryId: 'lost' }, { now: new Date(Date.now() + 60_000).toISOString() }),
      { tenantId, requestId: 'r', actor: 'service:webhooks', operation: 'test' },
    );
    await service.close();
    await start([1]);
    const events = await ended(tenantId, id, webhookId, SUMMARY);
    const failed = events.findIndex(({ name }) => name === 'DeliveryAttemptFailed');
    expect(events.slice(failed + 1)).toMatchObject([
      { name: 'DeliveryAttemptStarted', data: { attempt: 2, deliveryId: 'lost' } },
      { name: 'DeliveryAttemptStarted', data: { attempt: 2, deliveryId: envelopeOf(received[1]!).deliveryId } },
      { name: 'DeliverySucceeded', data: { attempt: 2 } },
    ]);
  });

  it('ends the webhooks of a deleted tenant', async () => {
    const tenantId = randomUUID();
    const { id: webhookId } = await subscribe(tenantId, 'https://a.example.com/in', [FULL]);
    await publish(tenantDeleted, { tenantId, host: 'acme.localhost' });
    await until(
      () =>
        service.client.call(retrieveWebhook, { params: { webhookId } }, contextOf(tenantId)).then(
          () => false,
          ({ kind }: { kind: string }) => kind === 'notFound',
        ),
      'the webhook to be gone',
    );
  });

  it('delivers to other targets while one is slow', async () => {
    const [slow, quick] = [randomUUID(), randomUUID()];
    const silent = await receiver(() => () => undefined);
    const fast = await receiver(status(200));
    const { id: slowHook } = await subscribe(slow, silent.url, [FULL]);
    const { id: quickHook } = await subscribe(quick, fast.url, [FULL]);
    const waiting = await Promise.all(Array.from({ length: 60 }, () => issue(slow, { a: 1 })));
    await until(() => silent.received.length >= 4, 'the slow target to be full');
    const { id } = await issue(quick, { a: 2 });
    await ended(quick, id, quickHook);
    const open = await Promise.all(
      waiting.map(async (each) => startsOf(await eventsOf(slow, each.id, slowHook)).length === 0),
    );
    // Most of what waits for the slow target, scheduled long before, has not even had its first answer.
    expect(open.filter(Boolean).length).toBeGreaterThan(45);
  });

  it('stores a first attempt in the event of its delivery while the receiver responds quickly', async () => {
    const tenantId = randomUUID();
    const { received, url } = await receiver(status(200));
    const { id: webhookId } = await subscribe(tenantId, url, [SUMMARY]);
    const first = await issue(tenantId);
    await ended(tenantId, first.id, webhookId, SUMMARY);
    const { id } = await issue(tenantId);
    expect(await ended(tenantId, id, webhookId, SUMMARY)).toMatchObject([
      { name: 'DeliveryScheduled', data: { deliveryId: envelopeOf(received[1]!).deliveryId } },
      { name: 'DeliverySucceeded', data: { attempt: 1, deliveryId: envelopeOf(received[1]!).deliveryId } },
    ]);
  });

  it('delivers each event of a burst once, also those beyond the in-memory queue', async () => {
    // On a busy machine a slow answer takes longer still, and an attempt that is given up is repeated.
    await stop();
    await start([1], true, { webhookTimeoutMs: 20_000 });
    const [tenantId, other] = [randomUUID(), randomUUID()];
    // The host's allowance is low at first, so that most find no room; later one slow response reduces it again.
    const pausing = await receiver((attempt) => (response) => {
      setTimeout(() => response.writeHead(200).end(), attempt === 9 ? 600 : 0);
    });
    const { id: webhookId } = await subscribe(tenantId, pausing.url, [SUMMARY]);
    const quick = await receiver(status(200));
    const { id: otherHook } = await subscribe(other, quick.url, [SUMMARY]);
    const issued: string[] = [];
    for (let i = 0; i < 6; i++)
      issued.push(...(await Promise.all(Array.from({ length: 150 }, async () => (await issue(tenantId)).id))));
    const last = await issue(other);
    await ended(other, last.id, otherHook, SUMMARY);
    await until(() => pausing.received.length >= issued.length, 'all deliveries');
    for (const id of issued) await ended(tenantId, id, webhookId, SUMMARY);
    expect(pausing.received.map((request) => envelopeOf(request).event.id).sort()).toEqual([...issued].sort());
    expect(quick.received).toHaveLength(1);
  });

  it('repeats a first attempt that was stored with its delivery and may not have been sent', async () => {
    const tenantId = randomUUID();
    const { received, url } = await receiver(status(200));
    const { id: webhookId } = await subscribe(tenantId, url, [SUMMARY]);
    await service.stop();
    // The process seems to have ended between the event and the request.
    const id = randomUUID();
    const attemptAt = new Date().toISOString();
    await storeScheduled(tenantId, {
      deliveryKey: deliveryKeyOf(id, webhookId, SUMMARY),
      webhookId,
      event: { id, type: SUMMARY, timestamp: attemptAt },
      payload: {},
      attemptAt,
      deliveryId: 'lost',
    });
    await service.close();
    await start([1]);
    const { deliveryId } = envelopeOf((await until(() => received[0], 'the attempt')) as Received);
    expect(await ended(tenantId, id, webhookId, SUMMARY)).toMatchObject([
      { name: 'DeliveryScheduled', data: { deliveryId: 'lost' } },
      { name: 'DeliveryAttemptStarted', data: { attempt: 1, deliveryId, instead: 'lost' } },
      { name: 'DeliverySucceeded', data: { attempt: 1, deliveryId } },
    ]);
    const listed = await until(async () => {
      const { data } = (await service.client.call(
        listWebhookAttempts,
        { params: { webhookId }, query: {} },
        contextOf(tenantId),
      )) as PageOf<WebhookAttempt>;
      return data.length === 2 && data.every(({ status: name }) => name !== 'Started') && data;
    }, 'both attempts in the list');
    expect(listed.find((attempt) => attempt.deliveryId === 'lost')).toMatchObject({
      attempt: 1,
      status: 'Failed',
      error: 'interrupted',
      startedAt: attemptAt,
    });
  });

  it('refuses targets that are not public', async () => {
    await stop();
    await start([600], false);
    for (const url of ['http://hooks.example.com/', 'https://localhost/', 'https://127.0.0.1/', 'https://a.com/?b'])
      await expect(subscribe(randomUUID(), url, [FULL])).rejects.toMatchObject({
        kind: 'invalid',
        details: [{ param: 'url', location: 'body', value: url }],
      });
    expect((await subscribe(randomUUID(), 'https://hooks.acme.com/in', [FULL])).disabled).toBe(false);
  });

  it('reports its components in readiness', async () => {
    const { ready } = await until(() => {
      const report = service.engines.health.report();
      return report.ready && report;
    }, 'readiness');
    expect(ready).toBe(true);
    expect(
      service.engines.health
        .report()
        .checks.map(({ name }) => name)
        .sort(),
    ).toEqual([
      'webhooks.attempts',
      'webhooks.deliveries',
      'webhooks.delivery-keys',
      'webhooks.directory',
      'webhooks.key-rotation',
      'webhooks.keys',
      'webhooks.publisher',
      'webhooks.purged-tenants',
      'webhooks.sender',
      'webhooks.webhooks',
    ]);
  });
});
