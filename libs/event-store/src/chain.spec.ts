import { createHash } from 'node:crypto';
import { CHAIN_START, chainValue, verifyChain } from './chain.js';
import type { RecordedEvent } from './event-store.js';

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
const chained = (): RecordedEvent[] => {
  let chain = CHAIN_START;
  return [0, 1, 2].map((revision) => {
    const event = { id: `e${revision}`, type: 'Counted', schemaVersion: 1, data: { n: revision, a: 'é' }, metadata };
    chain = chainValue(chain, event);
    return { ...event, metadata: { ...metadata, chain }, stream: 'c-1', revision, position: String(revision + 1) };
  });
};

describe('chain', () => {
  it('is the base64url SHA-256 of the previous value, a full stop and the RFC 8785 form', () => {
    const event = { id: 'e', type: 'T', schemaVersion: 1, data: { b: 1e21, a: 'é\n' }, metadata };
    const form =
      '{"data":{"a":"é\\n","b":1e+21},"id":"e","metadata":{"actor":"service:test","causationId":"r1","correlationId":"r1",' +
      '"occurredAt":"2026-01-02T03:04:05.678Z","operation":"test.run","partitionKey":"t1","requestId":"r1","tenantId":"t1"},' +
      '"schemaVersion":1,"type":"T"}';
    expect(chainValue('previous', event)).toBe(createHash('sha256').update(`previous.${form}`).digest('base64url'));
  });

  it('does not depend on the chain value in the metadata, on member order or on undefined members', () => {
    const event = { id: 'e', type: 'T', schemaVersion: 1, data: { a: 1, b: 2 }, metadata };
    const same = { ...event, data: { b: 2, a: 1, c: undefined }, metadata: { ...metadata, chain: 'x' } };
    expect(chainValue('', same)).toBe(chainValue('', event));
  });

  it('verifies an intact chain, from the beginning and from a known value', () => {
    const events = chained();
    expect(verifyChain(events)).toEqual({ intact: true, chain: events[2]!.metadata.chain });
    expect(verifyChain(events.slice(1), events[0]!.metadata.chain)).toMatchObject({ intact: true });
    expect(verifyChain([])).toEqual({ intact: true, chain: CHAIN_START });
  });

  it.each<[string, (events: RecordedEvent[]) => unknown, number]>([
    ['changed data', (events) => (events[1]!.data = { n: 9, a: 'é' }), 1],
    ['changed metadata', (events) => (events[1]!.metadata.actor = 'user:mallory'), 1],
    ['a changed id', (events) => (events[2]!.id = 'x'), 2],
    ['a missing event', (events) => events.splice(1, 1), 2],
    ['a swapped order', (events) => events.reverse(), 2],
  ])('finds %s', (_, tamper, revision) => {
    const events = chained();
    tamper(events);
    expect(verifyChain(events)).toMatchObject({ intact: false, revision });
  });
});
