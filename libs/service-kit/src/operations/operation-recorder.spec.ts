import { jest } from '@jest/globals';
import type { OperationRecordMessage, OperationStartMessage } from '@attestry/contracts';
import { randomIds, systemClock } from '@attestry/event-store';
import type { MessageBus, OutgoingMessage } from '@attestry/messaging';
import { waitUntil } from '@attestry/testing';
import { OperationRecorder, OperationRecorders } from './operation-recorder.js';

const record = (requestId: string) => ({ requestId }) as OperationRecordMessage;
const startAt = (deadline: number) => ({ requestId: 'r1', deadline }) as OperationStartMessage;
const later = () => Date.now() + 60_000;

/** A feed whose batches are kept, and whose first `faults` publications fail. */
const feed = ({ faults = 0 } = {}) => {
  const batches: OutgoingMessage[][] = [];
  const logged: unknown[] = [];
  let left = faults;
  const publish = async (messages: readonly OutgoingMessage[]) => {
    if (left-- > 0) throw new Error('broker unreachable');
    batches.push([...messages]);
  };
  const needs = {
    bus: { publish } as unknown as MessageBus,
    clock: systemClock,
    ids: randomIds,
    logger: {
      warn: (...args: unknown[]) => void logged.push(args),
      error: (...args: unknown[]) => void logged.push(args),
    } as never,
  };
  const sent = () => batches.map((batch) => batch.map(({ subject, data }) => [subject, data] as const));
  return { needs, batches, sent, logged };
};
const silent = () =>
  new OperationRecorder({ ...feed().needs, bus: { publish: () => new Promise(() => {}) } as never }, 'gateway');

describe('an awaited message', () => {
  it('waits for the broker no longer than the deadline of the call', async () => {
    const began = performance.now();
    await expect(silent().start(startAt(Date.now() + 700))).rejects.toThrow('not acknowledged');
    const took = performance.now() - began;
    expect(took).toBeGreaterThan(500);
    expect(took).toBeLessThan(5000);
  });

  it('has a short time after the deadline', async () => {
    const publish = () => new Promise<void>((resolve) => setTimeout(resolve, 50));
    const slow = new OperationRecorder({ ...feed().needs, bus: { publish } as never }, 'gateway');
    await slow.write(record('r1'), Date.now() - 1000);
  });
});

