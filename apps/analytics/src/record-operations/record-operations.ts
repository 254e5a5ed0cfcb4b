import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { MAX_RECORD_BYTES, PLATFORM_TENANT, type RecorderMessage } from '@attestry/contracts';
import {
  CHAIN_START,
  chainEvent,
  EventStore,
  NO_STREAM,
  type Clock,
  type EventMetadata,
  type NewEvent,
} from '@attestry/event-store';
import { MessageBus, type Consumer, type FeedMessage } from '@attestry/messaging';
import { CLOCK, LOGGER, OPERATION_EVENT_STORE, PlatformConfig, Reactions, type Logger } from '@attestry/service-kit';
import { LRUCache } from 'lru-cache';
import { operationEventId } from '../operation-stream/operation-event-id.js';
import {
  OPERATION_EVENT_TYPES,
  operationStream,
  type OperationStreamEvent,
} from '../operation-stream/operation-stream.events.js';
import { receivedMessage, type ReceivedMessage } from './received-messages.js';

/** End of a stream, as the next append needs it. */
interface Head {
  revision: number;
  chain: string;
  /** Feed sequence of the last message in the stream; '' before the first. */
  sourceSequence: string;
}

/** An event of an operation stream, before it is appended. */
export interface NewOperationEvent {
  id: string;
  event: OperationStreamEvent;
  tenantId: string;
  requestId: string;
  occurredAt: string;
  /** '' for events that analytics adds itself. */
  sourceSequence: string;
  actor: string;
  /** Length of the message, as JSON. */
  bytes?: number;
}

/** Events and bytes of an append. */
const CHUNK = 400;
const CHUNK_BYTES = MAX_RECORD_BYTES;
/** Longest wait for the last messages at shutdown. */
const LAST_MS = 1000;
/** How often it is stored that a recorder lives: its last sign bounds the gap that an unclean end leaves. */
const ALIVE_MS = 60_000;

function* chunks(group: readonly NewOperationEvent[]): Iterable<NewOperationEvent[]> {
  let chunk: NewOperationEvent[] = [];
  let bytes = 0;
  for (const event of group) {
    const isFull = chunk.length >= CHUNK || bytes + (event.bytes ?? 0) > CHUNK_BYTES;
    if (isFull && chunk.length) {
      yield chunk;
      [chunk, bytes] = [[], 0];
    }
    chunk.push(event);
    bytes += event.bytes ?? 0;
  }
  if (chunk.length) yield chunk;
}

export const isLater = (a: string, b: string): boolean => (a.length !== b.length ? a.length > b.length : a > b);

type Recorder = Pick<RecorderMessage, 'instance'> & { participant: string };
const keyOf = ({ participant, instance }: Recorder): string => `${participant} ${instance}`;

const streamOf = ({ tenantId, occurredAt }: NewOperationEvent): string => operationStream(tenantId, occurredAt);

const namedActor = ({ clientId, managementUserId }: { clientId?: string; managementUserId?: string }): string =>
  managementUserId !== undefined
    ? `user:${managementUserId}`
    : clientId === undefined
      ? 'holder'
      : `client:${clientId}`;

/**
 * The only writer of the operation streams (ADR 0073): takes records that no domain event carries from the feed, appends them in batches at
 * the expected revision, each with its feed sequence, so that a redelivery cannot double them.
 */
