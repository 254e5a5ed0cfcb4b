import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import canonicalize from 'canonicalize';

/** An event as it is stored. */
export interface StoredEvent {
  stream: string;
  revision: number;
  id: string;
  type: string;
  data: Record<string, unknown>;
  metadata: { tenantId: string; requestId: string; chain: string; record?: object };
}

interface Row {
  stream: string;
  revision: number;
  id: string;
  type: string;
  schema_version: number;
  data: string;
  metadata: string;
}

const withFile = <T>(file: string, look: (db: DatabaseSync) => T): T => {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return look(db);
  } finally {
    db.close();
  }
};

/**
 * All events of a store, each checked on the way without the platform's own code: revisions without a gap, ids that occur
 * once, and the chain of each stream (SHA-256 over the previous value and the RFC 8785 form of the event).
 */
export const readEvents = (folder: string, name: string, faults: string[]): StoredEvent[] =>
  withFile(join(folder, name), (db) => {
    const heads = new Map<string, { revision: number; chain: string }>();
    const ids = new Set<string>();
    const events: StoredEvent[] = [];
    const rows = db.prepare('SELECT * FROM events ORDER BY position').iterate() as Iterable<unknown>;
    for (const one of rows) {
      const { stream, revision, id, type, schema_version: schemaVersion, ...texts } = one as Row;
      const data = JSON.parse(texts.data) as StoredEvent['data'];
      const stored = JSON.parse(texts.metadata) as StoredEvent['metadata'];
      const { chain, ...metadata } = stored;
      const head = heads.get(stream) ?? { revision: -1, chain: '' };
      if (revision !== head.revision + 1) faults.push(`${stream} goes from revision ${head.revision} to ${revision}`);
      const form = canonicalize({ id, type, schemaVersion, data, metadata });
      const expected = createHash('sha256').update(`${head.chain}.${form}`).digest('base64url');
      if (chain !== expected) faults.push(`the chain of ${stream} is broken at revision ${revision}`);
      if (ids.has(id)) faults.push(`event ${id} of ${stream} is stored twice`);
      ids.add(id);
      heads.set(stream, { revision, chain });
      events.push({ stream, revision, id, type, data, metadata: stored });
    }
    return events;
  });

/** Rows of all projected tables, by the table's name without its version, in a defined order. */
export const readProjections = (folder: string): Map<string, string[]> =>
  new Map(
    ['read-models.db', 'analytics.db'].flatMap((name) =>
      withFile(join(folder, name), (db) => {
        const tables = db
          .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB '*_v[0-9]*' ORDER BY name")
          .all() as { name: string }[];
        return tables.map(({ name: table }): [string, string[]] => [
          table.replace(/_v\d+(_g\d+)?$/, ''),
          db
            .prepare(`SELECT * FROM "${table}"`)
            .all()
            .map((row) => JSON.stringify(row))
            .sort(),
        ]);
      }),
    ),
  );

/** Records of both stores by tenant and request: at most one of each kind for a call, and an outcome for every START. */
export const checkOperations = (
  domain: readonly StoredEvent[],
  operations: readonly StoredEvent[],
  faults: string[],
): Map<string, StoredEvent[]> => {
  const records = [
    ...domain.filter(({ metadata }) => metadata.record),
    ...operations.filter(({ type }) => type !== 'RecorderReported'),
  ];
  const calls = Map.groupBy(records, ({ metadata }) => `${metadata.tenantId} ${metadata.requestId}`);
  for (const [call, own] of calls) {
    const kinds = own.map(({ type, metadata }) => (metadata.record ? 'event' : type));
    const isEnded = kinds.some((kind) => kind !== 'OperationBegun');
    if (new Set(kinds).size !== kinds.length || !isEnded) faults.push(`call ${call} left ${kinds.join()}`);
  }
  return calls;
};

/** Rows of the trails: a management call about a tenant has one in the tenant's and one in the platform's. */
export const trailRows = (calls: ReadonlyMap<string, readonly StoredEvent[]>): Set<string> => {
  const rows = new Set<string>();
  for (const [call, own] of calls) {
    rows.add(call);
    const [tenantId, requestId] = call.split(' ');
    const isManagement = own.some(({ data, metadata }) => 'isManagement' in (metadata.record ?? data));
    if (isManagement && tenantId !== 'platform') rows.add(`platform ${requestId}`);
  }
  return rows;
};

/** Checks that single events did not occur twice. */
export const checkDomain = (events: readonly StoredEvent[], faults: string[]): void => {
  const once = /^(UserCreated|UserDeleted|OfferCreated|PreAuthorizedCodeRedeemed|OfferDeleted|DeliveryScheduled)$/;
  const ends = /^Delivery(Succeeded|Exhausted|Cancelled)$/;
  for (const [stream, own] of Map.groupBy(events, (event) => event.stream)) {
    const types = own.map(({ type }) => type).filter((type) => once.test(type));
    if (new Set(types).size !== types.length) faults.push(`${stream} has ${types.join()}`);
    if (!stream.startsWith('webhookDelivery-')) continue;
    const ended = own.filter(({ type }) => ends.test(type));
    if (ended.length !== 1 || ended[0] !== own.at(-1))
      faults.push(`${stream} ends with ${own.map(({ type }) => type).join()}`);
  }
};

/** Ids of the webhook attempts in the store: a first one may be in the event that scheduled it. */
export const attemptIds = (events: readonly StoredEvent[]): Set<unknown> =>
  new Set(
    events
      .filter(({ type }) => type === 'DeliveryScheduled' || type === 'DeliveryAttemptStarted')
      .flatMap(({ data }) => data['deliveryId'] ?? []),
  );

/** Why the attempts to deliver an event failed. @param event its type and its id, with a space between */
export const deliveryErrors = (events: readonly StoredEvent[], event: string): unknown[] => {
  const scheduled = events.filter(({ type, data }) => {
    const of = data['event'] as { type: string; id: string } | undefined;
    return type === 'DeliveryScheduled' && `${of!.type} ${of!.id}` === event;
  });
  const streams = new Set(scheduled.map(({ stream }) => stream));
  return events
    .filter(({ type, stream }) => type === 'DeliveryAttemptFailed' && streams.has(stream))
    .map(({ data }) => data['error'] ?? data['status']);
};
