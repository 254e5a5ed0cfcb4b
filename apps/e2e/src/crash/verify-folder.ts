import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** An event as it is stored. */
export interface StoredEvent {
  stream: string;
  revision: number;
  id: string;
  type: string;
  data: Record<string, unknown>;
  metadata: { tenantId: string; requestId: string; record?: { isManagement?: true; category?: string } };
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
 * once, and the chain of each stream (SHA-256 over the previous value and the stored text of the event).
 */
export const readEvents = (folder: string, name: string, faults: string[]): StoredEvent[] =>
  withFile(join(folder, name), (db) => {
    const heads = new Map<string, { revision: number; chain: string }>();
    const ids = new Set<string>();
    const events: StoredEvent[] = [];
    const rows = db.prepare('SELECT * FROM events ORDER BY position').iterate() as Iterable<unknown>;
    for (const one of rows) {
      const { stream, revision, id, type, schema_version: version, ...texts } = one as Row;
      const data = JSON.parse(texts.data) as StoredEvent['data'];
      const metadata = JSON.parse(texts.metadata) as StoredEvent['metadata'];
      const head = heads.get(stream) ?? { revision: -1, chain: '' };
      if (revision !== head.revision + 1) faults.push(`${stream} goes from revision ${head.revision} to ${revision}`);
      const hashed = ['2', head.chain, id, type, version, texts.data, texts.metadata.slice(55)].join('\n');
      const chain = createHash('sha256').update(hashed).digest('base64url');
      if (!texts.metadata.startsWith(`{"chain":"${chain}",`))
        faults.push(`the chain of ${stream} is broken at revision ${revision}`);
      if (ids.has(id)) faults.push(`event ${id} of ${stream} is stored twice`);
      ids.add(id);
      heads.set(stream, { revision, chain: texts.metadata.slice(10, 53) });
      events.push({ stream, revision, id, type, data, metadata });
    }
    return events;
  });

/** Users whose key is destroyed. */
export const usersWithoutKey = (folder: string): Set<string> =>
  withFile(join(folder, 'events.db'), (db) => {
    const rows = db.prepare("SELECT id FROM data_keys WHERE purpose = 'user' AND live = 0").all() as { id: string }[];
    return new Set(rows.map(({ id }) => id));
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

/** Trails of a record: that of its tenant, or of access to it, and, of a management call, that of the platform. */
const callsOf = ({ type, data, metadata }: StoredEvent): string[] => {
  const record = /^Operation(Recorded|Begun)$/.test(type) ? data : metadata.record;
  if (!record) return [];
  if (record['category'] === 'access') return [`${metadata.tenantId}/access ${metadata.requestId}`];
  const trails = new Set([metadata.tenantId, ...(record['isManagement'] ? ['platform'] : [])]);
  return [...trails].map((tenantId) => `${tenantId} ${metadata.requestId}`);
};

/** START and outcome of every call that is recorded in the events of either store, and of no other; an event holds a record once. */
export const checkOperations = (
  rows: readonly string[],
  domain: readonly StoredEvent[],
  operations: readonly StoredEvent[],
  faults: string[],
): void => {
  const listed = rows.map((row) => JSON.parse(row) as Record<string, unknown>);
  const callOf = (row: Record<string, unknown>) => `${String(row['tenant_id'])} ${String(row['request_id'])}`;
  for (const row of listed)
    if (!row['started_at'] || !row['ended_at'] || !row['outcome']) faults.push(`call ${callOf(row)} is open`);
  const calls = listed.map(callOf);
  const held = domain.flatMap(callsOf);
  const recorded = new Set([...held, ...operations.flatMap(callsOf)]);
  if (new Set(calls).size !== calls.length) faults.push('a call has two rows');
  if (new Set(held).size !== held.length) faults.push('a record is in two events');
  for (const call of calls) if (!recorded.delete(call)) faults.push(`call ${call} has no record`);
  for (const call of recorded) faults.push(`call ${call} has no row`);
};

/** Checks that single events did not occur twice. */
export const checkDomain = (events: readonly StoredEvent[], faults: string[]): void => {
  const once =
    /^(UserCreated|UserDeleted|UserExpired|CredentialRecorded|PreAuthorizedOfferCreated|PreAuthorizedCodeRedeemed|PreAuthorizedOfferDeleted|DeliveryScheduled)$/;
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
