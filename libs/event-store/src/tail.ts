import type { AllPage, NewEvent, RecordedEvent, Revision, StreamName } from './event-store.js';

interface Remembered {
  position: number;
  category: string;
  /** Characters. */
  size: number;
  event: RecordedEvent;
}

/** Most cached events; a subscriber further behind reads the file. */
const LENGTH = 2048;
/** Surplus before the front is cut off, so that cutting is rare. */
const SLACK = 512;
/** Most characters of cached events. */
const MOST_CHARACTERS = 32 * 1024 * 1024;

/**
 * The newest events of a store, as this process appended them and in the order of their positions: subscribers that keep up are served from
 * here and read nothing. An event is added only after its commit. Another writer's events leave a gap, and events before a gap are dropped.
 */
export class Tail {
  private items: Remembered[] = [];
  /** Characters of all items. */
  private size = 0;

  add(stream: StreamName, category: string, first: number, revision: Revision, events: readonly NewEvent[]): void {
    const last = this.items.at(-1);
    // Results of one group commit arrive in the order of their positions.
    if (last && last.position + 1 !== first) this.clear();
    for (const event of events) {
      const size = event.text.data.length + event.text.metadata.length;
      this.size += size;
      this.items.push({
        position: first,
        category,
        size,
        event: { ...event, stream, revision: revision++, position: String(first++) },
      });
    }
    if (this.items.length > LENGTH + SLACK) this.drop(this.items.length - LENGTH);
    if (this.size > MOST_CHARACTERS) this.shrink();
  }

  /** Position of the newest event; 0 without one. */
  get newest(): number {
    return this.items.at(-1)?.position ?? 0;
  }

  /** Drops all: events were discarded. */
  clear(): void {
    this.items = [];
    this.size = 0;
  }

  /** To half, so that it is rare; at least the newest event stays. */
  private shrink(): void {
    let [count, size] = [0, this.size];
    while (size > MOST_CHARACTERS / 2 && count < this.items.length - 1) size -= this.items[count++]!.size;
    this.drop(count);
  }

  private drop(count: number): void {
    for (const { size } of this.items.splice(0, count)) this.size -= size;
  }

  /** A page as the file would return it; `undefined` when the file must be read. */
  read(after: number, limit: number, categories: readonly string[] | undefined): AllPage | undefined {
    const first = this.items[0];
    if (!first || after < first.position - 1) return undefined;
    const newest = this.items.at(-1)!.position;
    if (after > newest) return undefined;
    const events: RecordedEvent[] = [];
    for (let i = after - first.position + 1; i < this.items.length; i++) {
      const item = this.items[i]!;
      if (categories && !categories.includes(item.category)) continue;
      events.push(item.event);
      if (events.length === limit) return { events, next: String(item.position), atEnd: item.position === newest };
    }
    return { events, next: String(newest), atEnd: true };
  }
}
