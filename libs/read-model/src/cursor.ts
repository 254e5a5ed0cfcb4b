import { timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import type { SelectQueryBuilder } from 'kysely';
import type { Page } from './read-model.js';

/** The cursor is malformed, edited, or belongs to another tenant or list. */
export class InvalidCursor extends Error {
  override readonly name = 'InvalidCursor';
  readonly code = 'InvalidCursor';
  constructor() {
    super('the cursor was not issued by this list');
  }
}

/** The position of one object in a list. */
export interface CursorKey {
  /** RFC 3339, UTC, milliseconds. */
  time: string;
  id: string;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const MAX_LENGTH = 2048;

/** `~` is percent-encoded too: then no three bytes give `+` or `/`, and base64 equals base64url for every cursor. */
const encode = (text: string): string => encodeURIComponent(text).replaceAll('~', '%7E');

const isTime = (time: string): boolean =>
  TIME.test(time) && !Number.isNaN(Date.parse(time)) && new Date(time).toISOString() === time;

export interface CursorCodecOptions {
  /** MAC of a text, base64url or hex, under a key of the deployment. */
  mac: (text: string) => string;
  /** Tenant id and name of the list, with the filters if they matter. Bound into the tag, not readable from it. */
  scope: string;
  /** Name of the time inside the cursor: `createdAt` (default), `timestamp` for analytics. */
  timeName?: 'createdAt' | 'timestamp';
}

/** Cursors are base64 without padding of `createdAt=<time, URL-encoded>&id=<id>&tag=<MAC>`. */
export class CursorCodec {
  private readonly timeName: string;
  private readonly mac: (text: string) => string;
  private readonly scope: string;

  constructor(options: CursorCodecOptions) {
    this.timeName = options.timeName ?? 'createdAt';
    this.mac = options.mac;
    this.scope = options.scope;
  }

  encode(key: CursorKey): string {
    const body = `${this.timeName}=${encode(key.time)}&id=${encode(key.id)}`;
    return Buffer.from(`${body}&tag=${this.tag(body)}`, 'utf8')
      .toString('base64')
      .replace(/=+$/, '');
  }

  /** @throws InvalidCursor unless {@link encode} of a codec with the same key and scope made it */
  decode(cursor: string): CursorKey {
    if (typeof cursor !== 'string' || cursor.length > MAX_LENGTH || !/^[A-Za-z0-9+/]+$/.test(cursor)) {
      throw new InvalidCursor();
    }
    const text = Buffer.from(cursor, 'base64').toString('utf8');
    const parts = new RegExp(`^${this.timeName}=([^&=]+)&id=([^&=]+)&tag=([^&=]+)$`).exec(text);
    if (!parts) throw new InvalidCursor();
    const [time, id, tag] = parts.slice(1) as [string, string, string];
    const expected = Buffer.from(this.tag(`${this.timeName}=${time}&id=${id}`));
    const given = Buffer.from(tag);
    if (expected.length !== given.length || !timingSafeEqual(expected, given)) throw new InvalidCursor();
    const key = { time: decodeURIComponent(time), id: decodeURIComponent(id) };
    // One spelling per cursor: unused bits of base64 and other spellings of the same text are refused.
    if (!isTime(key.time) || this.encode(key) !== cursor) throw new InvalidCursor();
    return key;
  }

  private tag(body: string): string {
    return this.mac(`${this.scope}\n${body}`);
  }
}

export interface PageOptions<Row> {
  /** 1 to 1000. */
  limit: number;
  cursor?: string;
  codec: CursorCodec;
  /** By time, then id. Default `asc`. */
  direction?: 'asc' | 'desc';
  /** Column of the time (RFC 3339 text), default `created_at`, with its table where a join makes it ambiguous. */
  timeColumn?: string;
  /** Column of the id, default `id`. */
  idColumn?: string;
  /** The key of a selected row; default its `created_at` and `id`. */
  key?: (row: Row) => CursorKey;
}

const rowKey = (row: unknown): CursorKey => {
  const { created_at: time, id } = row as { created_at: string; id: string };
  return { time, id };
};

/**
 * One page by keyset on (time, id): rows inserted meanwhile neither repeat nor hide others. `nextCursor` names the last object of the page
 * and is omitted on the last page.
 * @throws InvalidCursor
 */
export const page = async <DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  options: PageOptions<Row>,
): Promise<Page<Row>> => {
  const { limit, codec, direction = 'asc', key = rowKey } = options;
  const time = sql.ref(options.timeColumn ?? 'created_at');
  const id = sql.ref(options.idColumn ?? 'id');
  let ranged = query;
  if (options.cursor !== undefined) {
    const last = codec.decode(options.cursor);
    const beyond = sql.raw(direction === 'asc' ? '>' : '<');
    ranged = ranged.where(sql<boolean>`(${time}, ${id}) ${beyond} (${last.time}, ${last.id})`);
  }
  const rows = await ranged
    .orderBy(time, direction)
    .orderBy(id, direction)
    .limit(limit + 1)
    .execute();
  const data = rows.slice(0, limit);
  const last = rows.length > limit ? data.at(-1) : undefined;
  return last === undefined ? { data } : { data, nextCursor: codec.encode(key(last)) };
};
