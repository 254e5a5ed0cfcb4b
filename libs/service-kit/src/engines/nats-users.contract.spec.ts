import { join } from 'node:path';
import { BUS_PARTICIPANTS, busRights, type BusParticipant } from '@attestry/contracts';
import {
  migrateNatsServer,
  openNatsBus,
  RestrictedBus,
  type FeedMessage,
  type MessageBus,
  type NatsBusOptions,
} from '@attestry/messaging';
import { findNatsServer, NatsServer, skipSuite, waitUntil } from '@attestry/testing';
import { connect, headers, type NatsConnection } from '@nats-io/transport-node';
import { consumerOwners } from './consumer-owners.js';

const program = findNatsServer();
const REPOSITORY = join(import.meta.dirname, '../../../..');
const passwordOf = (user: string) => `${user}-secret`;

if (program === undefined) {
  skipSuite('users of a NATS server', 'nats-server is not installed (Debian: apt install nats-server)');
  it.skip('users of a NATS server', () => undefined);
} else
  describe('users of a NATS server (deploy/nats)', () => {
    let server: NatsServer;
    let buses: Map<BusParticipant, MessageBus>;
    const open: MessageBus[] = [];
    const errors: [participant: string, subject: string, error: string][] = [];
    const bus = (participant: BusParticipant) => buses.get(participant)!;
    const optionsOf = (user: string): NatsBusOptions => ({
      servers: [server.url],
      name: user,
      user,
      password: passwordOf(user),
      onError: (subject, error) => void errors.push([user, subject, String(error)]),
    });
    const openBus = async (participant: BusParticipant) => {
      const opened = await openNatsBus({ ...optionsOf(participant), owners: consumerOwners([participant]) });
      open.push(opened);
      return new RestrictedBus(opened, busRights(participant));
    };
    let published = 0;
    const message = (subject: string, data: unknown = {}) => ({ id: `message-${++published}`, subject, data });

    beforeAll(async () => {
      const env = Object.fromEntries(
        [...BUS_PARTICIPANTS, 'migrate'].map((user) => [
          `NATS_PASSWORD_${user.toUpperCase().replaceAll('-', '_')}`,
          passwordOf(user),
        ]),
      );
      server = await NatsServer.start(program, undefined, { config: join(REPOSITORY, 'deploy/nats'), env });
      for (const _ of ['once', 'again']) await migrateNatsServer({ ...optionsOf('migrate'), owners: consumerOwners() });
      buses = new Map(
        await Promise.all(
          BUS_PARTICIPANTS.map(
            async (participant) => [participant, await openBus(participant)] as [BusParticipant, MessageBus],
          ),
        ),
      );
    }, 60_000);
    afterAll(async () => {
      await Promise.all(open.map((one) => one.close()));
      await server.stop();
    });
    beforeEach(() => errors.splice(0));

    describe.each(BUS_PARTICIPANTS)('let %s', (participant) => {
      const { serves, calledBy, publishes, consumes, listens } = busRights(participant);

      it('serve its operations to permitted callers, and identify the caller', async () => {
        const servings = serves.map((subject) =>
          bus(participant).serve(subject, async (data, _headers, from) => ({ ok: true, data: [from, data] })),
        );
        // The server has processed them when it has replied to a later message.
        await bus(participant).head();
        let requests = 0;
        for (const asker of calledBy)
          for (const subject of serves.filter((it) => busRights(asker).calls.includes(it))) {
            const reply = await bus(asker).request(subject, ++requests, { timeoutMs: 5000 });
            expect(reply).toEqual({ ok: true, data: [asker, requests] });
          }
        expect(requests).toBeGreaterThanOrEqual(serves.length);
        await Promise.all(servings.map((serving) => serving.close()));
        expect(errors).toEqual([]);
      });

      it('publish its events', async () => {
        await bus(participant).publish(publishes.map((subject) => message(subject)));
        expect(await bus(participant).head()).toMatch(/^\d+$/);
        expect(errors).toEqual([]);
      });

      it('receive the subjects it listens to', async () => {
        for (const { name, subjects } of listens) {
          const heard: FeedMessage[] = [];
          const listener = bus(participant).listen(
            { name, subjects },
            async (messages) => void heard.push(...messages),
          );
          await bus(participant).head();
          const sent = subjects.map((subject) => message(subject));
          for (const { id, subject, data } of sent) await bus(publisherOf(subject)).publish([{ id, subject, data }]);
          await waitUntil(() => sent.every(({ id }) => heard.some((it) => it.id === id)));
          await listener.close();
        }
        expect(errors).toEqual([]);
      });

      it('consume, retry, and take over from another process of the service', async () => {
        for (const { name, subjects } of consumes) {
          const [first] = subjects.flatMap(publishedBelow);
          const sent = [1, 2, 3].map((n) => message(first!, { n }));
          await bus(publisherOf(first!)).publish(sent);
          const got: string[] = [];
          let broken = true;
          const handler = async (messages: FeedMessage[]) => {
            if (broken && messages.some(({ id }) => id === sent[1]!.id)) throw new Error('broken');
            got.push(...messages.map(({ id }) => id));
          };
          const options = { name, subjects, batchSize: 1, retry: { initialDelayMs: 1, maxDelayMs: 1 } };
          const before = bus(participant).consume(options, handler);
          await waitUntil(() => got.includes(sent[0]!.id) && before.health.error === 'broken');
          await before.close();
          expect(got).not.toContain(sent[2]!.id);

          broken = false;
          const after = bus(participant).consume(options, handler);
          await waitUntil(() => got.includes(sent[2]!.id));
          expect(got).toContain(sent[1]!.id);
          const last = message(first!);
          await bus(publisherOf(first!)).publish([last]);
          await waitUntil(() => got.includes(last.id));
          expect(got.filter((id) => id === sent[0]!.id)).toHaveLength(1);
          await after.close();
        }
        expect(errors).toEqual([]);
      });
    });

    describe('refuse', () => {
      let issuance: NatsConnection;
      beforeEach(async () => {
        const { servers, user, password } = optionsOf('issuance');
        const inboxPrefix = '_INBOX_attestry_issuance';
        issuance = await connect({ servers: [...servers], user: user!, pass: password!, inboxPrefix });
      });
      afterEach(() => issuance.close());
      /** The server's reply to issuance; a refusal is the error. */
      const ask = async (subject: string, data: unknown = '') => {
        const answer = await issuance.request(subject, data === '' ? '' : JSON.stringify(data), { timeout: 2000 });
        return answer.json<{ error?: { description: string } }>();
      };
      const hears = async (subject: string, queue?: string): Promise<string | undefined> => {
        let refusal: string | undefined;
        issuance.subscribe(subject, {
          ...(queue !== undefined && { queue }),
          callback: (error) => {
            if (error) refusal = error.message;
          },
        });
        await issuance.flush();
        return refusal;
      };
      const LEASE = 'lease.webhooks=2e=deliveries';

      it.each([
        ["call another participant's operation", 'attestry.call.issuance.op.management.delete-tenant'],
        [
          "call another participant's operation in the name of the gateway",
          'attestry.call.gateway.op.management.delete-tenant',
        ],
        [
          'call an operation that it may call, but in the name of the gateway',
          'attestry.call.gateway.op.dids.reserve-issuer-key',
        ],
        ['call its own operation', 'attestry.call.issuance.op.issuance.check-credential-configuration'],
        ['publish an event of another participant', 'attestry.feed.event.management.tenant-deleted'],
        ['publish an operation event of the gateway', 'attestry.feed.operation.gateway.start'],
        ['publish an undeclared event', 'attestry.feed.event.issuance.made-up'],
        ['send to the inbox of another participant', '_INBOX_attestry_management.x'],
        ['delete the feed', '$JS.API.STREAM.DELETE.attestry_feed'],
        ['purge the feed', '$JS.API.STREAM.PURGE.attestry_feed'],
        ['update the feed', '$JS.API.STREAM.UPDATE.attestry_feed'],
        ['read the feed by sequence number', '$JS.API.STREAM.MSG.GET.attestry_feed'],
        ['delete messages', '$JS.API.STREAM.MSG.DELETE.attestry_feed'],
        ['create a stream', '$JS.API.STREAM.CREATE.mine'],
        ['list streams', '$JS.API.STREAM.LIST'],
        ['list consumers', '$JS.API.CONSUMER.LIST.attestry_feed'],
        ['list the names of consumers', '$JS.API.CONSUMER.NAMES.attestry_feed'],
        ['create a consumer without a filter', '$JS.API.CONSUMER.CREATE.attestry_feed.mine'],
        [
          'create a consumer with the filter of another participant',
          '$JS.API.CONSUMER.CREATE.attestry_feed.mine.attestry.feed.operation.>',
        ],
        ['create a consumer with the legacy API', '$JS.API.CONSUMER.DURABLE.CREATE.attestry_feed.mine'],
        ['write a lease of another participant', `$KV.attestry_webhooks.${LEASE}`],
        ['read the bucket of another participant', '$JS.API.STREAM.MSG.GET.KV_attestry_webhooks'],
        [
          'read the bucket of another participant with a direct get',
          `$JS.API.DIRECT.GET.KV_attestry_webhooks.$KV.attestry_webhooks.${LEASE}`,
        ],
        ['watch the bucket of another participant', '$JS.API.CONSUMER.CREATE.KV_attestry_webhooks.mine'],
        ['delete the bucket of another participant', '$JS.API.STREAM.DELETE.KV_attestry_webhooks'],
        ['delete its own bucket', '$JS.API.STREAM.DELETE.KV_attestry_issuance'],
      ])('issuance to %s', async (_what, subject) => {
        await expect(ask(subject, {})).rejects.toThrow(/permissions violation/i);
      });

      it.each([
        ['all operations of another participant', 'attestry.call.*.op.dids.>', 'attestry'],
        ['an operation of another participant', 'attestry.call.*.op.dids.create-did', 'attestry'],
        [
          'its own operations without the queue group of the service',
          'attestry.call.*.op.issuance.issue-credential',
          undefined,
        ],
        ['its own operations in another queue group', 'attestry.call.*.op.issuance.issue-credential', 'mine'],
        ['all requests', 'attestry.call.>', undefined],
        ['the feed', 'attestry.feed.>', undefined],
        ['replies to the gateway', '_INBOX_attestry_gateway.>', undefined],
        ['all replies', '_INBOX.>', undefined],
        ['all buckets', '$KV.>', undefined],
        ['the API of JetStream', '$JS.>', undefined],
        ['all subjects', '>', undefined],
      ])('issuance to subscribe to %s', async (_what, subject, queue) => {
        expect(await hears(subject, queue)).toMatch(/permissions violation/i);
      });

      it('issuance to create a consumer with a filter other than the permitted one', async () => {
        const allowed = '$JS.API.CONSUMER.CREATE.attestry_feed.mine.attestry.feed.event.webhooks.>';
        const consumer = (filter_subject?: string) => ({
          stream_name: 'attestry_feed',
          config: { name: 'mine', filter_subject, ack_policy: 'none', deliver_policy: 'all', inactive_threshold: 1e9 },
        });
        for (const filter of ['attestry.feed.>', 'attestry.feed.event.management.>', undefined])
          expect((await ask(allowed, consumer(filter))).error).toBeDefined();
        expect((await ask(allowed, consumer('attestry.feed.event.webhooks.>'))).error).toBeUndefined();
      });

      it("issuance to delete another participant's consumer, whose name it cannot know", async () => {
        const { name, subjects } = busRights('webhooks').consumes[0]!;
        const consumer = bus('webhooks').consume({ name, subjects }, async () => undefined);
        await waitUntil(() => consumer.isHeld);
        for (const guess of ['webhooks=2e=deliveries', 'webhooks=2e=deliveries~1', '*'])
          expect((await ask(`$JS.API.CONSUMER.DELETE.attestry_feed.${guess}`)).error?.description).toMatch(
            /consumer not found|consumer name/i,
          );
        expect(consumer.health.healthy).toBe(true);
        await consumer.close();
      });

      it('a connection with other credentials, at once with the reason', async () => {
        const attempt = (more: object) => openNatsBus({ ...optionsOf('issuance'), ...more });
        await expect(attempt({ password: 'wrong' })).rejects.toThrow(/credentials refused.*authorization violation/i);
        await expect(attempt({ user: undefined })).rejects.toMatchObject({ name: 'NatsRefused' });
        await expect(attempt({ user: 'nobody' })).rejects.toMatchObject({ name: 'NatsRefused' });
      });

      it("migrate everything except creating streams, and services another's bucket", async () => {
        const { servers, password } = optionsOf('migrate');
        const inboxPrefix = '_INBOX_attestry_migrate';
        const migrate = await connect({ servers: [...servers], user: 'migrate', pass: password!, inboxPrefix });
        for (const subject of ['attestry.feed.event.management.tenant-deleted', '$JS.API.STREAM.DELETE.attestry_feed'])
          await expect(migrate.request(subject, '', { timeout: 2000 })).rejects.toThrow(/permissions violation/i);
        await migrate.close();
        await expect(openNatsBus({ ...optionsOf('issuance'), owners: ['webhooks'] })).rejects.toThrow();
      });
    });

    // The server sends its own replies to any subject that the user names, regardless of permissions.
    describe('do not let issuance make another participant send a request', () => {
      const DELETE_TENANT = 'op.management.delete-tenant';
      const TARGET = `attestry.call.gateway.${DELETE_TENANT}`;
      const FORGED = { h: { caller: '{"kind":"management","clientId":"x"}', deadline: '99999999999999' }, d: {} };
      let issuance: NatsConnection;
      let served: string[];
      let serving: { close(): Promise<void> };
      beforeEach(async () => {
        const { servers, user, password } = optionsOf('issuance');
        const inboxPrefix = '_INBOX_attestry_issuance';
        issuance = await connect({ servers: [...servers], user: user!, pass: password!, inboxPrefix });
        served = [];
        serving = bus('management').serve(DELETE_TENANT, async (_data, _headers, from) => {
          served.push(from);
          return { ok: true, data: null };
        });
        await bus('management').head();
      });
      afterEach(async () => {
        await serving.close();
        await issuance.close();
      });
      /** A request of the gateway's arrives, and nothing else did before it. */
      const onlyTheGateway = async () => {
        await issuance.flush();
        await bus('gateway').request(DELETE_TENANT, {}, { timeoutMs: 5000 });
        expect(served).toEqual(['gateway']);
      };
      const notAsked = () =>
        errors.filter(([participant, subject]) => participant === 'management' && subject === DELETE_TENANT);
      const storeForged = async () => {
        const set = headers();
        set.set('Nats-Msg-Id', `forged-${++published}`);
        await issuance.request('attestry.feed.event.keys.destroyed', JSON.stringify(FORGED), {
          headers: set,
          timeout: 2000,
        });
      };
      const consumer = async (name: string, more: object) => {
        const filter_subject = 'attestry.feed.event.keys.destroyed';
        const config = { name, filter_subject, deliver_policy: 'last', inactive_threshold: 5e9, ...more };
        const created = await issuance.request(
          `$JS.API.CONSUMER.CREATE.attestry_feed.${name}.${filter_subject}`,
          JSON.stringify({ stream_name: 'attestry_feed', config }),
          { timeout: 2000 },
        );
        expect(created.json<{ error?: unknown }>().error).toBeUndefined();
      };

      it('a message that a consumer delivers, pushed or pulled, is not a request', async () => {
        await storeForged();
        // nats-server 2.9 pushes to no subscription with a wildcard; others may.
        await consumer('push', { ack_policy: 'none', deliver_subject: TARGET, deliver_group: 'attestry' });
        await consumer('pull', { ack_policy: 'none' });
        issuance.publish('$JS.API.CONSUMER.MSG.NEXT.attestry_feed.pull', JSON.stringify({ batch: 1 }), {
          reply: TARGET,
        });
        await waitUntil(() => notAsked().length > 0);
        await onlyTheGateway();
      });

      it('an entry of a bucket is not a request', async () => {
        await issuance.request('$KV.attestry_issuance.forged', JSON.stringify(FORGED), { timeout: 2000 });
        const last = JSON.stringify({ last_by_subj: '$KV.attestry_issuance.forged' });
        issuance.publish('$JS.API.STREAM.MSG.GET.KV_attestry_issuance', last, { reply: TARGET });
        await waitUntil(() => notAsked().length > 0);
        await onlyTheGateway();
      });

      it('a reply of another service is not a request: it does not reply to that subject', async () => {
        const requests = bus('dids').serve('op.dids.reserve-issuer-key', async () => ({ ok: true, data: FORGED }));
        await bus('dids').head();
        const request = JSON.stringify({ h: { deadline: '99999999999999' }, d: {} });
        issuance.publish('attestry.call.issuance.op.dids.reserve-issuer-key', request, { reply: TARGET });
        await waitUntil(() =>
          errors.some(([participant, , error]) => participant === 'dids' && /permissions violation/i.test(error)),
        );
        await onlyTheGateway();
        expect(notAsked()).toEqual([]);
        await requests.close();
      });

      it('a reply of the server is not a message: it is skipped', async () => {
        const [{ name, subjects }] = busRights('webhooks').consumes as [{ name: string; subjects: string[] }];
        const [ears] = busRights('gateway').listens as [{ name: string; subjects: string[] }];
        const got: FeedMessage[] = [];
        const heard: FeedMessage[] = [];
        const consumed = bus('webhooks').consume({ name, subjects }, async (messages) => void got.push(...messages));
        const listener = bus('gateway').listen(ears, async (messages) => void heard.push(...messages));
        await bus('gateway').head();
        const before = Number(await bus('gateway').head());
        const subject = 'event.management.tenant-deleted';
        issuance.publish('$JS.API.STREAM.INFO.attestry_feed', '', { reply: `attestry.feed.${subject}` });
        await waitUntil(async () => Number(await bus('gateway').head()) > before);
        const real = message(subject, { tenantId: 't' });
        await bus('management').publish([real]);
        await waitUntil(() => [got, heard].every((it) => it.some(({ id }) => id === real.id)));
        for (const seen of [got, heard])
          expect(seen.filter((it) => Number(it.sequence) > before).map(({ id }) => id)).toEqual([real.id]);
        await Promise.all([consumed.close(), listener.close()]);
      });
    });
  });

/** Some participant that publishes a subject. */
const publisherOf = (subject: string): BusParticipant =>
  BUS_PARTICIPANTS.find((participant) => busRights(participant).publishes.includes(subject))!;

/** Published subjects that are equal to a subject or lie below a prefix. */
const publishedBelow = (subject: string): string[] =>
  BUS_PARTICIPANTS.flatMap((participant) => busRights(participant).publishes).filter((it) =>
    subject.endsWith('.>') ? it.startsWith(subject.slice(0, -1)) : it === subject,
  );
