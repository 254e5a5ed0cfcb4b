import { sql, type RawBuilder } from 'kysely';

/** Bytes of the members that a row has beside its contents: ids, times, and the names of all members. */
const OTHER_MEMBERS = 256;

/**
 * Most bytes of a page, as they are stored: a page is sent as one message and serialized on the thread that serves all tenants (ADR 0041, ADR
 * 0098). An object, so that a test over all lists can lower it.
 */
export const PAGE_SIZE = { bytes: 512 * 1024 };

/** How many of the first entries make a page: one, however large it is, and more as long as they do not exceed {@link PAGE_SIZE} together. */
export const countFitting = (sizes: Iterable<number>): number => {
  let [count, total] = [0, 0];
  for (const size of sizes) {
    total += size;
    if (count > 0 && total > PAGE_SIZE.bytes) return count;
    count++;
  }
  return count;
};

/** How many of the first entries make a page, where they are in memory. None behind the page is serialized. */
export const countFittingEntries = (entries: readonly unknown[]): number => countFitting(bytesOfEach(entries));

const bytesOfEach = function* (entries: readonly unknown[]): Generator<number> {
  for (const entry of entries) yield Buffer.byteLength(JSON.stringify(entry));
};

/**
 * Stored bytes of a row. Both engines know the length of a text without loading it: SQLite from the header of the row, PostgreSQL from that of
 * the value.
 * @param contents columns of text whose length is not small and fixed; null counts as empty
 */
export const storedBytes = (contents: readonly string[]): RawBuilder<number> =>
  sql<number>`${contents.reduce(
    (sum, column) => sql<number>`${sum} + coalesce(octet_length(${sql.ref(column)}), 0)`,
    sql<number>`${sql.lit(OTHER_MEMBERS)}`,
  )}`;
