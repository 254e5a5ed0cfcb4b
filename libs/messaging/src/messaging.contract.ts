import {
  INTERNAL_ERROR,
  UNNAMED_CALLER,
  RequestFailed,
  type ConsumerOptions,
  type FeedMessage,
  type ListenerOptions,
  type MessageBus,
  type OutgoingMessage,
} from './message-bus.js';

export interface BusUnderTest {
  bus: MessageBus;
  /** Closes the bus and opens another one over the same feed. */
  reopen?(): Promise<MessageBus>;
  close(): Promise<void>;
  /** Calls of the adapter's `onError`. */
  errors?: { subject: string; error: unknown }[];
}

/** Waits for a condition. Without a time-out an unmet condition would outlive its test, and keep Jest from ending. */
const until = async (condition: () => boolean): Promise<void> => {
  for (const end = Date.now() + 15_000; !condition(); await new Promise((resolve) => setTimeout(resolve, 1)))
    if (Date.now() > end) throw new Error('the condition was never met');
};

const latch = () => {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
};

const event = (n: number, subject = 'event.dids.did-created'): OutgoingMessage => ({
  id: `event-${n}`,
  subject,
  headers: { tenant: 'tenant-1' },
  data: { n },
});
const events = (from: number, to: number, subject?: string) =>
  Array.from({ length: to - from + 1 }, (_, i) => event(from + i, subject));
const numbers = (messages: FeedMessage[]) => messages.map((message) => (message.data as { n: number }).n);
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const ALL: ConsumerOptions = { name: 'all', subjects: ['event.>'] };