@Injectable()
export class RecordOperations implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly heads = new LRUCache<string, Head>({ max: 20_000 });
  /** Heads in memory may include events of a batch that failed. */
  private ranAhead = false;
  /** Batches and events of analytics itself are appended one after the other. */
  private turn: Promise<void> = Promise.resolve();
  private handled = '';
  /** Newest known sequence of the feed; '' before the first. */
  private newest = '';
  private readonly waiting = new Set<() => void>();
  private consumer: Consumer | undefined;
  /** Milliseconds since the epoch, by recorder: when its last sign was received, by the clock of this process, and when one was stored. */
  private readonly signs = new LRUCache<string, { received: number; stored: number }>({ max: 10_000 });

  constructor(
    @Inject(OPERATION_EVENT_STORE) private readonly store: EventStore,
    private readonly reactions: Reactions,
    private readonly bus: MessageBus,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'error'>,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.consumer = this.reactions.consume(
      {
        name: 'analytics.operations',
        batchSize: 1024,
        restMs: 100,
        onHeld: (acknowledged) => this.inTurn(() => this.takeOver(acknowledged)),
      },
      (messages) => this.inTurn(() => this.record(messages)),
    );
  }

  /** Before its consumer stops: the last records of the process are in the feed, and a data folder is complete without it. */
  async onModuleDestroy(): Promise<void> {
    if (this.isHeld && this.config.hasDataFolder) await this.waitFor(await this.bus.head(), LAST_MS);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.turn;
  }

  /** True while this process consumes the feed. */
  get isHeld(): boolean {
    return this.consumer?.isHeld === true;
  }

  /** When the last sign of a recorder was received by this process, milliseconds since the epoch. */
  lastSignOf(recorder: Recorder): number | undefined {
    return this.signs.get(keyOf(recorder))?.received;
  }

  /** `true` when every message up to a feed sequence is recorded, `false` after `timeoutMs`. */
  async waitFor(sequence: string | undefined, timeoutMs: number): Promise<boolean> {
    const reached = () => sequence === undefined || !isLater(sequence, this.handled);
    if (reached()) return true;
    return new Promise<boolean>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.waiting.delete(resolveIfHandled);
        resolve(reached());
      };
      const resolveIfHandled = () => {
        if (reached()) done();
      };
      const timer = setTimeout(done, timeoutMs);
      this.waiting.add(resolveIfHandled);
    });
  }

  /** Events of analytics itself. */
  append(events: readonly NewOperationEvent[]): Promise<void> {
    return this.inTurn(() => this.appendEvents(events));
  }

  private async record(messages: readonly FeedMessage[]): Promise<void> {
    const { sequence: newest } = messages.at(-1)!;
    if (isLater(newest, this.newest)) this.newest = newest;
    const events = messages.flatMap((message) => {
      const { subject, sequence } = message;
      const received = receivedMessage(message);
      if (!received) return [];
      if (received.kind !== 'malformed')
        return this.eventsOf(received, sequence).map((event) => ({ ...event, bytes: received.bytes }));
      this.logger.error({ subject, sequence, faults: received.faults }, 'malformed operation message skipped');
      return [];
    });
    await this.appendEvents(events);
    this.markHandled(newest);
  }

  private eventsOf(received: ReceivedMessage, sourceSequence: string): NewOperationEvent[] {
    switch (received.kind) {
      case 'record': {
        const { tenantId, requestId, about, ...data } = received.data;
        const event = { type: 'OperationRecorded', data } as const;
        return [ofMessage(event, about ?? tenantId, requestId, data.endedAt, sourceSequence)];
      }
      case 'started': {
        const { tenantId, requestId, about, ...data } = received.data;
        const event = { type: 'OperationBegun', data } as const;
        return [ofMessage(event, about ?? tenantId, requestId, data.startedAt, sourceSequence)];
      }
      case 'recorder':
        return this.recorderEvents(received.data, sourceSequence);
    }
  }

  private recorderEvents({ at, ...data }: RecorderMessage, sourceSequence: string): NewOperationEvent[] {
    const sent = Date.parse(at);
    const stored = this.signs.get(keyOf(data))?.stored ?? 0;
    const stores = data.state !== 'alive' || sent - stored >= ALIVE_MS;
    const received = this.clock.now().getTime();
    this.signs.set(keyOf(data), { received, stored: stores ? Math.max(sent, stored) : stored });
    if (!stores) return [];
    const event = { type: 'RecorderReported', data } as const;
    return [{ ...ofMessage(event, PLATFORM_TENANT, data.instance, at, sourceSequence), actor: 'service:analytics' }];
  }

  private async takeOver(acknowledged: string | undefined): Promise<void> {
    await this.reload();
    // The service that acknowledged it also recorded it: no query has to wait for it.
    if (acknowledged !== undefined) this.markHandled(acknowledged);
  }

  private markHandled(sequence: string): void {
    if (isLater(sequence, this.handled)) this.handled = sequence;
    for (const check of [...this.waiting]) check();
  }

  private async appendEvents(events: readonly NewOperationEvent[]): Promise<void> {
    if (this.ranAhead) await this.reload();
    try {
      const byStream = Map.groupBy(events, streamOf);
      await Promise.all(
        [...byStream].map(async ([stream, group]) => {
          const { sourceSequence: last } = await this.loadHead(stream);
          const fresh = group.filter(({ sourceSequence }) => !sourceSequence || isLater(sourceSequence, last));
          for (const chunk of chunks(fresh)) {
            const head = await this.loadHead(stream);
            const { events: chained, chain, sourceSequence } = this.chained(head, chunk);
            const { revision } = await this.store.append(stream, chained, head.revision);
            this.heads.set(stream, { revision, chain, sourceSequence });
          }
        }),
      );
    } catch (error) {
      // Heads are reloaded from the store before the next attempt; until that succeeds, attempts fail.
      this.ranAhead = true;
      throw error;
    }
  }

  private chained(head: Head, group: readonly NewOperationEvent[]) {
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

  private async reload(): Promise<void> {
    this.heads.clear();
    // Signs that were taken for stored may not be.
    for (const sign of this.signs.values()) sign.stored = 0;
    const newest = (await this.bus.head()) ?? '';
    if (isLater(newest, this.newest)) this.newest = newest;
    this.ranAhead = false;
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

const ofMessage = (
  event: OperationStreamEvent & { data: { clientId?: string; managementUserId?: string } },
  tenantId: string,
  requestId: string,
  occurredAt: string,
  sourceSequence: string,
): NewOperationEvent => ({
  id: operationEventId(tenantId, requestId, `message:${sourceSequence}`),
  event,
  tenantId,
  requestId,
  occurredAt,
  sourceSequence,
  actor: namedActor(event.data),
});
