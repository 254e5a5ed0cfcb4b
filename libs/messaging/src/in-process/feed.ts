import { moduleBeside, SqliteThread } from '@attestry/sqlite';
import type { OnError } from '../message-bus.js';
import type { ConsumerFeed, FeedRecord, Start } from '../consumer-feed.js';
import { subjectMatcher } from './feed.jobs.js';

export interface FeedOptions {
  /** Path of the file, `feed.db`. */
  file: string;
  onError: OnError;
  /** Milliseconds since the epoch. */
  now?: () => number;
  /**
   * Messages that every known consumer acknowledged are pruned when they are older than `keepMs` (default 1 h) or when more than
   * `keepMessages` (default 1,000,000) are newer. This is also the window in which ids are deduplicated.
   */
  keepMs?: number;
  keepMessages?: number;
  /** Messages between two prunings. Default 1,000. */
  pruneEvery?: number;
  /** Newest messages cached in memory, so that consumers which keep up do not read the file. Default 4,096. */
  tailLength?: number;
}

/** Most characters of bodies cached in memory. */
const TAIL_CHARACTERS = 16 * 1024 * 1024;
/** Checkpoints are written with the next publish once they are this old, or after it on their own, milliseconds: after a crash that much is delivered again. */
const CHECKPOINT_MS = 1000;
/** A checkpoint that is this many messages behind is written on its own. */
const CHECKPOINT_LAG = 1024;

interface Held {
  name: string;
  subjects: readonly string[];
  matches: (subject: string) => boolean;
  batchSize: number;
  /** Everything up to here was delivered or is not for this consumer. */
  position: number;
  /** Last message of the current batch. */
  handed: number;
  /** Last checkpoint on the disk. */
  saved: number;
  woken: boolean;
  waiting: (() => void) | undefined;
}

/**
 * The durable feed: a SQLite file with messages and checkpoints. The tail in memory only contains committed messages; a consumer that is
 * behind it reads the file.
 */
export class Feed implements ConsumerFeed {
  private readonly held = new Map<string, Held>();
  private readonly dirty = new Map<string, number>();
  private tail: FeedRecord[] = [];
  private tailCharacters = 0;
  private sincePruned = 0;
  /** Time of the last save of the checkpoints, on the process's monotonic clock. */
  private savedAt = -CHECKPOINT_MS;
  private waking = false;
  private failure: Error | undefined;
  private readonly now: () => number;
  /** The file of an idle platform is complete, also in a backup of it. */
  private readonly whenIdle = setInterval(() => {
    if (performance.now() - this.savedAt >= CHECKPOINT_MS) this.saveCheckpointsLater();
  }, CHECKPOINT_MS).unref();

  private constructor(
    private readonly thread: SqliteThread,
    private newest: number,
    private readonly options: FeedOptions,
  ) {
    this.now = options.now ?? Date.now;
  }

  static async open(options: FeedOptions): Promise<Feed> {
    let died: (error: Error) => void = (error) => options.onError('feed', error);
    const thread = await SqliteThread.spawn({
      file: options.file,
      jobs: moduleBeside(import.meta.url, './feed.jobs'),
      onFailure: (error) => died(error),
    });
    const feed = new Feed(thread, await thread.call<number>('head'), options);
    died = (error) => feed.fail(error);
    return feed;
  }

  async publish(messages: [id: string, subject: string, body: string][]): Promise<void> {
    if (performance.now() - this.savedAt >= CHECKPOINT_MS) this.saveCheckpointsLater();
    this.published(messages, await this.thread.call<number[]>('publish', { messages, now: this.now() }));
  }

  async openConsumer(name: string, subjects: readonly string[], batchSize: number, start: Start): Promise<number> {
    if (this.held.has(name)) throw new Error(`consumer ${name} is already running`);
    const consumer: Held = {
      name,
      subjects,
      matches: subjectMatcher(subjects),
      batchSize,
      position: 0,
      handed: 0,
      saved: 0,
      woken: false,
      waiting: undefined,
    };
    this.held.set(name, consumer);
    if (start === 'listener') return (consumer.position = this.newest);
    try {
      this.saveCheckpointsLater();
      consumer.position = consumer.saved = await this.thread.call<number>('open', { name, start });
      return consumer.saved;
    } catch (error) {
      this.release(consumer);
      throw error;
    }
  }

