import {
  EventStore,
  type AllPage,
  type AppendResult,
  type NewEvent,
  type Position,
  type ReadAllOptions,
  type ReadStreamOptions,
  type RecordedEvent,
  type StreamName,
  type SubscribeOptions,
  type Subscription,
  type SubscriptionHandler,
} from './event-store.js';

/** A position in each store; absent: its beginning. */
type Pair = readonly [first: Position | undefined, second: Position | undefined];

const SEPARATOR = '|';
const toText = ([first = '', second]: Pair): Position =>
  second === undefined ? first : `${first}${SEPARATOR}${second}`;
const toPair = (position: Position | undefined): Pair => {
  const [first, second] = position?.split(SEPARATOR) ?? [];
  return [first || undefined, second];
};
const textOf = (pair: Pair): Position | undefined =>
  pair[0] === undefined && pair[1] === undefined ? undefined : toText(pair);

/**
 * Two stores that one projection reads: each in the order of its positions, without an order between them. A position is one of each store,
 * so `comparePositions` is negative unless both are reached. A position of the first store alone is one of the pair, too. Only read.
 */
export class JoinedEventStore extends EventStore {
  private readonly stores: readonly [EventStore, EventStore];

  constructor(first: EventStore, second: EventStore) {
    super();
    this.stores = [first, second];
  }

  append(_stream: StreamName, _events: readonly NewEvent[]): Promise<AppendResult> {
    throw new Error('joined stores are only read');
  }

  readStream(_stream: StreamName, _options?: ReadStreamOptions): Promise<RecordedEvent[]> {
    throw new Error('joined stores are only read by position');
  }

  readTenant(): Promise<AllPage> {
    throw new Error('joined stores are only read by position');
  }

  tenantStreams(): Promise<StreamName[]> {
    throw new Error('joined stores are only read by position');
  }

  async readAll({ after, categories, limit }: ReadAllOptions): Promise<AllPage> {
    let pair = toPair(after);
    const events: RecordedEvent[] = [];
    let atEnd = true;
    for (const side of [0, 1] as const) {
      if (events.length === limit) return { events, next: toText(pair), atEnd: false };
      const from = pair[side];
      const page = await this.stores[side].readAll({
        ...(from !== undefined && { after: from }),
        ...(categories && { categories }),
        limit: limit - events.length,
      });
      events.push(...this.located(page.events, pair, side));
      pair = moved(pair, side, page.next);
      atEnd &&= page.atEnd;
    }
    const next = textOf(pair);
    return { events, ...(next !== undefined && { next }), atEnd };
  }

  subscribe({ after, ...options }: SubscribeOptions, handler: SubscriptionHandler): Subscription {
    let pair = toPair(after);
    let closed = false;
    /** Batches of both stores, one at a time. */
    let turn: Promise<void> = Promise.resolve();
    const subscriptions: Subscription[] = [];
    const drop = (error: Error) => {
      if (closed) return;
      closed = true;
      for (const subscription of subscriptions) void subscription.close();
      handler.onDropped(error);
    };
    const open = (side: 0 | 1): Subscription => {
      const from = pair[side];
      const onEvents = (events: RecordedEvent[], next: Position): Promise<void> => {
        const handled = turn.then(async () => {
          if (closed) return;
          const located = this.located(events, pair, side);
          pair = moved(pair, side, next);
          await handler.onEvents(located, toText(pair));
        });
        turn = handled.then(
          () => undefined,
          () => undefined,
        );
        return handled;
      };
      return this.stores[side].subscribe(
        { ...options, ...(from !== undefined && { after: from }) },
        { onEvents, onDropped: drop },
      );
    };
    subscriptions.push(open(0), open(1));
    return {
      close: async () => {
        closed = true;
        await Promise.all(subscriptions.map((subscription) => subscription.close()));
      },
    };
  }

  async head(): Promise<Position | undefined> {
    const [first, second] = await Promise.all(this.stores.map((store) => store.head()));
    return textOf([first, second]);
  }

  comparePositions(a: Position, b: Position): number {
    const signs = this.compareSides(a, b);
    return Math.min(...signs) < 0 ? -1 : Math.max(...signs);
  }

  override isBeyond(position: Position, head: Position | undefined): boolean {
    return Math.max(...this.compareSides(position, head)) > 0;
  }

  /** They are closed by those who opened them. */
  async close(): Promise<void> {}

  private compareSides(a: Position | undefined, b: Position | undefined): number[] {
    const [ours, theirs] = [toPair(a), toPair(b)];
    return this.stores.map((store, side) => {
      const [one, other] = [ours[side], theirs[side]];
      if (one === undefined || other === undefined) return Number(one !== undefined) - Number(other !== undefined);
      return store.comparePositions(one, other);
    });
  }

  /** At their positions in both stores. */
  private located(events: readonly RecordedEvent[], pair: Pair, side: 0 | 1): RecordedEvent[] {
    return events.map((event) => ({ ...event, position: toText(moved(pair, side, event.position)) }));
  }
}

const moved = (pair: Pair, side: 0 | 1, to: Position | undefined): Pair =>
  side === 0 ? [to ?? pair[0], pair[1]] : [pair[0], to ?? pair[1]];
