import { randomUUID } from 'node:crypto';
import { CHAIN_START, chainEvent } from './chain.js';
import type { NewEvent } from './event-store.js';

type Given = Partial<Pick<NewEvent, 'id' | 'type' | 'data'>> & { occurredAt?: string };

/** The first event of a stream, for the specs of stores. */
export const anEvent = ({ occurredAt = '2026-01-02T03:04:05.678Z', ...given }: Given = {}): NewEvent =>
  chainEvent(CHAIN_START, {
    id: randomUUID(),
    type: 'Happened',
    schemaVersion: 1,
    data: {},
    ...given,
    metadata: {
      tenantId: 't1',
      requestId: 'r1',
      actor: 'service:test',
      operation: 'test',
      correlationId: 'r1',
      causationId: 'r1',
      occurredAt,
      partitionKey: 't1',
    },
  });