  async next(name: string, acknowledged: number | undefined): Promise<FeedRecord[] | null> {
    const consumer = this.holding(name);
    const acknowledgedUpTo = this.acknowledge(consumer, acknowledged);
    if (acknowledgedUpTo - consumer.saved >= CHECKPOINT_LAG) await this.saveCheckpoints();
    for (;;) {
      if (this.failure) throw this.failure;
      if (consumer.woken || this.held.get(name) !== consumer) return null;
      const beforeTail = this.newest - this.tail.length;
      if (consumer.position < beforeTail) {
        const { records, scanned } = await this.thread.call<{ records: FeedRecord[]; scanned: number }>('read', {
          after: consumer.position,
          subjects: consumer.subjects,
          limit: consumer.batchSize,
        });
        if (consumer.woken) return null;
        // No message after the position: pruned, or it is the newest.
        this.advance(consumer, scanned === consumer.position ? beforeTail : scanned, records);
        if (records.length) return records;
      } else {
        const records: FeedRecord[] = [];
        let i = consumer.position - beforeTail;
        for (; i < this.tail.length && records.length < consumer.batchSize; i++) {
          const record = this.tail[i]!;
          if (consumer.matches(record[2])) records.push(record);
        }
        this.advance(consumer, Math.max(consumer.position, beforeTail + i), records);
        if (records.length) return records;
        await new Promise<void>((resolve) => (consumer.waiting = resolve));
        consumer.waiting = undefined;
      }
    }
  }

  async wake(name: string): Promise<void> {
    const consumer = this.held.get(name);
    if (!consumer) return;
    consumer.woken = true;
    consumer.waiting?.();
  }

  async leave(name: string, acknowledged: number | undefined): Promise<void> {
    const consumer = this.held.get(name);
    if (!consumer) return;
    this.acknowledge(consumer, acknowledged);
    this.release(consumer);
    await this.saveCheckpoints();
  }

  head(): Promise<number> {
    return this.thread.call('head');
  }

  async close(): Promise<void> {
    clearInterval(this.whenIdle);
    for (const consumer of this.held.values()) this.release(consumer);
    if (!this.failure) await this.saveCheckpoints();
    await this.thread.close();
  }

  private holding(name: string): Held {
    const consumer = this.held.get(name);
    if (!consumer) throw new Error(`consumer ${name} is not open`);
    return consumer;
  }

  private release(consumer: Held): void {
    if (this.held.get(consumer.name) === consumer) this.held.delete(consumer.name);
    consumer.waiting?.();
  }

  private advance(consumer: Held, position: number, records: FeedRecord[]): void {
    // Messages before the first delivered one are not for this consumer: the checkpoint may skip them.
    if (!records.length && position > consumer.position) this.dirty.set(consumer.name, position);
    consumer.position = position;
    consumer.handed = records.at(-1)?.[0] ?? consumer.handed;
  }

  private acknowledge(consumer: Held, sequence: number | undefined): number {
    if (sequence === undefined) return consumer.saved;
    const checkpoint = sequence >= consumer.handed ? Math.max(sequence, consumer.position) : sequence;
    this.dirty.set(consumer.name, checkpoint);
    return checkpoint;
  }

  private async saveCheckpoints(): Promise<void> {
    const entries = [...this.dirty];
    this.dirty.clear();
    this.savedAt = performance.now();
    try {
      // The call is made without changes to save too: those sent before are durable when it returns.
      await this.thread.call('checkpoint', entries);
      for (const [name, checkpoint] of entries) {
        const consumer = this.held.get(name);
        if (consumer) consumer.saved = Math.max(consumer.saved, checkpoint);
      }
    } catch (error) {
      for (const [name, checkpoint] of entries) this.dirty.set(name, Math.max(checkpoint, this.dirty.get(name) ?? 0));
      throw error;
    }
  }

  /** Just before another write of the same tick they share its commit. */
  private saveCheckpointsLater(): void {
    if (this.dirty.size) this.saveCheckpoints().catch((error: unknown) => this.options.onError('feed', error));
  }

  private published(messages: [string, string, string][], sequences: number[]): void {
    const { tailLength = 4096, pruneEvery = 1000, keepMs = 3_600_000, keepMessages = 1_000_000 } = this.options;
    for (let i = 0; i < messages.length; i++) {
      const sequence = sequences[i]!;
      if (!sequence) continue;
      // The tail has no gaps; should one appear, the file is read.
      if (sequence !== this.newest + 1) {
        this.tail = [];
        this.tailCharacters = 0;
      }
      this.newest = sequence;
      this.tail.push([sequence, ...messages[i]!]);
      this.tailCharacters += messages[i]![2].length;
      while (this.tail.length > tailLength || this.tailCharacters > TAIL_CHARACTERS)
        this.tailCharacters -= this.tail.shift()![3].length;
      this.sincePruned++;
    }
    if (this.sincePruned >= pruneEvery) {
      this.sincePruned = 0;
      this.thread
        .call('prune', { before: this.now() - keepMs, keep: keepMessages })
        .catch((error: unknown) => this.options.onError('feed', error));
    }
    if (this.waking) return;
    this.waking = true;
    // After all publishes of the same commit, so that a consumer gets them as one batch.
    setImmediate(() => {
      this.waking = false;
      for (const consumer of this.held.values()) consumer.waiting?.();
    });
  }

  private fail(error: Error): void {
    clearInterval(this.whenIdle);
    this.failure = error;
    this.options.onError('feed', error);
    for (const consumer of this.held.values()) consumer.waiting?.();
  }
}
