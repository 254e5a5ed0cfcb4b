import type { EventLog, Position } from '@attestry/event-store';
import type { LeaseStates } from './lease-states.js';
import type { Instruments } from './instruments.js';

/** A consumer of an event store, under a lease with its name. */
export interface Follower {
  kind: 'projection' | 'reaction';
  name: string;
  store: EventLog;
  categories?: readonly string[];
  /** Everything up to here is handled. */
  position(): Position | undefined;
}

interface Behind {
  seconds: number;
  /** Absent where positions are not numbers. */
  positions?: number;
}

const DECIMAL = /^\d+$/;

/**
 * Lag of the consumers, computed at a scrape, at no cost for them. A standby reports nothing, as only the holder's position counts.
 */
export class Lag {
  private readonly followers: Follower[] = [];

  constructor(
    private readonly metrics: Instruments,
    private readonly leases: LeaseStates,
    private readonly now: () => number = Date.now,
  ) {
    metrics.onScrape(() => this.sample());
  }

  follow(follower: Follower): void {
    this.followers.push(follower);
  }

  private async sample(): Promise<void> {
    const heads = new Map<EventLog, Promise<Position | undefined>>();
    const headOf = (store: EventLog) => {
      const known = heads.get(store) ?? store.head();
      heads.set(store, known);
      return known;
    };
    const leading = this.followers.filter(({ name }) => this.leases.isLeading(name));
    const found = await Promise.all(
      leading.map(async (follower) => ({
        follower,
        behind: await this.behind(follower, await headOf(follower.store)),
      })),
    );
    const seconds = this.metrics.gauge('lagSeconds');
    const positions = this.metrics.gauge('lagPositions');
    // At once, so that a concurrent scrape never reads incomplete gauges.
    seconds.reset();
    positions.reset();
    for (const { follower, behind } of found) {
      const labels = { kind: follower.kind, name: follower.name };
      seconds.set(labels, behind.seconds);
      if (behind.positions !== undefined) positions.set(labels, behind.positions);
    }
  }

  private async behind({ store, categories, position }: Follower, head: Position | undefined): Promise<Behind> {
    const at = position();
    const numbers = (head === undefined || DECIMAL.test(head)) && (at === undefined || DECIMAL.test(at));
    const none: Behind = { seconds: 0, ...(numbers && { positions: 0 }) };
    if (head === undefined || (at !== undefined && store.comparePositions(at, head) >= 0)) return none;
    const { events } = await store.readAll({
      ...(at !== undefined && { after: at }),
      ...(categories && { categories }),
      limit: 1,
    });
    const [oldest] = events;
    if (!oldest) return none;
    return {
      seconds: Math.max(0, (this.now() - Date.parse(oldest.metadata.occurredAt)) / 1000),
      ...(numbers && { positions: Number(head) - Number(at ?? 0) }),
    };
  }
}