/** The suite every adapter of the messaging port passes. It uses Jest's globals when it is called, not when loaded. */
export const describeMessageBus = (name: string, make: () => Promise<BusUnderTest>): void => {
  describe(`message bus: ${name}`, () => {
    let under: BusUnderTest;
    let bus: MessageBus;
    beforeEach(async () => {
      under = await make();
      bus = under.bus;
    });
    afterEach(() => under.close());

    /** Consumes into an array. */
    const collect = (options: Partial<ConsumerOptions> = {}, on: MessageBus = bus) => {
      const got: FeedMessage[] = [];
      const batches: number[][] = [];
      const consumer = on.consume({ ...ALL, ...options }, async (messages) => {
        got.push(...messages);
        batches.push(numbers(messages));
      });
      return { got, batches, consumer };
    };

    describe('request and reply', () => {
      const serveEcho = () =>
        bus.serve('op.test.echo', async (data, headers) => ({ ok: true, data: { data, headers } }));

      it('passes data and headers to the server and returns its result', async () => {
        serveEcho();
        const reply = await bus.request(
          'op.test.echo',
          { a: [1, 'é', null] },
          { headers: { tenant: 't' }, timeoutMs: 5000 },
        );
        expect(reply).toEqual({
          ok: true,
          data: { data: { a: [1, 'é', null] }, headers: expect.objectContaining({ tenant: 't' }) },
        });
      });

      it('passes the sender to the server, whatever the headers contain', async () => {
        bus.serve('op.test.who', async (_data, _headers, from) => ({ ok: true, data: from }));
        const who = async (from?: string) => {
          const headers = { from: 'somebody-else', caller: 'somebody-else' };
          const reply = await bus.request('op.test.who', {}, { headers, timeoutMs: 5000, ...(from && { from }) });
          return reply.ok && reply.data;
        };
        expect([await who('gateway'), await who('issuance'), await who()]).toEqual([
          'gateway',
          'issuance',
          UNNAMED_CALLER,
        ]);
      });

      it('sends the deadline as a header, never later than that of the caller', async () => {
        serveEcho();
        const before = Date.now();
        const deadline = async (headers: Record<string, string>) => {
          const reply = await bus.request<{ headers: Record<string, string> }>('op.test.echo', 1, {
            headers,
            timeoutMs: 60_000,
          });
          if (!reply.ok) throw new Error('no reply');
          return Number(reply.data.headers['deadline']);
        };
        const own = await deadline({});
        expect(own).toBeGreaterThanOrEqual(before + 60_000);
        expect(own).toBeLessThanOrEqual(Date.now() + 60_000);
        expect(await deadline({ deadline: String(before + 30_000) })).toBe(before + 30_000);
      });

      it('returns the error envelope as data', async () => {
        const error = { kind: 'conflict', code: 'Conflict', message: 'taken', details: [{ param: 'domain' }] };
        bus.serve('op.test.fails', async () => ({ ok: false, error }));
        expect(await bus.request('op.test.fails', {}, { timeoutMs: 5000 })).toEqual({ ok: false, error });
      });

      it('does not expose an exception of the handler to the caller, and calls onError', async () => {
        const thrown = new Error('password=hunter2');
        bus.serve('op.test.throws', async () => {
          throw thrown;
        });
        expect(await bus.request('op.test.throws', {}, { timeoutMs: 5000 })).toEqual({
          ok: false,
          error: INTERNAL_ERROR,
        });
        if (under.errors) expect(under.errors).toEqual([{ subject: 'op.test.throws', error: thrown }]);
      });

      it('answers InternalError for a result that is not a Reply or cannot be serialized', async () => {
        bus.serve('op.test.nothing', async () => undefined as never);
        bus.serve('op.test.bigint', async () => ({ ok: true, data: 1n }));
        for (const subject of ['op.test.nothing', 'op.test.bigint'])
          expect(await bus.request(subject, {}, { timeoutMs: 5000 })).toEqual({ ok: false, error: INTERNAL_ERROR });
      });

      it('fails with no-responder when the subject has no server', async () => {
        const failure = await bus.request('op.test.nobody', {}, { timeoutMs: 5000 }).catch((e: unknown) => e);
        expect(failure).toBeInstanceOf(RequestFailed);
        expect(failure).toMatchObject({ reason: 'no-responder', subject: 'op.test.nobody' });
      });

      it('fails with timeout when no reply arrives in time', async () => {
        const { open, opened } = latch();
        bus.serve('op.test.slow', async () => {
          await opened;
          return { ok: true, data: null };
        });
        const failure = await bus.request('op.test.slow', {}, { timeoutMs: 20 }).catch((e: unknown) => e);
        open();
        expect(failure).toMatchObject({ reason: 'timeout' });
      });

      it('does not start work whose deadline has passed', async () => {
        let handled = 0;
        bus.serve('op.test.late', async () => {
          handled++;
          return { ok: true, data: null };
        });
        const late = { headers: { deadline: String(Date.now() - 1) }, timeoutMs: 5000 };
        await expect(bus.request('op.test.late', {}, late)).rejects.toMatchObject({ reason: 'timeout' });
        await bus.request('op.test.late', {}, { timeoutMs: 5000 });
        expect(handled).toBe(1);
      });

      it('delivers each request to exactly one server of the queue group, distributed over all of them', async () => {
        const handled = [0, 0, 0];
        for (const i of handled.keys())
          bus.serve('op.test.group', async () => {
            handled[i]!++;
            return { ok: true, data: i };
          });
        await Promise.all(range(1, 90).map(() => bus.request('op.test.group', {}, { timeoutMs: 5000 })));
        expect(handled.reduce((a, b) => a + b)).toBe(90);
        for (const count of handled) expect(count).toBeGreaterThan(0);
      });

      it('serializes: no shared references, undefined dropped, Dates become strings, BigInt refused', async () => {
        const sent = { list: [1], at: new Date(0), gone: undefined, nested: { b: 1 } };
        const kept = { secret: { n: 1 } };
        let received: unknown;
        bus.serve('op.test.serialised', async (data) => {
          received = structuredClone(data);
          (data as typeof sent).list.push(2);
          return { ok: true, data: kept };
        });
        const reply = await bus.request<typeof kept>('op.test.serialised', sent, { timeoutMs: 5000 });
        expect(received).toStrictEqual({ list: [1], at: '1970-01-01T00:00:00.000Z', nested: { b: 1 } });
        expect(sent.list).toEqual([1]);
        if (reply.ok) reply.data.secret.n = 2;
        expect(reply).toEqual({ ok: true, data: { secret: { n: 2 } } });
        expect(kept.secret.n).toBe(1);
        await expect(bus.request('op.test.serialised', { n: 1n }, { timeoutMs: 5000 })).rejects.toThrow(TypeError);
      });

      it('routes nothing to a closed server, which first finishes its requests', async () => {
        const { open, opened } = latch();
        let begun = false;
        const serving = bus.serve('op.test.leaving', async () => {
          begun = true;
          await opened;
          return { ok: true, data: 'done' };
        });
        const pending = bus.request('op.test.leaving', {}, { timeoutMs: 5000 });
        await until(() => begun);
        const closed = serving.close();
        await expect(
          (async () => {
            // The server's leaving travels; until it arrives a request may still reach it.
            for (;;)
              await bus.request('op.test.leaving', {}, { timeoutMs: 1 }).catch((e: RequestFailed) => {
                if (e.reason !== 'timeout') throw e;
              });
          })(),
        ).rejects.toMatchObject({ reason: 'no-responder' });
        open();
        expect(await pending).toEqual({ ok: true, data: 'done' });
        await closed;
      });
    });

    describe('durable feed', () => {
      it('delivers messages in order, with id, headers, increasing sequences and attempt 1', async () => {
        const { got } = collect();
        for (let n = 1; n <= 30; n += 3) await bus.publish(events(n, n + 2));
        await until(() => got.length >= 30);
        expect(numbers(got)).toEqual(range(1, 30));
        expect(got[0]).toEqual({ ...event(1), sequence: expect.stringMatching(/^\d+$/), attempt: 1 });
        const sequences = got.map((message) => BigInt(message.sequence));
        expect(sequences.every((sequence, i) => i === 0 || sequence > sequences[i - 1]!)).toBe(true);
        expect(await bus.head()).toBe(got.at(-1)!.sequence);
      });

      it('has no head while it is empty', async () => {
        expect(await bus.head()).toBeUndefined();
      });

      it('delivers at most batchSize messages, one batch at a time', async () => {
        await bus.publish(events(1, 10));
        let pending = 0;
        const sizes: number[] = [];
        bus.consume({ ...ALL, batchSize: 4 }, async (messages) => {
          expect(++pending).toBe(1);
          sizes.push(messages.length);
          await bus.head();
          pending--;
        });
        await until(() => sizes.reduce((a, b) => a + b, 0) >= 10);
        expect(Math.max(...sizes)).toBeLessThanOrEqual(4);
        expect(pending).toBeLessThanOrEqual(1);
      });

      it('publishes an id once', async () => {
        const { got } = collect();
        await bus.publish([event(1), event(1)]);
        await bus.publish([event(1), event(2)]);
        await bus.publish([event(2), event(3)]);
        await until(() => numbers(got).includes(3));
        expect(numbers(got)).toEqual([1, 2, 3]);
      });

      it('publishes all messages of a call or none', async () => {
        const { got } = collect();
        await expect(bus.publish([event(1), { ...event(2), data: 2n }])).rejects.toThrow(TypeError);
        await bus.publish([event(3)]);
        await until(() => got.length > 0);
        expect(numbers(got)).toEqual([3]);
      });

      it('delivers a separate copy to every consumer', async () => {
        const message = { ...event(1), data: { list: [1] } };
        bus.consume({ ...ALL, name: 'greedy' }, async (messages) => {
          for (const { data } of messages) (data as { list: number[] }).list.length = 0;
        });
        await bus.publish([message]);
        const { got } = collect();
        await until(() => got.length === 1);
        expect(got[0]!.data).toEqual({ list: [1] });
        expect(message.data).toEqual({ list: [1] });
      });

      it('selects exact subjects and prefixes', async () => {
        const exact = collect({ name: 'exact', subjects: ['event.dids.did-created', 'event.tenants.tenant-created'] });
        const prefix = collect({ name: 'prefix', subjects: ['event.dids.>'] });
        await bus.publish([
          event(1, 'event.dids.did-created'),
          event(2, 'event.dids.did-deleted'),
          event(3, 'event.didsx.did-created'),
          event(4, 'event.tenants.tenant-created'),
          event(5, 'event.dids.did-created.twice'),
          event(6, 'event.dids.did-created'),
        ]);
        await until(() => exact.got.length >= 3 && prefix.got.length >= 4);
        expect(numbers(exact.got)).toEqual([1, 4, 6]);
        expect(numbers(prefix.got)).toEqual([1, 2, 5, 6]);
      });

      it('starts a new consumer at the first or at the newest message', async () => {
        await bus.publish(events(1, 3));
        const first = collect({ name: 'first' });
        const fresh = collect({ name: 'fresh', start: 'new' });
        await bus.publish(events(4, 5));
        await until(() => first.got.length >= 5 && fresh.got.length >= 2);
        expect(numbers(first.got)).toEqual(range(1, 5));
        expect(numbers(fresh.got)).toEqual([4, 5]);
      });

      it('continues after its last message, also with start new', async () => {
        const first = collect({ start: 'new' });
        await bus.publish(events(1, 3));
        await until(() => first.got.length === 3);
        await first.consumer.close();
        await bus.publish(events(4, 6));
        const second = collect({ start: 'new' });
        await until(() => second.got.length >= 3);
        expect(numbers(second.got)).toEqual([4, 5, 6]);
        expect(numbers(first.got)).toEqual([1, 2, 3]);
      });

      it('retries a failed batch after an increasing delay, the same messages with the next attempt', async () => {
        const seen: { attempt: number; ns: number[]; at: number }[] = [];
        const consumer = bus.consume({ ...ALL, retry: { initialDelayMs: 20 } }, async (messages) => {
          seen.push({ attempt: messages[0]!.attempt, ns: numbers(messages), at: performance.now() });
          if (seen.length === 1) (messages[0]!.data as { n: number }).n = 99;
          if (seen.length < 4) throw new Error(`failure ${seen.length}`);
        });
        await bus.publish(events(1, 2));
        await until(() => seen.length === 3);
        expect(consumer.health).toMatchObject({
          name: 'all',
          healthy: false,
          error: expect.stringContaining('failure'),
        });
        await until(() => seen.length === 4 && consumer.health.healthy);
        expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
        expect(seen.map(({ ns }) => ns)).toEqual(Array(4).fill([1, 2]));
        // At least half of 20, 40, 80 ms (the rest is jitter); a timer may be a millisecond early.
        const gaps = seen.slice(1).map(({ at }, i) => at - seen[i]!.at);
        expect(gaps[0]).toBeGreaterThanOrEqual(9);
        expect(gaps[1]).toBeGreaterThanOrEqual(19);
        expect(gaps[2]).toBeGreaterThanOrEqual(39);
        expect(consumer.health).toEqual({ name: 'all', healthy: true, acknowledged: await bus.head() });
      });

      it('does not let a failing consumer stop another', async () => {
        const failing = bus.consume(
          { ...ALL, name: 'failing', retry: { initialDelayMs: 1, maxDelayMs: 2 } },
          async () => {
            throw new Error('always');
          },
        );
        const { got, consumer } = collect();
        for (let n = 1; n <= 5; n++) await bus.publish([event(n)]);
        await until(() => got.length >= 5 && !failing.health.healthy);
        expect(numbers(got)).toEqual(range(1, 5));
        expect(consumer.health.healthy).toBe(true);
        expect(failing.health).toMatchObject({ error: 'always' });
        expect(failing.health.acknowledged).toBeUndefined();
      });

      it('retries a failing message until it succeeds, in order, and delivers no later message earlier', async () => {
        let broken = true;
        let failures = 0;
        const handled: number[] = [];
        const consumer = bus.consume({ ...ALL, retry: { initialDelayMs: 1, maxDelayMs: 1 } }, async (messages) => {
          if (broken && numbers(messages).includes(3)) throw new Error(`three ${++failures}`);
          handled.push(...numbers(messages));
        });
        await bus.publish(events(1, 2));
        await until(() => handled.length === 2);
        const acknowledged = await bus.head();
        await bus.publish(events(3, 5));
        await bus.publish(events(6, 7));
        await until(() => failures >= 20);
        expect(handled).toEqual([1, 2]);
        expect(consumer.health).toMatchObject({
          healthy: false,
          acknowledged,
          error: expect.stringMatching(/^three \d+$/),
        });

        broken = false;
        await until(() => handled.includes(7) && consumer.health.healthy);
        expect(handled).toEqual(range(1, 7));
        expect(consumer.health.acknowledged).toBe(await bus.head());
      });

      it('delivers a failing message to the next holder of the consumer, with attempt 1 again', async () => {
        const attempts: number[] = [];
        const retry = { initialDelayMs: 1, maxDelayMs: 1 };
        const failing = bus.consume({ ...ALL, retry }, async ([message]) => {
          attempts.push(message!.attempt);
          throw new Error('always');
        });
        await bus.publish([event(1)]);
        await until(() => attempts.length >= 3);
        await failing.close();
        expect(attempts.slice(0, 3)).toEqual([1, 2, 3]);
        const { got } = collect({ retry });
        await until(() => got.length === 1);
        expect(got[0]).toMatchObject({ id: 'event-1', attempt: 1 });
      });

      it('closes a consumer after the current batch; acknowledged messages remain acknowledged', async () => {
        await bus.publish(events(1, 6));
        const { open, opened } = latch();
        const handled: number[] = [];
        const consumer = bus.consume({ ...ALL, batchSize: 2 }, async (messages) => {
          handled.push(...numbers(messages));
          if (handled.length === 4) await opened;
        });
        await until(() => handled.length === 4);
        let closed = false;
        const closing = consumer.close().then(() => (closed = true));
        await bus.head();
        expect(closed).toBe(false);
        open();
        await closing;
        expect(handled).toEqual([1, 2, 3, 4]);
        const rest = collect({ batchSize: 2 });
        await until(() => rest.got.length >= 2);
        expect(numbers(rest.got)).toEqual([5, 6]);
      });

      it('closes while a batch is retried, without losing its messages', async () => {
        const { open, opened } = latch();
        let attempts = 0;
        await bus.publish(events(1, 3));
        const consumer = bus.consume({ ...ALL, retry: { initialDelayMs: 1, maxDelayMs: 1 } }, async () => {
          if (++attempts === 2) await opened;
          throw new Error('together');
        });
        await until(() => attempts === 2);
        const closing = consumer.close();
        open();
        await closing;
        expect(attempts).toBe(2);
        const rest = collect();
        await until(() => numbers(rest.got).includes(3));
        expect(numbers(rest.got)).toEqual([1, 2, 3]);
      });

      it('redelivers a batch whose handler failed before the consumer closed', async () => {
        let failed = false;
        const consumer = bus.consume({ ...ALL, retry: { initialDelayMs: 60_000 } }, async () => {
          failed = true;
          throw new Error('not now');
        });
        await bus.publish(events(1, 2));
        await until(() => failed);
        await consumer.close();
        const { got } = collect();
        await until(() => got.length >= 2);
        expect(numbers(got)).toEqual([1, 2]);
      });

      it('keeps messages and checkpoints when reopened', async () => {
        if (!under.reopen) return expect(under.reopen).toBeUndefined();
        const done = collect({ name: 'done' });
        bus.consume({ ...ALL, name: 'stuck', retry: { initialDelayMs: 60_000 } }, async () => {
          throw new Error('stuck');
        });
        await bus.publish(events(1, 3));
        await until(() => done.got.length === 3);
        const head = await bus.head();
        bus = await under.reopen();

        expect(await bus.head()).toBe(head);
        await bus.publish([event(3), event(4)]);
        const again = { done: collect({ name: 'done' }), stuck: collect({ name: 'stuck' }) };
        await until(() => again.done.got.length >= 1 && again.stuck.got.length >= 4);
        expect(numbers(again.done.got)).toEqual([4]);
        expect(numbers(again.stuck.got)).toEqual([1, 2, 3, 4]);
      });
    });

    describe('listeners', () => {
      const listen = (on: MessageBus = bus, options: Partial<ListenerOptions> = {}) => {
        const got: FeedMessage[] = [];
        const consumer = on.listen({ name: 'ears', subjects: ['event.>'], ...options }, async (messages) => {
          got.push(...messages);
        });
        return { got, consumer };
      };

      it('delivers to each listener all messages published afterwards, in order, and none from before', async () => {
        await bus.publish(events(1, 3));
        const ears = [listen(), listen()];
        await bus.publish(events(4, 40));
        await until(() => ears.every(({ got }) => got.length >= 37));
        for (const { got } of ears) expect(numbers(got)).toEqual(range(4, 40));
        expect(ears[0]!.got[0]).toMatchObject({ id: 'event-4', headers: { tenant: 'tenant-1' }, attempt: 1 });
        expect(ears[0]!.consumer.health).toMatchObject({ name: expect.stringMatching(/^ears/), healthy: true });
      });

      it('selects by subject', async () => {
        const { got } = listen(bus, { subjects: ['event.dids.did-created', 'event.webhooks.>'] });
        await bus.publish([event(1), event(2, 'event.dids.did-deleted'), event(3, 'event.webhooks.webhook-saved')]);
        await until(() => got.length >= 2);
        expect(numbers(got)).toEqual([1, 3]);
      });

      it('stores nothing: a later listener starts with new messages', async () => {
        const first = listen();
        await bus.publish(events(1, 2));
        await until(() => first.got.length === 2);
        await first.consumer.close();
        await bus.publish(events(3, 4));
        const second = listen();
        await bus.publish(events(5, 6));
        await until(() => second.got.length >= 2);
        expect(numbers(second.got)).toEqual([5, 6]);
        expect(numbers(first.got)).toEqual([1, 2]);
      });

      it('calls a failed handler again with the same messages', async () => {
        const seen: number[][] = [];
        const consumer = bus.listen({ name: 'ears', subjects: ['event.>'] }, async (messages) => {
          seen.push(numbers(messages));
          if (seen.length === 1) throw new Error('not yet');
        });
        await bus.publish([event(1)]);
        await until(() => seen.length === 2);
        expect(seen).toEqual([[1], [1]]);
        await until(() => consumer.health.healthy);
      });
    });

    describe('becoming the lease holder', () => {
      it('calls onHeld of a consumer before its first batch, and is not healthy while that fails', async () => {
        await bus.publish(events(1, 2));
        const order: string[] = [];
        let failing = true;
        const consumer = bus.consume(
          {
            ...ALL,
            retry: { initialDelayMs: 10 },
            onHeld: async () => {
              order.push('held');
              if (failing) throw new Error('not yet');
            },
          },
          async (messages) => void order.push(...numbers(messages).map(String)),
        );
        await until(() => order.length >= 2);
        expect(consumer.health).toMatchObject({ healthy: false, error: 'not yet' });
        failing = false;
        await until(() => order.includes('2'));
        expect(order.filter((it) => it !== 'held')).toEqual(['1', '2']);
        expect(order.lastIndexOf('held')).toBe(order.indexOf('1') - 1);
        expect(consumer.isHeld).toBe(true);
        await consumer.close();
        expect(consumer.isHeld).toBe(false);
      });

      it('reports the position up to which everything is handled', async () => {
        await bus.publish(events(1, 2));
        const reported: (string | undefined)[] = [];
        const onHeld = async (acknowledged: string | undefined) => void reported.push(acknowledged);
        let handled = '';
        const first = bus.consume({ ...ALL, onHeld }, async (messages) => void (handled = messages.at(-1)!.sequence));
        await until(() => first.health.acknowledged === handled && handled !== '');
        await first.close();
        const second = bus.consume({ ...ALL, onHeld }, async () => undefined);
        await until(() => reported.length === 2);
        expect(reported).toEqual([undefined, handled]);
        await second.close();
      });
    });

    describe('close', () => {
      it('waits for requests and batches in progress, then refuses everything', async () => {
        const { open, opened } = latch();
        let begun = 0;
        bus.serve('op.test.draining', async () => {
          begun++;
          await opened;
          return { ok: true, data: 'served' };
        });
        let consumed = false;
        bus.consume(ALL, async () => {
          begun++;
          await opened;
          // Work in progress may still publish.
          await bus.publish([{ ...event(2), subject: 'other.subject' }]);
          consumed = true;
        });
        await bus.publish([event(1)]);
        const reply = bus.request('op.test.draining', {}, { timeoutMs: 5000 });
        await until(() => begun === 2);
        let closed = false;
        const closing = bus.close().then(() => (closed = true));
        await bus.head();
        expect(closed).toBe(false);
        open();
        expect(await reply).toEqual({ ok: true, data: 'served' });
        await closing;
        expect(consumed).toBe(true);
        await expect(bus.request('op.test.draining', {}, { timeoutMs: 5000 })).rejects.toMatchObject({
          reason: 'closed',
        });
        await expect(bus.publish([event(3)])).rejects.toMatchObject({ reason: 'closed' });
        expect(() => bus.serve('op.test.more', async () => ({ ok: true, data: 1 }))).toThrow(RequestFailed);
      });
    });
  });
};
