/** A record of the stand-in for EventStoreDB. */
export interface StoredRecord {
  /** Commit and prepare position: what the server calls them lies at one place for every append of today. */
  position: number;
  id: string;
  stream: string;
  revision: number;
  type: string;
  contentType: string;
  data: Uint8Array;
  metadata: Uint8Array;
  /** Milliseconds since the epoch. */
  created: number;
}

export type ProposedRecord = Pick<StoredRecord, 'id' | 'type' | 'contentType' | 'data' | 'metadata'>;
export type Expected = 'any' | 'stream exists' | number;
export type Appended =
  { revision: number; position: number } | { wrong: number } | { tooLarge: typeof MOST_APPENDED_BYTES };

export const NO_STREAM = -1;
/** EventStoreDB's default for MaxAppendSize. */
export const MOST_APPENDED_BYTES = 1024 * 1024;

const sizeOf = ({ type, data, metadata }: ProposedRecord) => 2 * type.length + data.length + metadata.length;

/** The log of the stand-in for EventStoreDB, with the server's rules for appending, in memory. */
export class EventStoreDbLog {
  /** In the order of their positions. */
  records: StoredRecord[] = [];
  private readonly streams = new Map<string, StoredRecord[]>();
  private readonly followers = new Set<(record: StoredRecord) => void>();
  private readonly scavenged = new Set<StoredRecord>();
  private end = 64;

  append(stream: string, expected: Expected, proposed: readonly ProposedRecord[]): Appended {
    if (proposed.reduce((sum, record) => sum + sizeOf(record), 0) > MOST_APPENDED_BYTES)
      return { tooLarge: MOST_APPENDED_BYTES };
    const stored = this.streams.get(stream) ?? [];
    const current = stored.length - 1;
    const first = typeof expected === 'number' ? expected + 1 : stored.findIndex(({ id }) => id === proposed[0]?.id);
    // Repeated: exactly these ids follow there.
    if (first >= 0 && first <= current) {
      const last = stored[first + proposed.length - 1];
      const same = proposed.every(({ id }, index) => stored[first + index]?.id === id);
      return same && last ? { revision: last.revision, position: last.position } : { wrong: current };
    }
    if (typeof expected === 'number' ? expected !== current : expected === 'stream exists' && current === NO_STREAM)
      return { wrong: current };
    for (const record of proposed) this.add(stream, stored, record);
    this.streams.set(stream, stored);
    return { revision: stored.length - 1, position: stored.at(-1)!.position };
  }

  /** Undefined for a stream that does not exist. Without what is older than the stream's `$maxAge`. */
  stream(name: string): StoredRecord[] | undefined {
    const stored = this.streams.get(name);
    const settings = this.streams.get(`$$${name}`)?.at(-1);
    const { $maxAge = Infinity } = settings
      ? (JSON.parse(Buffer.from(settings.data).toString()) as { $maxAge?: number })
      : {};
    const oldest = Date.now() - 1000 * $maxAge;
    return stored?.filter((record) => record.created > oldest && !this.scavenged.has(record));
  }

  /** Index of the first record at a position or behind it. */
  indexAt(position: number): number {
    let [low, high] = [0, this.records.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.records[middle]!.position < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Removes records as a scavenge would; revisions and positions go on as if they were there. */
  scavenge(unwanted: (record: StoredRecord) => boolean): void {
    for (const record of this.records) if (unwanted(record)) this.scavenged.add(record);
    this.records = this.records.filter((record) => !this.scavenged.has(record));
  }

  /** Calls the listener with every further record. Returns a function that ends it. */
  follow(follower: (record: StoredRecord) => void): () => void {
    this.followers.add(follower);
    return () => void this.followers.delete(follower);
  }

  private add(stream: string, stored: StoredRecord[], proposed: ProposedRecord): void {
    const record = { ...proposed, stream, revision: stored.length, position: this.end, created: Date.now() };
    this.end += 128 + stream.length + sizeOf(proposed);
    stored.push(record);
    this.records.push(record);
    for (const follower of [...this.followers]) follower(record);
  }
}
