import { createHash } from 'node:crypto';
import { CHAIN_START, chainEvent, readText, verifyChain } from './chain.js';
import type { EventText, RecordedEvent } from './event-store.js';

const metadata = {
  tenantId: 't1',
  requestId: 'r1',
  actor: 'service:test',
  operation: 'test.run',
  correlationId: 'r1',
  causationId: 'r1',
  occurredAt: '2026-01-02T03:04:05.678Z',
  partitionKey: 't1',
};
const eventOf = (revision: number) => ({
  id: `e${revision}`,
  type: 'Counted',
  schemaVersion: 1,
  data: { n: revision, a: 'é' },
  metadata,
});
const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url');

const chained = (count = 3): RecordedEvent[] => {
  let chain = CHAIN_START;
  return Array.from({ length: count }, (_, revision) => {
    const event = chainEvent(chain, eventOf(revision));
    chain = event.chain;
    return { ...event, stream: 'c-1', revision, position: String(revision + 1) };
  });
};
/** The event with other stored text, as a store that was tampered with returns it. */
const withText = (event: RecordedEvent, change: (text: EventText) => EventText): RecordedEvent =>
  readText(event, change(event.text));

describe('chain', () => {
  it('is the base64url SHA-256 of version, previous value, id, type, schema version and the stored text', () => {
    const event = { id: 'e', type: 'T', schemaVersion: 3, data: { b: 1e21, a: 'é\n' }, metadata };
    const hashed =
      '"schemaVersion":3,"tenantId":"t1","requestId":"r1","actor":"service:test","operation":"test.run","correlationId":"r1",' +
      '"causationId":"r1","occurredAt":"2026-01-02T03:04:05.678Z","partitionKey":"t1"}';
    const expected = sha256(`2\nprevious\ne\nT\n3\n{"b":1e+21,"a":"é\\n"}\n${hashed}`);
    const { chain, text } = chainEvent('previous', event);
    expect(chain).toBe(expected);
    expect(text).toEqual({ data: '{"b":1e+21,"a":"é\\n"}', metadata: `{"chain":"${expected}",${hashed}` });
    expect(text.metadata.slice(55)).toBe(hashed);
  });

  it('refuses a line feed in id or type, which would make the hashed text ambiguous', () => {
    expect(() => chainEvent('', { ...eventOf(0), id: 'e\n' })).toThrow(RangeError);
    expect(() => chainEvent('', { ...eventOf(0), type: 'T\n1' })).toThrow(RangeError);
  });

  it('is read as it was written', () => {
    for (const event of chained()) {
      expect(readText(event, event.text)).toEqual(event);
      expect(event.metadata).toEqual(metadata);
    }
  });

  it('verifies an intact chain, from the beginning and from a known value', () => {
    const events = chained();
    expect(verifyChain(events)).toEqual({ intact: true, chain: events[2]!.chain });
    expect(verifyChain(events.slice(1), events[0]!.chain)).toMatchObject({ intact: true });
    expect(verifyChain([])).toEqual({ intact: true, chain: CHAIN_START });
  });

  const change =
    (at: number, text: (text: EventText) => Partial<EventText>) =>
    (events: RecordedEvent[]): void => {
      events[at] = withText(events[at]!, (before) => ({ ...before, ...text(before) }));
    };
  it.each<[string, (events: RecordedEvent[]) => unknown, number]>([
    ['changed data', change(1, () => ({ data: '{"n":9,"a":"é"}' })), 1],
    ['changed metadata', change(1, (text) => ({ metadata: text.metadata.replace('service', 'user') })), 1],
    ['another chain value', change(1, (text) => ({ metadata: text.metadata.replace(/[\w-]{43}/, 'c'.repeat(43)) })), 1],
    ['a changed id', (events) => (events[2]!.id = 'x'), 2],
    ['a changed type', (events) => (events[2]!.type = 'X'), 2],
    ['a changed schema version', (events) => (events[2]!.schemaVersion = 2), 2],
    ['a missing event', (events) => events.splice(1, 1), 2],
    ['a swapped order', (events) => events.reverse(), 2],
  ])('finds %s', (_, tamper, revision) => {
    const events = chained();
    tamper(events);
    expect(verifyChain(events)).toMatchObject({ intact: false, revision });
  });

  it('finds text that means the same but is written differently', () => {
    const tampered: ((text: EventText) => EventText)[] = [
      (text) => ({ ...text, data: text.data.replace(':', ': ') }),
      (text) => ({ ...text, data: text.data.replace('{', '{"n":9,') }),
      (text) => ({ ...text, metadata: text.metadata.replace('"actor"', ' "actor"') }),
      (text) => ({ ...text, metadata: text.metadata.replace('",', '" ,').replace(',"schema', '"schema') }),
    ];
    for (const [at, change] of tampered.entries()) {
      const events = chained();
      const text = change(events[1]!.text);
      expect(text).not.toEqual(events[1]!.text);
      events[1] = { ...events[1]!, text };
      expect([at, verifyChain(events)]).toMatchObject([at, { intact: false, revision: 1 }]);
    }
  });

  it('accepts metadata in no other form', () => {
    const [first, second] = chained(2);
    const changed = withText(second!, ({ data }) => ({
      data,
      metadata: JSON.stringify({ ...second!.metadata, chain: second!.chain }),
    }));
    expect(changed.metadata).toEqual(metadata);
    expect(verifyChain([first!, changed])).toMatchObject({ intact: false, revision: 1 });
  });

  it('verifies without reading anything but the text', () => {
    const [event] = chained(1);
    for (const name of ['data', 'metadata'])
      Object.defineProperty(event, name, {
        get: () => {
          throw new Error('parsed');
        },
      });
    expect(verifyChain([event!])).toMatchObject({ intact: true });
  });
});
