import { ACCESS_CATEGORY, PLATFORM_TENANT, type OperationObject, type OperationRecord } from '@attestry/contracts';
import type { EventMetadata, RecordedEvent } from '@attestry/event-store';
import { idsOfRequest } from '../operation-stream/operation-event-id.js';
import {
  OPERATION_CATEGORY,
  type ClosingFact,
  type OperationStreamEvent,
  type RecordFact,
  type StartFact,
} from '../operation-stream/operation-stream.events.js';
import { actorOf, actorOfEvent } from './event-actors.js';

/** An operation of a tenant, listed as START and outcome; each is absent until it is known. */
export interface OperationRow {
  tenant_id: string;
  /** Id of START: the key, because it is derived from tenant and request. */
  start_id: string;
  end_id: string;
  request_id: string;
  operation: string;
  prefix: string;
  category: string;
  /** See event-actors.ts. */
  actor: string;
  object_type: string | null;
  object_id: string | null;
  started_at: string | null;
  /** Order of entries of the same time. */
  start_key: string | null;
  start_source: number;
  start_metadata: string | null;
  /** Sealed; null at logging level 1. */
  start_data: string | null;
  outcome: 'SUCCESS' | 'FAIL' | null;
  ended_at: string | null;
  end_key: string | null;
  end_source: number;
  end_metadata: string | null;
  end_data: string | null;
  /** When an outcome is due, milliseconds since the epoch; null for an operation that is recorded as a whole. */
  deadline: number | null;
  /** Time of its later entry. */
  last_at: string;
}

/** Where an entry comes from; a higher one replaces a lower one, of two equal ones the first stays. */
const SOURCE = { none: 0, message: 1, event: 2, start: 3 } as const;

/** Part of an operation that one event holds: a row with the other members empty. */
export type OperationPart = OperationRow;

const json = (value: Record<string, unknown> | undefined): string | null =>
  value === undefined ? null : JSON.stringify(value);

interface Common {
  prefix: string;
  category: string;
  object?: Partial<OperationObject> | undefined;
}

const partOf = (
  tenantId: string,
  { requestId, operation }: Pick<EventMetadata, 'requestId' | 'operation'>,
  actor: string,
  { prefix, category, object }: Common,
  known: Partial<OperationRow>,
): OperationPart => {
  const [start, end] = idsOfRequest(tenantId, requestId);
  return {
    tenant_id: tenantId,
    start_id: start,
    end_id: end,
    request_id: requestId,
    operation,
    prefix,
    category,
    actor,
    object_type: object?.id === undefined ? null : (object.type ?? null),
    object_id: object?.id ?? null,
    started_at: null,
    start_key: null,
    start_source: SOURCE.none,
    start_metadata: null,
    start_data: null,
    outcome: null,
    ended_at: null,
    end_key: null,
    end_source: SOURCE.none,
    end_metadata: null,
    end_data: null,
    deadline: null,
    last_at: known.ended_at ?? known.started_at ?? '',
    ...known,
  };
};

/** START and outcome of one record; the last digit of the key is their order. */
const recordPart = (
  record: Pick<OperationRecord, 'startedAt' | 'start' | 'requestData' | 'outcome' | 'metadata' | 'data'>,
  endedAt: string,
  source: number,
  key: string,
): Partial<OperationRow> => ({
  started_at: record.startedAt,
  start_key: `${key}0`,
  start_source: source,
  start_metadata: json(record.start),
  start_data: record.requestData ?? null,
  outcome: record.outcome,
  ended_at: endedAt,
  end_key: `${key}1`,
  end_source: source,
  end_metadata: json(record.metadata),
  end_data: record.data ?? null,
});

const revisionKey = ({ revision }: RecordedEvent): string => String(revision).padStart(10, '0');
/** Sorts as the positions of each engine do, behind the revisions of operation streams. */
const positionKey = ({ position }: RecordedEvent): string =>
  `p${position
    .split('|')
    .at(-1)!
    .replaceAll(/\d+/g, (digits) => digits.padStart(20, '0'))}`;

const begunPart = (event: RecordedEvent, { start, requestData, deadline }: StartFact): Partial<OperationRow> => ({
  started_at: event.metadata.occurredAt,
  start_key: revisionKey(event),
  start_source: SOURCE.start,
  start_metadata: JSON.stringify(start ?? {}),
  start_data: requestData ?? null,
  deadline,
});

const closedPart = (event: RecordedEvent, { metadata }: ClosingFact): Partial<OperationRow> => ({
  outcome: 'FAIL',
  ended_at: event.metadata.occurredAt,
  end_key: revisionKey(event),
  end_source: SOURCE.message,
  end_metadata: JSON.stringify(metadata),
});

