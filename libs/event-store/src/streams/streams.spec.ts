import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '@attestry/testing';
import type { Aggregate } from '../aggregate.js';
import { UnknownEventType, withoutRecord } from '../aggregate.js';
import { CHAIN_START, chainEvent, verifyChain } from '../chain.js';
import { EmbeddedEventStore } from '../embedded/embedded-event-store.js';
import { EventStore, WrongExpectedRevision, type UnitWrite } from '../event-store.js';
import { randomIds, systemClock } from '../facts.js';
import { readEvent } from './read-event.js';
import { Streams, type StreamsOptions } from './streams.js';
import { leaseFence } from '../worker/lease-fence.js';

type AccountEvent =
  | { type: 'Opened'; data: { owner: { name: string } } }
  | { type: 'Deposited'; data: { amount: number } }
  | { type: 'Closed'; data: Record<string, never> };
type Account = { status: 'none' } | { status: 'open'; owner: string; balance: number } | { status: 'closed' };

const account: Aggregate<Account, AccountEvent> = {
  category: 'account',
  initial: { status: 'none' },
  types: { Opened: 2, Deposited: 1, Closed: 1 },
  // Version 1 kept the owner's name as plain text.
  upcasters: [{ type: 'Opened', from: 1, upcast: (data: { owner: string }) => ({ owner: { name: data.owner } }) }],
  evolve(state, event) {
    switch (event.type) {
      case 'Opened':
        return { status: 'open', owner: event.data.owner.name, balance: 0 };
      case 'Deposited':
        return state.status === 'open' ? { ...state, balance: state.balance + event.data.amount } : state;
      case 'Closed':
        return { status: 'closed' };
    }
  },
};
const open = (name: string) => (): AccountEvent[] => [{ type: 'Opened', data: { owner: { name } } }];
const deposit = (amount: number) => (): AccountEvent[] => [{ type: 'Deposited', data: { amount } }];
const close = (): AccountEvent[] => [{ type: 'Closed', data: {} }];
const refused = (state: Account) => Object.assign(new Error(`account is ${state.status}`), { code: 'Conflict' });
const context = { tenantId: 't1', requestId: 'r1', actor: 'client:c1', operation: 'accounts.deposit' };
const stream = 'account-t1+a';

const claims = { ...account, category: 'claim', isAuxiliary: true };
const recordOfCall = () => {
  const asked: string[] = [];
  const recordFor = (of: string, { type }: { type: string }) => {
    asked.push(of);
    return { prefix: 'ACCOUNT', of, type };
  };
  return { asked, record: { recordFor, isStored: false } };
};

