import { timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import type { SelectQueryBuilder } from 'kysely';
import { countFitting, storedBytes } from './page-size.js';
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

export interface PageOptions {
  /** 1 to 1000. */
  limit: number;
  cursor?: string;
  codec: CursorCodec;
  /** Columns with text of any length, of which the page has at most {@link PAGE_SIZE} together; with their table where a join makes them ambiguous. */
  contents: readonly string[];
  /** By time, then id. Default `asc`. */
  direction?: 'asc' | 'desc';
  /** Column of the time (RFC 3339 text), default `created_at`, with its table where a join makes it ambiguous. */
  timeColumn?: string;
  /** Column of the id, default `id`. */
  idColumn?: string;
}

interface Sized extends CursorKey {
  bytes: number;
}

/**
 * One page by keyset on (time, id): rows inserted meanwhile neither repeat nor hide others. The sizes of the rows are read first, the contents
 * only of those that make the page: it ends at its limit or before it exceeds {@link PAGE_SIZE} (ADR 0098). `nextCursor` names the last object
 * of the page and is omitted on the last page.
 * @throws InvalidCursor
 */
export const page = async <DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  options: PageOptions,
): Promise<Page<Row>> => {
  const { limit, codec, contents, direction = 'asc' } = options;
  const time = sql.ref<string>(options.timeColumn ?? 'created_at');
  const id = sql.ref<string>(options.idColumn ?? 'id');
  let ranged = query;
  if (options.cursor !== undefined) {
    const last = codec.decode(options.cursor);
    const beyond = sql.raw(direction === 'asc' ? '>' : '<');
    ranged = ranged.where(sql<boolean>`(${time}, ${id}) ${beyond} (${last.time}, ${last.id})`);
  }
  const ordered = ranged.orderBy(time, direction).orderBy(id, direction);
  const sizes = (await ordered
    .clearSelect()
    .select([time.as('time'), id.as('id'), storedBytes(contents).as('bytes')])
    .limit(limit + 1)
    .execute()) as unknown as Sized[];
  const fitting = countFitting(sizes.slice(0, limit).map(({ bytes }) => Number(bytes)));
  const last = sizes[fitting - 1];
  if (!last) return { data: [] };
  const upTo = sql.raw(direction === 'asc' ? '<=' : '>=');
  const data = await ordered
    .where(sql<boolean>`(${time}, ${id}) ${upTo} (${last.time}, ${last.id})`)
    .limit(fitting)
    .execute();
  return fitting === sizes.length ? { data } : { data, nextCursor: codec.encode({ time: last.time, id: last.id }) };
};
