import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { EventMetadata, NewEvent, RecordedEvent } from './event-store.js';

export type UnchainedEvent = Omit<NewEvent, 'metadata'> & { metadata: Omit<EventMetadata, 'chain'> };

/** Chain value before the first event of a stream. */
export const CHAIN_START = '';

/**
 * The chain value of an event: base64url SHA-256 over `previous`, a full stop and the RFC 8785 form of
 * @throws Error when the event contains values that I-JSON cannot represent (NaN, a lone surrogate, a cycle)
 * @throws Error when the event holds what I-JSON cannot (NaN, a lone surrogate, a cycle)
 */
export function chainValue(previous: string, event: UnchainedEvent): string {
  const { id, type, schemaVersion, data } = event;
  const { chain: _, ...metadata } = event.metadata as EventMetadata;
  return hash('sha256', `${previous}.${canonicalize({ id, type, schemaVersion, data, metadata })}`, 'base64url');
}

export type ChainCheck =
  { intact: true; chain: string } | { intact: false; revision: number; expected: string; found: string };

/**
 * Verifies the events of one stream as they are stored (not upcast), in order. A gap between revisions breaks the chain as a changed event
 * does. A truncated end is detected only with a chain value stored elsewhere.
 *
 * @param start chain value before the first event given, when it is not the first of its stream
 */
export function verifyChain(
  events: readonly Pick<RecordedEvent, keyof NewEvent | 'revision'>[],
  start: string = CHAIN_START,
): ChainCheck {
  let chain = start;
  for (const event of events) {
    const expected = chainValue(chain, event);
    if (event.metadata.chain !== expected)
      return { intact: false, revision: event.revision, expected, found: event.metadata.chain };
    chain = expected;
  }
  return { intact: true, chain };
}