describe('records that no answer waits for', () => {
  it('are sent in one batch, within a quarter of a second', async () => {
    const { needs, batches, sent } = feed();
    const recorder = new OperationRecorder(needs, 'dids');
    for (const id of ['r1', 'r2', 'r3']) expect(recorder.add(record(id), later())).toBeUndefined();
    expect(batches).toEqual([]);
    await waitUntil(() => batches.length > 0, { timeoutMs: 2000 });
    expect(sent()).toEqual([['r1', 'r2', 'r3'].map((requestId) => ['operation.dids.record', { requestId }])]);
  });

  it('are sent at once when the batch is full', () => {
    const { needs, batches } = feed();
    const recorder = new OperationRecorder(needs, 'gateway');
    for (let n = 0; n < 500; n++) void recorder.add(record(`r${n}`), later());
    expect(batches.map(({ length }) => length)).toEqual([500]);
  });

  it('are sent again after an outage, with the same ids and once', async () => {
    const { needs, sent, logged } = feed({ faults: 2 });
    const recorder = new OperationRecorder(needs, 'gateway');
    void recorder.add(record('r1'), later());
    const flushing = recorder.flush();
    void recorder.add(record('r2'), later());
    await flushing;
    await recorder.flush();
    expect(
      sent()
        .flat()
        .map(([, data]) => (data as { requestId: string }).requestId),
    ).toEqual(['r1', 'r2']);
    expect(logged).toEqual([
      [{ participant: 'gateway', error: 'Error: broker unreachable' }, 'operation records delayed'],
    ]);
  });

  it('are sent by a flush that begins while the previous one ends', async () => {
    for (let turns = 0; turns < 12; turns++) {
      const { needs, sent } = feed();
      const recorder = new OperationRecorder(needs, 'gateway');
      void recorder.add(record('r1'), later());
      void recorder.flush();
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      void recorder.add(record('r2'), later());
      await recorder.flush();
      expect(sent().flat()).toHaveLength(2);
    }
  });

  it('are bounded: while too many wait, a call waits until its deadline', async () => {
    const recorder = silent();
    for (let n = 0; n < 10_000; n++) expect(recorder.add(record('r'), later())).toBeUndefined();
    await expect(recorder.add(record('r'), Date.now())).rejects.toThrow('not acknowledged');
  });

  it('are bounded by their size, too', async () => {
    const recorder = silent();
    const large = { ...record('r'), data: 'x'.repeat(256 * 1024 - 100) };
    for (let n = 0; n < 64; n++) expect(recorder.add(large, later())).toBeUndefined();
    await expect(recorder.add(large, Date.now())).rejects.toThrow('not acknowledged');
  });

  it('of large calls have room again after an outage', async () => {
    const { needs, batches } = feed({ faults: 1 });
    const recorder = new OperationRecorder(needs, 'gateway');
    const large = { ...record('r'), data: 'x'.repeat(250_000) };
    for (let n = 0; n < 150; n++) await recorder.add(large, later());
    await recorder.flush();
    expect(batches.flat()).toHaveLength(150);
  });

  describe('that the feed refuses', () => {
    /** A feed that refuses calls with a message of this request. */
    const refusing = (isRefused: (requestId: string) => boolean) => {
      const { needs, sent, logged } = feed();
      const publish = async (messages: readonly OutgoingMessage[]) => {
        if (messages.some(({ data }) => isRefused((data as OperationRecordMessage).requestId)))
          throw new Error('max_payload size exceeded');
        await needs.bus.publish(messages);
      };
      const ids = () =>
        sent()
          .flat()
          .map(([, data]) => (data as OperationRecordMessage).requestId);
      const refused = () => (logged as [object, string][]).filter(([, text]) => text.includes('refused'));
      return { needs: { ...needs, bus: { publish } as never }, ids, refused };
    };

    it.each([0, 7, 19])('are logged with their request and hold up no other: number %i of 20', async (bad) => {
      const { needs, ids, refused } = refusing((requestId) => requestId === `r${bad}`);
      const recorder = new OperationRecorder(needs, 'gateway');
      const all = Array.from({ length: 20 }, (_, n) => `r${n}`);
      for (const id of all) void recorder.add(record(id), later());
      const flushed = recorder.flush();
      await waitUntil(() => ids().length === 19, { timeoutMs: 10_000 });
      // The last one is only known to be refused when others are accepted.
      for (const id of ['later1', 'later2']) void recorder.add(record(id), later());
      await flushed;
      await recorder.flush();
      expect(new Set(ids())).toEqual(new Set([...all.filter((id) => id !== `r${bad}`), 'later1', 'later2']));
      expect(refused()).toEqual([
        [
          expect.objectContaining({
            participant: 'gateway',
            requestId: `r${bad}`,
            error: 'Error: max_payload size exceeded',
          }),
          'operation record refused by the feed',
        ],
      ]);
    });

    it('are kept while it refuses every other, too', async () => {
      let isReachable = false;
      const { needs, ids, refused } = refusing(() => !isReachable);
      const recorder = new OperationRecorder(needs, 'gateway');
      for (const id of ['r1', 'r2', 'r3']) void recorder.add(record(id), later());
      const flushed = recorder.flush();
      setTimeout(() => (isReachable = true), 1500);
      await flushed;
      expect(ids()).toEqual(['r1', 'r2', 'r3']);
      expect(refused()).toEqual([]);
    });

    it('one behind the other are dropped', async () => {
      const { needs, ids, refused } = refusing((requestId) => requestId.startsWith('bad'));
      const recorder = new OperationRecorder(needs, 'gateway');
      for (const id of ['bad1', 'bad2', 'r1', 'r2', 'r3', 'r4']) void recorder.add(record(id), later());
      await recorder.flush();
      expect(ids()).toHaveLength(4);
      expect(refused()).toHaveLength(2);
    });

    it.each([
      ['are no JSON', { metadata: { n: 1n } }],
      ['are too large', { data: 'x'.repeat(300_000) }],
    ])('because they %s are logged at once', async (_, more) => {
      const { needs, ids, refused } = refusing(() => false);
      const recorder = new OperationRecorder(needs, 'gateway');
      expect(recorder.add({ ...record('r1'), ...more }, later())).toBeUndefined();
      void recorder.add(record('r2'), later());
      await recorder.flush();
      expect(ids()).toEqual(['r2']);
      expect(refused()).toMatchObject([[{ requestId: 'r1' }, expect.anything()]]);
    });
  });

  it('of calls that failed meanwhile are not kept; those of calls that waited are sent after the outage', async () => {
    const { needs, batches, sent } = feed();
    const outage = Promise.withResolvers<void>();
    const publish = (messages: readonly OutgoingMessage[]) => outage.promise.then(() => needs.bus.publish(messages));
    const recorder = new OperationRecorder({ ...needs, bus: { publish } as never }, 'gateway');
    for (let n = 0; n < 10_000; n++) void recorder.add(record('r'), later());
    await expect(recorder.add(record('failed'), Date.now())).rejects.toThrow('not acknowledged');
    const waiting = recorder.add(record('waited'), later());
    outage.resolve();
    await waiting;
    await recorder.flush();
    expect(batches.flat()).toHaveLength(10_001);
    expect(sent().flat().at(-1)![1]).toEqual({ requestId: 'waited' });
  });
});

