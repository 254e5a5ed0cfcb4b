import {
  EventLog,
  type AllPage,
  type Position,
  type ReadAllOptions,
  type RecordedEvent,
  type SubscribeOptions,
  type Subscription,
  type SubscriptionHandler,
} from './event-store.js';

/** A position in each log; absent: its beginning. */
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
 * Two logs that one projection reads: each in the order of its positions, without an order between them. A position is one of each,
 * so `comparePositions` is negative unless both are reached. A position of the first alone is one of the pair, too.
 */
export class JoinedEventLog extends EventLog {
  private readonly logs: readonly [EventLog, EventLog];

  constructor(first: EventLog, second: EventLog) {
    super();
    this.logs = [first, second];
  }

  async readAll({ after, categories, limit }: ReadAllOptions): Promise<AllPage> {
    let pair = toPair(after);
    const events: RecordedEvent[] = [];
    let atEnd = true;
    for (const side of [0, 1] as const) {
      if (events.length === limit) return { events, next: toText(pair), atEnd: false };
      const from = pair[side];
      const page = await this.logs[side].readAll({
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
    /** Batches of both, one at a time. */
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
      return this.logs[side].subscribe(
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
    const [first, second] = await Promise.all(this.logs.map((log) => log.head()));
    return textOf([first, second]);
  }

  comparePositions(a: Position, b: Position): number {
    const signs = this.compareSides(a, b);
    return Math.min(...signs) < 0 ? -1 : Math.max(...signs);
  }

  override isBeyond(position: Position, head: Position | undefined): boolean {
    return Math.max(...this.compareSides(position, head)) > 0;
  }

  private compareSides(a: Position | undefined, b: Position | undefined): number[] {
    const [ours, theirs] = [toPair(a), toPair(b)];
    return this.logs.map((log, side) => {
      const [one, other] = [ours[side], theirs[side]];
      if (one === undefined || other === undefined) return Number(one !== undefined) - Number(other !== undefined);
      return log.comparePositions(one, other);
    });
  }

  /** At their positions in both. */
  private located(events: readonly RecordedEvent[], pair: Pair, side: 0 | 1): RecordedEvent[] {
    return events.map((event) => ({ ...event, position: toText(moved(pair, side, event.position)) }));
  }
}

const moved = (pair: Pair, side: 0 | 1, to: Position | undefined): Pair =>
  side === 0 ? [to ?? pair[0], pair[1]] : [pair[0], to ?? pair[1]];
