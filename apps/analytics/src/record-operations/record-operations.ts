import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import {
  BUS_PARTICIPANTS,
  operationSubject,
  OUTCOMES,
  OVERDUE_MARK_SUBJECT,
  REQUESTS_COMMITTED_SUBJECT,
  type BusParticipant,
  type OperationEventMessage,
  type Outcome,
  type RequestsCommitted,
} from '@attestry/contracts';
import {
  CHAIN_START,
  chainEvent,
  EventStore,
  LeasedWorker,
  NO_STREAM,
  type Clock,
  type EventMetadata,
  type Ids,
  type NewEvent,
} from '@attestry/event-store';
import { MessageBus, type FeedMessage } from '@attestry/messaging';
import {
  CLOCK,
  IDS,
  LOGGER,
  OPERATION_EVENT_STORE,
  PlatformConfig,
  Reactions,
  type Logger,
} from '@attestry/service-kit';
import { LRUCache } from 'lru-cache';
import { EventsReadModel } from '../event-lists/events.read-model.js';
import { operationEventId } from '../operation-stream/operation-event-id.js';
import { OpenOperations, type OpenOperation } from '../operation-stream/open-operations.js';
import {
  eventOf,
  OPERATION_EVENT_TYPES,
  operationStream,
  type OperationStreamEvent,
} from '../operation-stream/operation-stream.events.js';

/** End of a stream, as the next append needs it. */
interface Head {
  revision: number;
  chain: string;
  /** Feed sequence of the last message in the stream; '' before the first. */
  sourceSequence: string;
}

interface Recorded {
  stream: string;
  id: string;
  event: OperationStreamEvent;
  tenantId: string;
  requestId: string;
  occurredAt: string;
  /** '' for events that analytics adds itself. */
  sourceSequence: string;
  actor: string;
}

/** Events an append; an operation event is well below 2 KiB. */
const CHUNK = 400;
const SWEEP_MS = 1000;
/** How long after the deadline an outcome may still arrive. */
const GRACE_MS = 2000;
const DAY_MS = 86_400_000;

/** Returns through the feed; then the operations overdue by this mark are closed. */
interface OverdueMark {
  /** Deadlines before this, milliseconds since the epoch. */
  before: number;
}
/** Publisher and kind of message, by the subject. */
const EVENT_SUBJECTS: ReadonlyMap<string, { participant: BusParticipant; outcome: Outcome }> = new Map(
  BUS_PARTICIPANTS.flatMap((participant) =>
    OUTCOMES.map((outcome) => [operationSubject(outcome, participant), { participant, outcome }]),
  ),
);
/** The gateway may report every operation, a service its own. */
const isOperationEvent = (message: FeedMessage): message is FeedMessage<OperationEventMessage> => {
  const declared = EVENT_SUBJECTS.get(message.subject);
  if (!declared) return false;
  const { operation, outcome } = (message.data ?? {}) as Partial<OperationEventMessage>;
  return (
    outcome === declared.outcome &&
    (declared.participant === 'gateway' || operation?.startsWith(`${declared.participant}.`) === true)
  );
};

/** Events of one message stay in one append: its sequence then shows whether a redelivered message is stored. */
function* chunks(group: readonly Recorded[]): Iterable<Recorded[]> {
  for (let from = 0; from < group.length;) {
    let to = Math.min(from + CHUNK, group.length);
    while (
      to < group.length &&
      group[to]!.sourceSequence &&
      group[to]!.sourceSequence === group[to - 1]!.sourceSequence
    )
      to++;
    yield group.slice(from, to);
    from = to;
  }
}

const isLater = (a: string, b: string): boolean => (a.length !== b.length ? a.length > b.length : a > b);

