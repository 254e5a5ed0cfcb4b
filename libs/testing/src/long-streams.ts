import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { chainEvent, EmbeddedEventStore, type NewEvent, type RecordedEvent } from '@attestry/event-store';

/** An event for a stream: its type and data as `evolve` of its aggregate expects them. */
interface FurtherEvent {
  type: string;
  /** Default 1. */
  schemaVersion?: number;
  data: object;
}

/** Events of one append: far below 1 MiB. */
const BATCH = 500;
const uuidOf = (index: number) => `00000000-0000-7000-8000-${index.toString(16).padStart(12, '0')}`;

/** Extends a stream to this number of events, chained to the existing ones. */
const lengthen = async (
  store: EmbeddedEventStore,
  stream: string,
  length: number,
  next: (index: number) => FurtherEvent,
): Promise<void> => {
  const [last] = await store.readStream(stream, { direction: 'backwards', limit: 1 });
  if (!last) throw new Error(`${stream} does not exist`);
  let { revision, chain } = last;
  const requestId = randomUUID();
  const metadata = { ...last.metadata, requestId, correlationId: requestId, causationId: requestId };
  while (revision + 1 < length) {
    const events: NewEvent[] = [];
    for (let index = revision + 1; index < length && events.length < BATCH; index++) {
      const event = chainEvent(chain, { id: randomUUID(), schemaVersion: 1, ...next(index), metadata });
      chain = event.chain;
      events.push(event);
    }
    ({ revision } = await store.append(stream, events, revision));
  }
};

export interface ShortStreams {
  tenantId: string;
  /** A client of the tenant, beside the default one. */
  clientId: string;
  /** A session that was redeemed and has issued a credential. */
  sessionId: string;
  /** A webhook with one delivery, which has ended. */
  webhookId: string;
}

/**
 * Lengthens a tenant's streams in a data folder that no platform runs on: `tenant`, one `issuanceSession` and one
 * `webhookDelivery`. Their states stay what they were but for what grows with them: members of the tenant, credentials of the
 * session, attempts of the delivery.
 */
export const lengthenStreams = async (dataDir: string, short: ShortStreams, length: number): Promise<void> => {
  const store = await EmbeddedEventStore.openFile({ file: join(dataDir, 'events.db') });
  try {
    const { tenantId, clientId, sessionId, webhookId } = short;
    const session = `issuanceSession-${tenantId}+${sessionId}`;
    const issued = (await store.readStream(session)).find(({ type }) => type === 'CredentialIssued')!;
    const delivery = await deliveryOf(store, webhookId);
    const attempts = length - delivery.length;
    await Promise.all([
      lengthen(store, `tenant-${tenantId}`, length, (index) => tenantEvent(tenantId, clientId, index)),
      lengthen(store, session, length, () => ({
        type: issued.type,
        schemaVersion: issued.schemaVersion,
        data: { ...(issued.data as object), credentialId: randomUUID(), answerId: randomUUID() },
      })),
      // The last of three ends the delivery.
      lengthen(store, delivery[0]!.stream, length + ((3 - (attempts % 3)) % 3), deliveryEvents(delivery)),
    ]);
  } finally {
    await store.close();
  }
};

/** Time of recent events: lists keep 30 days. */
const NOW = new Date().toISOString();

/** The first further event of a tenant has a number below this one: what was added before it never was. */
const FIRST = 20;
/** Tens of events after which a member leaves: some 800 are there at a time, of at most 1,000. */
const STAY = 200;

const tenantEvent = (tenantId: string, clientId: string, index: number): FurtherEvent => {
  switch (index % 10) {
    case 0:
    case 1:
    case 2:
    case 3:
      return { type: 'MemberAdded', data: { tenantId, userId: uuidOf(index), roles: ['issuer'], addedAt: NOW } };
    case 4:
      return { type: 'TenantRenamed', data: { tenantId, name: `Name ${index}` } };
    case 5:
      return { type: 'MemberRolesChanged', data: { tenantId, userId: uuidOf(index - 5), roles: ['auditor'] } };
    default: {
      const added = index - 6 - 10 * STAY;
      if (added < FIRST) return { type: 'TenantClientRenamed', data: { tenantId, clientId, name: `Client ${index}` } };
      return { type: 'MemberRemoved', data: { tenantId, userId: uuidOf(added) } };
    }
  }
};

const deliveryOf = async (store: EmbeddedEventStore, webhookId: string): Promise<RecordedEvent[]> => {
  const { events } = await store.readAll({ categories: ['webhookDelivery'], limit: 10_000 });
  const [first] = events.filter(({ data }) => (data as { webhookId?: string }).webhookId === webhookId);
  if (!first) throw new Error(`nothing was delivered to ${webhookId}`);
  return store.readStream(first.stream);
};

/** Redelivered again and again, each time at the first attempt. */
const deliveryEvents = (stored: readonly RecordedEvent[]): ((index: number) => FurtherEvent) => {
  const { deliveryKey, webhookId, event } = stored[0]!.data as {
    deliveryKey: string;
    webhookId: string;
    event: object;
  };
  let deliveryId = '';
  return (index) => {
    switch ((index - stored.length) % 3) {
      case 0:
        deliveryId = randomUUID();
        return { type: 'DeliveryRequeued', data: { deliveryKey, webhookId, attemptAt: NOW } };
      case 1:
        return {
          type: 'DeliveryAttemptStarted',
          data: { deliveryKey, deliveryId, attempt: 1, startedAt: NOW, webhookId, event },
        };
      default:
        return { type: 'DeliverySucceeded', data: { deliveryKey, deliveryId, attempt: 1, status: 200 } };
    }
  };
};