describe('a recorder', () => {
  const states = (sent: ReturnType<ReturnType<typeof feed>['sent']>) =>
    sent.flat().map(([subject, data]) => [subject, (data as { state?: string; requestId?: string }).state ?? 'record']);

  it('announces itself, and says that it is closed after its last record', async () => {
    const { needs, sent } = feed();
    const recorder = new OperationRecorder(needs, 'gateway').open();
    await recorder.flush();
    void recorder.add(record('r1'), later());
    await recorder.close();
    expect(states(sent())).toEqual([
      ['operation.gateway.recorder', 'started'],
      ['operation.gateway.record', 'record'],
      ['operation.gateway.recorder', 'closed'],
    ]);
    const ids = sent()
      .flat()
      .flatMap(([, data]) => (data as { instance?: string }).instance ?? []);
    expect(new Set(ids).size).toBe(1);
  });

  it('says every ten seconds that it runs', async () => {
    jest.useFakeTimers();
    try {
      const { needs, sent } = feed();
      const recorder = new OperationRecorder(needs, 'gateway').open();
      await recorder.flush();
      await jest.advanceTimersByTimeAsync(20_000);
      expect(states(sent()).map(([, state]) => state)).toEqual(['started', 'alive', 'alive']);
      await recorder.close();
    } finally {
      jest.useRealTimers();
    }
  });

  it('of a participant that records no calls sends nothing', async () => {
    const { needs, batches } = feed();
    await new OperationRecorder(needs, 'analytics').open().close();
    expect(batches).toEqual([]);
  });

  it('does not prevent a list of records during an outage of the feed', async () => {
    const recorders = new OperationRecorders(feed().needs, () => ({ publish: () => new Promise(() => {}) }) as never);
    void recorders.of('gateway').add(record('r1'), later());
    const began = performance.now();
    await recorders.flush(50);
    expect(performance.now() - began).toBeLessThan(5000);
  });

  it('is one for each participant of a process', async () => {
    const { needs, sent } = feed();
    const recorders = new OperationRecorders(needs, () => needs.bus);
    expect(recorders.of('dids')).toBe(recorders.of('dids'));
    void recorders.of('gateway').add(record('r1'), later());
    await recorders.flush(1000);
    await recorders.close();
    const last = states(sent()).slice(-2);
    expect(last.map(([, state]) => state)).toEqual(['closed', 'closed']);
  });
});