const recorded = (data: OperationEventMessage, stream: string, sequence: string): Recorded => ({
  stream,
  id: operationEventId(data.tenantId, data.requestId, data.outcome === 'START' ? 'start' : 'outcome'),
  event: eventOf(data),
  tenantId: data.tenantId,
  requestId: data.requestId,
  occurredAt: data.timestamp,
  sourceSequence: sequence,
  actor:
    data.managementUserId !== undefined
      ? `user:${data.managementUserId}`
      : data.clientId === undefined
        ? 'holder'
        : `client:${data.clientId}`,
});

/**
 * The only writer of the operation streams (ADR 0004): takes operation events from the feed, appends them in batches
 * at the expected revision, each with its feed sequence, so that a redelivery cannot double them. Closes a START whose
 * outcome never came.
 */
@Injectable()
export class RecordOperations implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly heads = new LRUCache<string, Head>({ max: 20_000 });
  private open = new OpenOperations();
  /** State in memory may include events of a batch that failed. */
  private ranAhead = false;
  private sweeper: LeasedWorker | undefined;
  private lastDiscard = 0;
  private stopping = false;
  /** Batches and sweeps run one at a time. */
  private turn: Promise<void> = Promise.resolve();
  private handled = '';
  /** Newest known sequence of the feed; '' before the first. */
  private newest = '';
  private readonly waiting = new Set<() => void>();

  constructor(
    @Inject(OPERATION_EVENT_STORE) private readonly store: EventStore,
    private readonly readModel: EventsReadModel,
    private readonly reactions: Reactions,
    private readonly bus: MessageBus,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const writer = this.reactions.consume(
      {
        name: 'analytics.operations',
        batchSize: 1024,
        restMs: 100,
        onHeld: (acknowledged) => this.inTurn(() => this.takeOver(acknowledged)),
      },
      (messages) => this.inTurn(() => this.record(messages)),
    );
    this.sweeper = new LeasedWorker({
      name: 'analytics.sweep',
      batch: async () => {
        // Open operations are kept in the memory of the process that consumes the feed.
        if (writer.isHeld) await this.inTurn(() => this.closeOverdue());
        return SWEEP_MS;
      },
      onError: ({ message: error }) => this.logger.error({ error }, 'closing overdue operations failed'),
    }).start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    await this.sweeper?.stop();
    await this.turn;
  }

  /** Resolves when every message up to a feed sequence is recorded, or after `timeoutMs`. */
  async waitFor(sequence: string | undefined, timeoutMs: number): Promise<void> {
    if (sequence === undefined || !isLater(sequence, this.handled)) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.waiting.delete(resolveIfHandled);
        resolve();
      };
      const resolveIfHandled = () => {
        if (!isLater(sequence, this.handled)) done();
      };
      const timer = setTimeout(done, timeoutMs);
      this.waiting.add(resolveIfHandled);
    });
  }

  private async record(messages: readonly FeedMessage[]): Promise<void> {
    const { sequence: newest } = messages.at(-1)!;
    if (isLater(newest, this.newest)) this.newest = newest;
    const records: Recorded[] = [];
    let committed: RequestsCommitted['requests'][number][] = [];
    const now = this.clock.now().toISOString();
    const recordCommitted = () => {
      for (const request of committed) {
        const operation = this.open.commit(request);
        if (operation)
          records.push(
            this.own(operation, { type: 'OperationCommitted', data: { operation: operation.operation } }, now),
          );
      }
      committed = [];
    };
    if (this.ranAhead) await this.recover();
    try {
      await this.loadHeads(messages);
      for (const message of messages) {
        if (message.subject === REQUESTS_COMMITTED_SUBJECT) {
          committed.push(...(message.data as RequestsCommitted).requests);
          continue;
        }
        if (message.subject === OVERDUE_MARK_SUBJECT) {
          recordCommitted();
          for (const operation of this.open.overdue((message.data as OverdueMark).before)) {
            records.push(this.closing(operation, now));
            this.open.close(operation);
          }
          continue;
        }
        if (!isOperationEvent(message)) continue;
        const data = message.data;
        records.push(...this.copies(data, message.sequence));
        const stream = operationStream(data.tenantId, data.timestamp);
        if (!isLater(message.sequence, this.heads.get(stream)!.sourceSequence)) continue;
        if (!this.open.accept(data)) continue;
        records.push(recorded(data, stream, message.sequence));
      }
      // After the outcomes of this batch: most committed requests are closed by then and need no event.
      recordCommitted();
      await this.appendRecords(records);
    } catch (error) {
      // Heads and open operations are reloaded from the store before the next attempt; until that succeeds, attempts fail.
      this.ranAhead = true;
      throw error;
    }
    this.markHandled(messages.at(-1)!.sequence);
  }

  private async takeOver(acknowledged: string | undefined): Promise<void> {
    await this.recover();
    // The service that acknowledged it also recorded it: no query has to wait for it.
    if (acknowledged !== undefined) this.markHandled(acknowledged);
  }

  private markHandled(sequence: string): void {
    if (isLater(sequence, this.handled)) this.handled = sequence;
    for (const check of [...this.waiting]) check();
  }

  /**
   * Overdue operations are closed when a mark returns through the feed: every outcome published before it has been recorded by then, also
   * after a long stop.
   */
  private async closeOverdue(): Promise<void> {
    if (this.ranAhead) return;
    const now = this.clock.now();
    const before = now.getTime() - GRACE_MS;
    if (this.open.overdue(before).length) {
      const mark: OverdueMark = { before };
      await this.bus.publish([{ id: this.ids.uuid(), subject: OVERDUE_MARK_SUBJECT, data: mark }]);
    }
    if (now.getTime() - this.lastDiscard > DAY_MS / 24) {
      this.lastDiscard = now.getTime();
      await this.readModel.discardBefore(
        new Date(now.getTime() - this.config.operationEventsDays * DAY_MS).toISOString(),
      );
    }
  }

  /** A management call about a tenant is listed in the platform's events and, once it succeeded, in the tenant's own. */
  private copies(data: OperationEventMessage, sequence: string): Recorded[] {
    if (!data.about) return [];
    const { tenantId, startedAt } = data.about;
    const stream = operationStream(tenantId, data.timestamp);
    if (!isLater(sequence, this.heads.get(stream)!.sourceSequence)) return [];
    const outcome: OperationEventMessage = { ...data, tenantId };
    const { data: _answer, ...rest } = outcome;
    const start: OperationEventMessage = { ...rest, outcome: 'START', timestamp: startedAt, metadata: {} };
    return [recorded(start, stream, sequence), recorded(outcome, stream, sequence)];
  }

  /** The outcome of an operation that reported none. */
  private closing(operation: OpenOperation, at: string): Recorded {
    const { prefix, category, clientId, managementUserId, committed } = operation;
    const fact = {
      prefix,
      category,
      operation: operation.operation,
      metadata: committed
        ? { closedBy: 'analytics' }
        : {
            closedBy: 'analytics',
            error: { status: 503, code: 'ServiceUnavailable', message: 'No outcome before the deadline' },
          },
      ...(clientId !== undefined && { clientId }),
      ...(managementUserId !== undefined && { managementUserId }),
    };
    return this.own(
      operation,
      committed ? { type: 'OperationSucceeded', data: fact } : { type: 'OperationFailed', data: fact },
      at,
    );
  }

  private own(operation: OpenOperation, event: OperationStreamEvent, occurredAt: string): Recorded {
    return {
      stream: operationStream(operation.tenantId, occurredAt),
      id:
        event.type === 'OperationCommitted'
          ? this.ids.uuid()
          : operationEventId(operation.tenantId, operation.requestId, 'outcome'),
      event,
      tenantId: operation.tenantId,
      requestId: operation.requestId,
      occurredAt,
      sourceSequence: '',
      actor: 'service:analytics',
    };
  }

  private async appendRecords(records: readonly Recorded[]): Promise<void> {
    const byStream = Map.groupBy(records, ({ stream }) => stream);
    await Promise.all(
      [...byStream].map(async ([stream, group]) => {
        for (const chunk of chunks(group)) {
          const head = await this.loadHead(stream);
          const { events, chain, sourceSequence } = this.chained(head, chunk);
          const { revision } = await this.store.append(stream, events, head.revision);
          this.heads.set(stream, { revision, chain, sourceSequence });
        }
      }),
    );
  }

  private chained(head: Head, group: readonly Recorded[]) {
    let { chain, sourceSequence } = head;
    const events = group.map((record): NewEvent => {
      if (record.sourceSequence) sourceSequence = record.sourceSequence;
      const metadata: EventMetadata = {
        tenantId: record.tenantId,
        requestId: record.requestId,
        actor: record.actor,
        operation: 'analytics.record-operations',
        correlationId: record.requestId,
        causationId: record.requestId,
        occurredAt: record.occurredAt,
        partitionKey: record.tenantId,
        sourceSequence,
      };
      const event = chainEvent(chain, {
        id: record.id,
        type: record.event.type,
        schemaVersion: OPERATION_EVENT_TYPES[record.event.type],
        data: record.event.data,
        metadata,
      });
      chain = event.chain;
      return event;
    });
    return { events, chain, sourceSequence };
  }

  private async loadHeads(messages: readonly FeedMessage[]): Promise<void> {
    const streams = new Set<string>();
    for (const message of messages)
      if (isOperationEvent(message)) {
        const { tenantId, timestamp, about } = message.data;
        streams.add(operationStream(tenantId, timestamp));
        if (about) streams.add(operationStream(about.tenantId, timestamp));
      }
    await Promise.all([...streams].map((stream) => this.loadHead(stream)));
  }

  private async loadHead(stream: string): Promise<Head> {
    const known = this.heads.get(stream);
    if (known) return known;
    const [last] = await this.store.readStream(stream, { direction: 'backwards', limit: 1 });
    const head: Head = last
      ? {
          revision: last.revision,
          chain: last.chain,
          sourceSequence: this.ofThisFeed(last.metadata.sourceSequence ?? ''),
        }
      : { revision: NO_STREAM, chain: CHAIN_START, sourceSequence: '' };
    this.heads.set(stream, head);
    return head;
  }

  /** Migrated or restored history has sequences of another feed: no message of this feed is in the stream yet. */
  private ofThisFeed(sequence: string): string {
    return isLater(sequence, this.newest) ? '' : sequence;
  }

  private async recover(): Promise<void> {
    this.heads.clear();
    const newest = (await this.bus.head()) ?? '';
    if (isLater(newest, this.newest)) this.newest = newest;
    // Open operations are known only when the rows are up to date with the streams.
    while (!(await this.readModel.running.waitForHead(5000))) {
      this.logger.warn('analytics projection behind');
      if (this.stopping) throw new Error('stopped before the open operations were known');
    }
    this.open = new OpenOperations(await this.restore());
    this.ranAhead = false;
  }

  private async restore(): Promise<OpenOperation[]> {
    const rows = await this.readModel.db.selectFrom('open_operations').selectAll().execute();
    return rows.map((row) => ({
      tenantId: row.tenant_id,
      requestId: row.request_id,
      prefix: row.prefix,
      category: row.category,
      operation: row.operation,
      deadline: Number(row.deadline),
      committed: row.committed === 1,
      ...(row.client_id !== null && { clientId: row.client_id }),
      ...(row.management_user_id !== null && { managementUserId: row.management_user_id }),
    }));
  }

  private inTurn(work: () => Promise<void>): Promise<void> {
    const mine = this.turn.then(work);
    this.turn = mine.then(
      () => undefined,
      () => undefined,
    );
    return mine;
  }
}