describe('Streams', () => {
  let folder: string;
  let store: EmbeddedEventStore;
  let streams: Streams;
  /** Another process: shares the store, but no cache. */
  let elsewhere: Streams;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-streams-'));
    store = await EmbeddedEventStore.openFile({ file: join(folder, 'events.db') });
    const clock = { now: () => new Date('2026-01-02T03:04:05.678Z') };
    let n = 0;
    const ids = { uuid: () => `id-${++n}` };
    streams = new Streams(store, clock, ids);
    elsewhere = new Streams(store, clock, ids, { cacheSize: 0 });
  });
  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });

  describe('under a lease', () => {
    const LONG = 60_000;
    const STALE = {
      code: 'StaleEpoch',
      message: expect.stringMatching(/^the lease job of epoch \d+ is no longer held$/),
    };
    const acquire = async (holder: string) => (await store.leases.acquire('job', holder, LONG))!;
    const balance = async () => (await elsewhere.load(account, stream)).state;

    it('appends nothing once the lease was released, has another holder or is lost', async () => {
      await streams.runDecision(account, stream, open('Ada'), context);
      const former = await acquire('a');
      const options = { fence: leaseFence(store.leases, former) };
      await streams.runDecision(account, stream, deposit(1), context, options);
      await store.leases.release(former);
      for (const holder of ['b', 'a']) {
        await expect(streams.runDecision(account, stream, deposit(2), context, options)).rejects.toMatchObject(STALE);
        await store.leases.release(await acquire(holder));
      }
      // No fence for events that are not appended.
      await streams.runDecision(account, stream, () => [], context, options);
      expect(await balance()).toMatchObject({ balance: 1 });
    });

    it('appends nothing on a state that is past, however long the process pauses before the append', async () => {
      await streams.runDecision(account, stream, open('Ada'), context);
      const former = await acquire('a');
      const check = leaseFence(store.leases, former);
      let pauses = 0;
      const fence = async () => {
        await check();
        pauses += 1;
        await store.leases.release(former);
        const fenced = { fence: leaseFence(store.leases, await acquire('b')) };
        await elsewhere.runDecision(account, stream, deposit(10), context, fenced);
      };
      await expect(streams.runDecision(account, stream, deposit(1), context, { fence })).rejects.toMatchObject(STALE);
      expect([pauses, await balance()]).toMatchObject([1, { balance: 10 }]);
    });
  });

  describe('once', () => {
    const retried = { ...context, callId: 'call' };
    const again = () => {
      throw new Error('decided again');
    };

    it('finds the events that an earlier run of the call appended, with the state at that revision', async () => {
      await streams.runDecision(account, stream, open('Ada'), context);
      const first = await streams.runDecision(
        account,
        stream,
        () => [...deposit(2)(), ...deposit(3)()],
        { ...retried, requestId: 'first run' },
        { once: true },
      );
      await streams.runDecision(account, stream, close, context);
      for (const process of [streams, elsewhere]) {
        const found = await process.runDecision(account, stream, again, retried, { once: true });
        expect(found).toMatchObject({ state: first.state, revision: 2, chain: first.chain, events: first.events });
        expect(found.position).toBe(first.position);
      }
      expect(first.recorded.map(({ metadata }) => [metadata.requestId, metadata.correlationId])).toEqual([
        ['first run', 'call'],
        ['first run', 'call'],
      ]);
      expect((await store.readStream(stream)).length).toBe(4);
    });

    it('finds them when the stream was expected to be new', async () => {
      await elsewhere.runDecision(account, stream, open('Ada'), retried, { once: true });
      const fresh = streams.initial(account);
      const found = await streams.decideOn(account, stream, fresh, open('Eve'), retried, { once: true });
      expect(found).toMatchObject({ revision: 0, state: { owner: 'Ada' } });
    });

    it('finds them over many pages', async () => {
      await streams.runDecision(account, stream, open('Ada'), context);
      const many = Array.from({ length: 600 }, () => deposit(1)()[0]!);
      await streams.runDecision(account, stream, () => many, context);
      await streams.runDecision(account, stream, () => many, retried, { once: true });
      await streams.runDecision(account, stream, close, context);
      const found = await elsewhere.runDecision(account, stream, again, retried, { once: true });
      expect(found).toMatchObject({ revision: 1200, state: { balance: 1200 } });
      expect(found.events).toHaveLength(600);
    });

    it('reads no further back than the start of the call', async () => {
      await streams.runDecision(account, stream, open('Ada'), context);
      const many = Array.from({ length: 1200 }, () => deposit(1)()[0]!);
      await streams.runDecision(account, stream, () => many, context);
      const read: unknown[] = [];
      const readStream = store.readStream.bind(store);
      store.readStream = (name, options) => {
        read.push(options?.direction);
        return readStream(name, options);
      };
      // The events are of 03:04:05: those of the call before are older than this one.
      const later = { ...retried, callBeganAt: '2026-01-02T04:00:00.000Z' };
      await streams.runDecision(account, stream, deposit(1), later, { once: true });
      expect(read.filter((direction) => direction === 'backwards')).toHaveLength(1);
      // A call that began before may have appended any of them.
      const earlier = { ...retried, callId: 'another', callBeganAt: '2026-01-02T03:00:00.000Z' };
      await streams.runDecision(account, stream, deposit(1), earlier, { once: true });
      expect(read.filter((direction) => direction === 'backwards')).toHaveLength(1 + 3);
    });

    it('decides when only other calls have appended', async () => {
      await streams.runDecision(account, stream, open('Ada'), { ...context, callId: 'other' }, { once: true });
      const decided = await streams.runDecision(account, stream, deposit(1), retried, { once: true });
      expect(decided.state).toMatchObject({ balance: 1 });
    });
  });

  it('appends what was decided with its metadata and an intact chain', async () => {
    await streams.runDecision(account, stream, open('Ada'), context);
    const decided = await streams.runDecision(
      account,
      stream,
      () => [{ type: 'Deposited' as const, data: { amount: 2 }, id: 'fixed' }, ...deposit(3)()],
      { ...context, causationId: 'cause', traceparent: '00-a-b-01', sourceSequence: '7' },
    );
    expect(decided).toMatchObject({ revision: 2, state: { status: 'open', owner: 'Ada', balance: 5 } });
    const stored = await store.readStream(stream);
    expect(stored.map((event) => [event.id, event.type, event.schemaVersion])).toEqual([
      ['id-1', 'Opened', 2],
      ['fixed', 'Deposited', 1],
      ['id-2', 'Deposited', 1],
    ]);
    expect(decided.position).toBe(stored[2]!.position);
    expect(stored[0]!.metadata).toMatchObject({
      ...context,
      correlationId: 'r1',
      causationId: 'r1',
      occurredAt: '2026-01-02T03:04:05.678Z',
      partitionKey: 't1',
    });
    expect(stored[2]!.metadata).toMatchObject({ causationId: 'cause', traceparent: '00-a-b-01', sourceSequence: '7' });
    expect(verifyChain(stored)).toEqual({ intact: true, chain: decided.chain });
    expect(await elsewhere.load(account, stream)).toEqual(await streams.load(account, stream));
  });

  describe('a unit of work', () => {
    const other = 'account-t1+b';
    const order: string[] = [];
    const write = (kind: UnitWrite['kind'], store = async () => {}): UnitWrite => ({
      kind,
      store: async () => {
        order.push(kind);
        await store();
      },
      partOf: async () => undefined,
    });
    const opened = () => streams.further(account, other, streams.initial(account), open('Eve'), context);
    const storedIn = async (name: string) => (await store.readStream(name)).map(({ type }) => type);
    beforeEach(() => order.splice(0));

    it('is stored in order by a store without transactions: keys, single-use values, further streams, its own', async () => {
      const plain = Object.assign(Object.create(store) as EmbeddedEventStore, {
        commit: EventStore.prototype.commit,
        append: (...[name, events, expected]: Parameters<EventStore['append']>) => {
          order.push(name);
          return store.append(name, events, expected);
        },
      });
      const streams = new Streams(plain, systemClock, randomIds);
      const unit = { writes: [write('single-use'), write('key')], further: [opened()] };
      const decided = await streams.runDecision(account, stream, open('Ada'), context, { unit });
      expect(order).toEqual(['key', 'single-use', other, stream]);
      expect(decided.position).toBe(await store.head());
      expect(verifyChain(await store.readStream(other))).toMatchObject({ intact: true });
      expect([await storedIn(other), await storedIn(stream)]).toEqual([['Opened'], ['Opened']]);
    });

    it('of a refused or empty decision, or with a write that is refused, stores no event', async () => {
      const unit = { writes: [write('key')], further: [opened()] };
      const refusal = () => Promise.reject(new Error('refused'));
      await expect(streams.runDecision(account, stream, refusal, context, { unit })).rejects.toThrow('refused');
      await streams.runDecision(account, stream, () => [], context, { unit });
      expect(order).toEqual([]);
      const spent = { writes: [write('single-use', refusal)], further: [opened()] };
      await expect(streams.runDecision(account, stream, open('Ada'), context, { unit: spent })).rejects.toThrow(
        'refused',
      );
      expect([await storedIn(other), await storedIn(stream)]).toEqual([[], []]);
    });

    it('is stored once when its decision is repeated after a conflict', async () => {
      await streams.runDecision(account, stream, open('Ada'), context);
      let conflicts = 0;
      const decide = async () => {
        if (conflicts++ === 0) await elsewhere.runDecision(account, stream, deposit(1), context);
        return deposit(2)();
      };
      await streams.runDecision(account, stream, decide, context, { unit: { further: [opened()] } });
      expect(await storedIn(stream)).toEqual(['Opened', 'Deposited', 'Deposited']);
      expect(await storedIn(other)).toEqual(['Opened']);
    });

    it('decides a further stream again after a conflict on it', async () => {
      await streams.runDecision(account, other, open('Eve'), context);
      let loads = 0;
      const further = streams.further(
        account,
        other,
        async () => {
          const loaded = await streams.load(account, other);
          if (loads++ === 0) await elsewhere.runDecision(account, other, deposit(1), context);
          return loaded;
        },
        (state) => deposit(state.status === 'open' ? 10 + state.balance : 0)(),
        context,
      );
      await streams.runDecision(account, stream, open('Ada'), context, { unit: { further: [further] } });
      expect((await streams.load(account, other)).state).toEqual({ status: 'open', owner: 'Eve', balance: 12 });
      expect(await storedIn(stream)).toEqual(['Opened']);
    });
  });

  it('appends nothing for an empty decision', async () => {
    const decided = await streams.runDecision(account, stream, () => [], context);
    expect(decided).toMatchObject({ events: [], recorded: [], revision: -1 });
    expect(decided.position).toBeUndefined();
    expect(await store.head()).toBeUndefined();
  });

  it('decides again after a concurrent append', async () => {
    await streams.runDecision(account, stream, open('Ada'), context);
    const seen: Account[] = [];
    const decided = await streams.runDecision(
      account,
      stream,
      async (state) => {
        seen.push(state);
        if (seen.length === 1) await elsewhere.runDecision(account, stream, deposit(10), context);
        return deposit(1)();
      },
      context,
    );
    expect(seen.map((state) => state.status === 'open' && state.balance)).toEqual([0, 10]);
    expect(decided.state).toMatchObject({ balance: 11 });
  });

  it('gives up after maxAttempts conflicts', async () => {
    let attempts = 0;
    const contended = streams.runDecision(
      account,
      stream,
      async () => {
        attempts++;
        await elsewhere.runDecision(account, stream, deposit(1), context);
        return deposit(1)();
      },
      context,
      { maxAttempts: 3 },
    );
    await expect(contended).rejects.toBeInstanceOf(WrongExpectedRevision);
    expect(attempts).toBe(3);
  });

  it('lets all concurrent decisions succeed, each on the state of the previous one', async () => {
    await Promise.all(
      [1, 2, 3, 4].map((amount) =>
        elsewhere.runDecision(account, stream, deposit(amount), context, { maxAttempts: 20 }),
      ),
    );
    const stored = await store.readStream(stream);
    expect(stored).toHaveLength(4);
    expect(verifyChain(stored)).toMatchObject({ intact: true });
  });

  it('runs any number of decisions of one process one after the other, without a conflict', async () => {
    await streams.runDecision(account, stream, open('Ada'), context);
    const stale = await streams.load(account, stream);
    await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        n % 2
          ? streams.runDecision(account, stream, deposit(1), context, { maxAttempts: 1 })
          : streams.decideOn(account, stream, stale, deposit(1), context, { maxAttempts: 1 }),
      ),
    );
    expect((await streams.load(account, stream)).state).toMatchObject({ balance: 60 });
  });

  it('continues after a decision that was refused', async () => {
    const refused = streams.runDecision(account, stream, () => Promise.reject(new Error('no')), context);
    const next = streams.runDecision(account, stream, open('Ada'), context);
    await expect(refused).rejects.toThrow('no');
    expect((await next).revision).toBe(0);
  });

  it('uses a loaded state, and reloads it only on conflict', async () => {
    const loaded = await streams.load(account, stream);
    await elsewhere.runDecision(account, stream, open('Ada'), context);
    const seen: string[] = [];
    const decided = await streams.decideOn(
      account,
      stream,
      loaded,
      (state) => {
        seen.push(state.status);
        return deposit(1)();
      },
      context,
    );
    expect(seen).toEqual(['none', 'open']);
    expect(decided.state).toMatchObject({ balance: 1 });
  });

  it('passes a domain refusal on', async () => {
    let calls = 0;
    const refusing = streams.runDecision(
      account,
      stream,
      (state) => {
        calls++;
        throw refused(state);
      },
      context,
    );
    await expect(refusing).rejects.toMatchObject({ code: 'Conflict' });
    expect(calls).toBe(1);
  });

  it('keeps at most 64 MiB of the text of cached states', async () => {
    const owner = 'x'.repeat(900_000);
    const name = (n: number) => `account-t1+large-${n}`;
    for (let n = 0; n < 100; n++) await streams.runDecision(account, name(n), open(owner), context);
    const isCached = async (n: number) => (await streams.load(account, name(n), { cached: true })).cached === true;
    expect([await isCached(99), await isCached(60), await isCached(0)]).toEqual([true, true, false]);
  });

  it('folds a stream of large events, of which few are read at once', async () => {
    const owner = 'x'.repeat(900_000);
    await streams.runDecision(account, stream, open(owner), context);
    const large = Array.from({ length: 30 }, () => ({ type: 'Opened' as const, data: { owner: { name: owner } } }));
    for (const event of large) await streams.runDecision(account, stream, () => [event], context);
    for (let n = 0; n < 40; n++) await streams.runDecision(account, stream, () => [large[0]!], context);
    await streams.runDecision(account, stream, deposit(7), context);
    const sizes: number[] = [];
    const read = store.readStream.bind(store);
    store.readStream = async (...args) => {
      const events = await read(...args);
      sizes.push(events.length);
      return events;
    };
    const { state, revision } = await new Streams(store, systemClock, randomIds).load(account, stream);
    expect([state, revision]).toEqual([{ status: 'open', owner, balance: 7 }, 71]);
    expect(Math.max(...sizes)).toBeLessThan(40);
  });

  describe('of a long stream', () => {
    const LENGTH = 1500;
    const other = (index: number) => `account-t1+other-${index}`;
    let reads: string[];
    beforeEach(async () => {
      await streams.runDecision(account, stream, open('Ada'), context);
      const deposits = Array.from({ length: LENGTH - 1 }, () => deposit(1)()[0]!);
      await streams.runDecision(account, stream, () => deposits, context);
      reads = [];
      const readStream = store.readStream.bind(store);
      store.readStream = (name, options) => {
        reads.push(`${name} from ${options?.from}`);
        return readStream(name, options);
      };
    });
    const small = () => new Streams(store, { now: () => new Date(0) }, { uuid: () => 'id' }, { cacheSize: 2 });

    it('folds it once for all concurrent callers', async () => {
      const cold = small();
      const all = await Promise.all(Array.from({ length: 20 }, () => cold.load(account, stream)));
      for (const { state, revision } of all) {
        expect(state).toEqual({ status: 'open', owner: 'Ada', balance: LENGTH - 1 });
        expect(revision).toBe(LENGTH - 1);
      }
      // A stream is known to be long once its first page was read.
      expect(reads.filter((read) => read === `${stream} from 512`)).toHaveLength(1);
    });

    it('returns to each of them what was stored before its call', async () => {
      const cold = small();
      const first = cold.load(account, stream);
      await elsewhere.runDecision(account, stream, deposit(1000), context);
      const second = await cold.load(account, stream);
      expect(second.state).toMatchObject({ balance: LENGTH - 1 + 1000 });
      await first;
    });

    it('folds it again after a failure', async () => {
      const cold = small();
      const { readStream } = store;
      store.readStream = (name, options) =>
        options?.from === 512 ? Promise.reject(new Error('away')) : readStream(name, options);
      await expect(cold.load(account, stream)).rejects.toThrow('away');
      store.readStream = readStream;
      expect((await cold.load(account, stream)).revision).toBe(LENGTH - 1);
    });

    it('keeps its state in the cache, whatever the number of short streams', async () => {
      for (let index = 0; index < 5; index++) await elsewhere.runDecision(account, other(index), open('Bob'), context);
      const kept = small();
      await kept.load(account, stream);
      for (let index = 0; index < 5; index++) await kept.load(account, other(index));
      reads = [];
      expect((await kept.load(account, stream)).revision).toBe(LENGTH - 1);
      expect(reads).toEqual([`${stream} from ${LENGTH}`]);
    });

    describe('with snapshots', () => {
      const started = (
        stateVersions: Record<string, string> = { account: 'v1' },
        onSnapshotFailure?: StreamsOptions['onSnapshotFailure'],
      ) => {
        const clock = { now: () => new Date(0) };
        return new Streams(store, clock, randomIds, { snapshots: store.snapshots, stateVersions, onSnapshotFailure });
      };
      const kept = () => store.snapshots.read(stream);
      const keptAt = (revision: number) =>
        waitUntil(async () => (await kept())?.revision === revision, { what: `a snapshot at ${revision}` });
      const folded = async (process: Streams) => {
        reads = [];
        const { state, revision } = await process.load(account, stream);
        expect([state, revision]).toEqual([{ status: 'open', owner: 'Ada', balance: revision }, revision]);
        return reads.map((read) => read.slice(stream.length + 1));
      };
      beforeEach(async () => {
        await folded(started());
        await keptAt(LENGTH - 1);
      });

      it('a process that starts reads one page, the event of the snapshot and newer events', async () => {
        await elsewhere.runDecision(account, stream, deposit(1), context);
        const expected = ['from 0', `from ${LENGTH - 1}`, `from ${LENGTH}`];
        expect(await folded(started())).toEqual(expected);
      });

      it('a growing stream gets a snapshot with each page of events', async () => {
        const process = started();
        for (let revision = LENGTH; revision < LENGTH + 1024; revision += 64)
          await process.runDecision(account, stream, () => Array.from({ length: 64 }, () => deposit(1)()[0]!), context);
        await keptAt(LENGTH - 1 + 1024);
        expect(await folded(started())).toHaveLength(3);
      });

      it('events are folded when the code that folds them has changed, and the snapshot is replaced', async () => {
        expect(await folded(started({ account: 'v2' }))).not.toContain(`from ${LENGTH - 1}`);
        await waitUntil(async () => (await kept())?.stateVersion === 'v2', { what: 'the new snapshot' });
        expect(await folded(started({ account: 'v2' }))).toHaveLength(3);
      });

      it.each([
        ['names another event than the one stored', { chain: 'of another history' }],
        ['is ahead of the stream', { revision: LENGTH + 10 }],
        ['cannot be read', { state: Uint8Array.from([1, 2, 3]) }],
      ])('events are folded when the snapshot %s', async (_, change) => {
        const altered = { ...(await kept())!, stateVersion: 'v3', ...change };
        await store.snapshots.write(stream, altered);
        expect(await folded(started({ account: 'v3' }))).toContain('from 1024');
      });

      it('events are folded when the snapshots are unavailable', async () => {
        store.snapshots.read = () => Promise.reject(new Error('away'));
        store.snapshots.write = () => Promise.reject(new Error('away'));
        const failures: [string, string][] = [];
        const process = started({ account: 'v1' }, (name, { message }) => failures.push([name, message]));
        expect(await folded(process)).toContain('from 1024');
        await waitUntil(() => failures.length === 2, { what: 'both failures' });
        expect(failures).toEqual(Array(2).fill([stream, 'away']));
      });

      it('none is stored for an aggregate without a state version, a short stream or a very large state', async () => {
        expect(await folded(started({}))).toContain('from 1024');
        await started().runDecision(account, other(1), open('x'.repeat(1000)), context);
        const process = started();
        const large: typeof account = {
          ...account,
          evolve: (state, event) =>
            ({ ...account.evolve(state, event), owner: 'x'.repeat(5 * 1024 * 1024) }) as Account,
        };
        await process.runDecision(large, other(2), open('Ada'), context);
        for (let n = 0; n < 2; n++)
          await process.runDecision(
            large,
            other(2),
            () => Array.from({ length: 300 }, () => deposit(1)()[0]!),
            context,
          );
        // Written after the others, had they been.
        await process.runDecision(account, stream, () => Array.from({ length: 600 }, () => deposit(1)()[0]!), context);
        await keptAt(LENGTH + 599);
        expect(await Promise.all([1, 2].map((index) => store.snapshots.read(other(index))))).toEqual([
          undefined,
          undefined,
        ]);
      });
    });
  });

  describe('with a cached state', () => {
    const reopen = (seen: string[]) => (state: Account) => {
      seen.push(state.status);
      if (state.status !== 'closed') throw refused(state);
      return open('Eve')();
    };

    beforeEach(async () => {
      await streams.runDecision(account, stream, open('Ada'), context);
      await elsewhere.runDecision(account, stream, close, context);
    });

    it('answers from the cache on request, otherwise from the store', async () => {
      expect(await streams.load(account, stream, { cached: true })).toMatchObject({
        cached: true,
        revision: 0,
        state: { status: 'open' },
      });
      expect(await streams.load(account, stream)).toMatchObject({ revision: 1, state: { status: 'closed' } });
      expect(await elsewhere.load(account, stream, { cached: true })).not.toHaveProperty('cached');
    });

    describe('of a stream that does not exist', () => {
      const other = 'account-t1+b';
      const FROM_MEMORY = { cached: true, absence: true };
      const loadFromMemory = async () => {
        const { state, revision, cached } = await streams.load(account, other, FROM_MEMORY);
        return [state.status, revision, cached ?? false];
      };

      it('remembers that only for callers that ask for it', async () => {
        expect(await loadFromMemory()).toEqual(['none', -1, false]);
        expect(await loadFromMemory()).toEqual(['none', -1, true]);
        expect((await streams.load(account, other, { cached: true })).cached).toBeUndefined();
        expect((await streams.load(account, other, { absence: true })).cached).toBeUndefined();
      });

      it('forgets it with its own append, also as part of a unit, and keeps it after that of another process', async () => {
        await loadFromMemory();
        await elsewhere.runDecision(account, other, open('Ada'), context);
        expect(await loadFromMemory()).toEqual(['none', -1, true]);
        await streams.runDecision(account, other, (state) => (state.status === 'open' ? close() : []), context);
        expect(await loadFromMemory()).toEqual(['closed', 1, true]);

        const third = 'account-t1+c';
        await streams.load(account, third, FROM_MEMORY);
        const further = [streams.further(account, third, streams.initial(account), open('Grace'), context)];
        await streams.runDecision(account, 'account-t1+d', open('Joan'), context, { unit: { further } });
        expect((await streams.load(account, third, FROM_MEMORY)).state).toMatchObject({ owner: 'Grace' });
      });

      it.each([
        ['needs no read where no other process appends', true],
        ['is read where another process may append', false],
      ])('and whose id was just made %s', async (_title, exclusive) => {
        const sole = await EmbeddedEventStore.openFile({ file: join(folder, 'sole.db'), exclusive });
        try {
          let reads = 0;
          const read = sole.readStream.bind(sole);
          sole.readStream = (...args) => (reads++, read(...args));
          const ofSole = new Streams(sole, systemClock, randomIds);
          ofSole.noteUnused(other);
          expect(await ofSole.load(account, other)).toEqual(ofSole.initial(account));
          expect(reads).toBe(exclusive ? 0 : 1);
          await ofSole.runDecision(account, other, open('Ada'), context);
          const fresh = await new Streams(sole, systemClock, randomIds).load(account, other);
          expect(fresh).toMatchObject({ revision: 0, state: { status: 'open', owner: 'Ada' } });
        } finally {
          await sole.close();
        }
      });

      it('decides again when the stream exists after all', async () => {
        await loadFromMemory();
        await elsewhere.runDecision(account, other, open('Ada'), context);
        const deposited = await streams.runDecision(account, other, deposit(5), context, FROM_MEMORY);
        expect(deposited.state).toMatchObject({ balance: 5 });
      });

      it('does not remember it when this process has appended meanwhile', async () => {
        const reading = streams.load(account, other, FROM_MEMORY);
        await streams.decideOn(account, other, streams.initial(account), open('Ada'), context);
        await reading;
        expect(await loadFromMemory()).toEqual(['open', 0, true]);
      });
    });

    it('refuses nothing that a fresh state allows', async () => {
      const seen: string[] = [];
      const decided = await streams.runDecision(account, stream, reopen(seen), context, { cached: true });
      expect(seen).toEqual(['open', 'closed']);
      expect(decided.state).toMatchObject({ status: 'open', owner: 'Eve' });
    });

    it('does the same for a cached state that is passed in', async () => {
      const seen: string[] = [];
      const loaded = await streams.load(account, stream, { cached: true });
      await streams.decideOn(account, stream, loaded, reopen(seen), context);
      expect(seen).toEqual(['open', 'closed']);
    });

    it('does not treat an empty decision as the result', async () => {
      const decided = await streams.runDecision(
        account,
        stream,
        (state) => (state.status === 'open' ? [] : open('Eve')()),
        context,
        { cached: true },
      );
      expect(decided.events).toHaveLength(1);
    });

    it('decides again when its append conflicts, even with one attempt', async () => {
      const seen: string[] = [];
      const stale = streams.runDecision(
        account,
        stream,
        (state) => {
          seen.push(state.status);
          if (state.status === 'closed') throw refused(state);
          return deposit(1)();
        },
        context,
        { cached: true, maxAttempts: 1 },
      );
      await expect(stale).rejects.toMatchObject({ code: 'Conflict' });
      expect(seen).toEqual(['open', 'closed']);
    });
  });

  describe('reading events of other releases', () => {
    const write = (type: string, schemaVersion: number, data: object) =>
      store.append(
        stream,
        [
          chainEvent(CHAIN_START, {
            id: 'old',
            type,
            schemaVersion,
            data,
            metadata: {
              ...context,
              correlationId: 'r',
              causationId: 'r',
              occurredAt: '2025-01-01T00:00:00.000Z',
              partitionKey: 't1',
            },
          }),
        ],
        -1,
      );

    it('upcasts an old event to the current schema version', async () => {
      await write('Opened', 1, { owner: 'Grace' });
      expect((await streams.load(account, stream)).state).toEqual({ status: 'open', owner: 'Grace', balance: 0 });
    });

    it.each([
      ['type', 'Frozen', 1],
      ['schema version', 'Deposited', 2],
      ['type that is a member of every object', 'constructor', 1],
    ])('refuses to decide over an unknown %s', async (_, type, version) => {
      await write(type, version, {});
      await expect(streams.load(account, stream)).rejects.toBeInstanceOf(UnknownEventType);
      await expect(streams.runDecision(account, stream, deposit(1), context)).rejects.toMatchObject({
        event: { stream, type, schemaVersion: version },
      });
      expect(await store.readStream(stream)).toHaveLength(1);
    });

    it('refuses a version that no release stored', async () => {
      const later: typeof account = {
        ...account,
        types: { ...account.types, Opened: 3 },
        lowestVersions: { Opened: 2 },
      };
      const upcast = (data: { name: string }) => ({ owner: data });
      const upcasters = [{ type: 'Opened', from: 2, upcast }];
      await write('Opened', 1, { owner: 'Grace' });
      await expect(streams.load({ ...later, upcasters }, stream)).rejects.toMatchObject({
        name: 'UnknownEventType',
        message: `${stream} holds Opened v1, but releases stored v2 or later`,
      });
      const stored = { stream, type: 'Opened', schemaVersion: 2, data: { name: 'Ada' } };
      expect(readEvent({ ...later, upcasters }, stored).data).toEqual({ owner: { name: 'Ada' } });
      expect(readEvent({ ...later, upcasters }, { ...stored, schemaVersion: 3 }).data).toEqual({ name: 'Ada' });
    });

    it('refuses an aggregate that lacks an upcaster', async () => {
      await write('Opened', 1, { owner: 'Grace' });
      await expect(streams.load({ ...account, upcasters: [] }, stream)).rejects.toThrow('no upcaster for Opened v1');
    });
  });

  it('reads streams of several pages', async () => {
    await streams.runDecision(account, stream, open('Ada'), context);
    await streams.runDecision(account, stream, () => Array.from({ length: 1100 }, () => deposit(1)()[0]!), context);
    expect(await elsewhere.load(account, stream)).toMatchObject({ revision: 1100, state: { balance: 1100 } });
  });

  it('refuses a stream of another category', async () => {
    await expect(streams.runDecision(account, 'did-t1+a', open('Ada'), context)).rejects.toThrow(
      'is not a stream of category',
    );
  });

  describe('the record of a call', () => {
    const stored = async (of: string) =>
      (await store.readStream(of)).map(({ type, metadata }) => [type, metadata.record ?? null]);

    it('is on the first event of the first append, and chained with it', async () => {
      const { record } = recordOfCall();
      const both = () => [...open('Ann')(), ...deposit(1)()];
      await streams.runDecision(account, stream, both, { ...context, record });
      await streams.runDecision(account, stream, deposit(2), { ...context, record });
      expect(await stored(stream)).toEqual([
        ['Opened', { prefix: 'ACCOUNT', of: stream, type: 'Opened' }],
        ['Deposited', null],
        ['Deposited', null],
      ]);
      const events = await store.readStream(stream);
      expect(verifyChain(events)).toMatchObject({ intact: true });
      const forged = events.map((event) => {
        const metadata = event.text.metadata.replace('"ACCOUNT"', '"ANOTHER"');
        return { ...event, text: { ...event.text, metadata } };
      });
      expect(verifyChain(forged)).toMatchObject({ intact: false, revision: 0 });
    });

    it('is not on events that prepare the effect', async () => {
      const { record } = recordOfCall();
      const ofCall = { ...context, record };
      await streams.runDecision(claims, 'claim-t1+a', open('Ann'), ofCall);
      await streams.runDecision(account, 'account-t1+b', open('Ann'), withoutRecord(ofCall));
      expect(record.isStored).toBe(false);
      await streams.runDecision(account, stream, open('Ann'), ofCall);
      expect([await stored('claim-t1+a'), await stored('account-t1+b')]).toEqual([
        [['Opened', null]],
        [['Opened', null]],
      ]);
      expect(record.isStored).toBe(true);
    });

    it('is on the event of the attempt that was stored', async () => {
      const { record, asked } = recordOfCall();
      await streams.runDecision(account, stream, open('Ann'), context);
      let isFirst = true;
      await streams.runDecision(
        account,
        stream,
        async () => {
          if (isFirst) await elsewhere.runDecision(account, stream, deposit(1), context);
          isFirst = false;
          return deposit(2)();
        },
        { ...context, record },
      );
      expect([(await stored(stream)).map(([, of]) => of !== null), asked.length]).toEqual([[false, false, true], 2]);
    });

    it('is not stored by a decision without events, or one that refuses', async () => {
      const { record } = recordOfCall();
      await streams.runDecision(account, stream, () => [], { ...context, record });
      const refusing = streams.runDecision(
        account,
        stream,
        (state) => {
          throw refused(state);
        },
        { ...context, record },
      );
      await expect(refusing).rejects.toThrow('account is none');
      expect(record.isStored).toBe(false);
    });
  });
});