/**
 * Trail of a tenant's records of access, in place of the tenant's id, which has no slash: no list of the tenant has them by mistake, and
 * they make none slower.
 */
export const accessTrailOf = (tenantId: string): string => `${tenantId}/access`;

/** Trails in which a record is listed, by the ids of their tenants. */
const trailsOf = (
  tenantId: string,
  { isManagement, category }: Pick<RecordFact, 'isManagement' | 'category'>,
): string[] => {
  if (category === ACCESS_CATEGORY) return [accessTrailOf(tenantId)];
  return isManagement && tenantId !== PLATFORM_TENANT ? [tenantId, PLATFORM_TENANT] : [tenantId];
};

/** The id of an object that the operation created is in the name of its stream: `<category>-<tenantId>+<id>`. */
const objectOf = ({ stream }: RecordedEvent, object: OperationRecord['object']): Common['object'] =>
  object && { type: object.type, id: object.id ?? stream.slice(stream.indexOf(stream.includes('+') ? '+' : '-') + 1) };

const partsOfStreamEvent = (stored: RecordedEvent): OperationPart[] => {
  const event = stored as RecordedEvent & OperationStreamEvent;
  const { metadata } = event;
  const { tenantId } = metadata;
  switch (event.type) {
    case 'OperationRecorded': {
      const { data } = event;
      const part = recordPart(data, data.endedAt, SOURCE.message, revisionKey(event));
      const about = { ...metadata, operation: data.operation };
      return trailsOf(tenantId, data).map((trail) => partOf(trail, about, actorOf(data), data, part));
    }
    case 'OperationBegun': {
      const { data } = event;
      const about = { ...metadata, operation: data.operation };
      return trailsOf(tenantId, data).map((trail) => partOf(trail, about, actorOf(data), data, begunPart(event, data)));
    }
    case 'OperationClosed': {
      const { data } = event;
      const about = { ...metadata, operation: data.operation };
      return [partOf(tenantId, about, actorOf(data), data, closedPart(event, data))];
    }
    case 'RecorderReported':
      return [];
  }
};

/** Parts of operations that an event of either store holds. Domain events hold some when they carry a record. */
export const partsOf = (event: RecordedEvent): OperationPart[] => {
  if (event.stream.startsWith(`${OPERATION_CATEGORY}-`)) return partsOfStreamEvent(event);
  const { record } = event.metadata as { record?: OperationRecord };
  if (!record) return [];
  const { tenantId, actor, occurredAt } = event.metadata;
  const part = recordPart(record, occurredAt, SOURCE.event, positionKey(event));
  const common = { ...record, object: objectOf(event, record.object) };
  return trailsOf(tenantId, record).map((trail) => partOf(trail, event.metadata, actorOfEvent(actor), common, part));
};

/**
 * The row with what another event says about the same operation, in whichever order the events of the two stores arrive: a record in an
 * event replaces one in a message, which then only completes it if both have the same outcome (ADR 0073).
 */
export const mergeParts = (row: OperationRow, part: OperationPart): OperationRow => {
  // A request has one row: of two operations the record in an event stays, otherwise the first.
  if (part.operation !== row.operation) return part.end_source > row.end_source ? part : row;
  const [startOf, startRest] = part.start_source > row.start_source ? [part, row] : [row, part];
  const [endOf, endRest] = part.end_source > row.end_source ? [part, row] : [row, part];
  const of = endOf.end_source > SOURCE.none ? endOf : startOf;
  const rest = of === row ? part : row;
  const completes = endRest.outcome === endOf.outcome;
  const [object_type, object_id] =
    of.object_id === null ? [rest.object_type, rest.object_id] : [of.object_type, of.object_id];
  return {
    ...of,
    object_type,
    object_id,
    started_at: startOf.started_at,
    start_key: startOf.start_key,
    start_source: startOf.start_source,
    start_metadata: startOf.start_metadata ?? startRest.start_metadata,
    start_data: startOf.start_data ?? startRest.start_data,
    outcome: endOf.outcome,
    ended_at: endOf.ended_at,
    end_key: endOf.end_key,
    end_source: endOf.end_source,
    end_metadata: endOf.end_metadata ?? (completes ? endRest.end_metadata : null),
    end_data: endOf.end_data ?? (completes ? endRest.end_data : null),
    deadline: row.deadline ?? part.deadline,
    last_at: row.last_at > part.last_at ? row.last_at : part.last_at,
  };
};
