/** Columns of one event, in the order of the statements; 64-bit numbers arrive as text. */
export type EventRow = [
  position: string,
  stream: string,
  revision: string,
  id: string,
  type: string,
  schemaVersion: number,
  data: string,
  metadata: string,
];
/** `total`: bytes of data and metadata up to and with this event. All but `head` are null on an empty page. */
export type PageRow = [head: string, total: string, ...EventRow];

export interface Statement {
  /** Prepared once a connection under this name. */
  name: string;
  text: string;
}

const COLUMNS = 'position, stream, revision, id, type, schema_version, data, metadata';

const statement = (name: string, text: string): Statement => ({ name, text });

/**
 * The statements on a schema's events.
 *
 * @param partitioned events may be discarded, and the newest position stays known
 */
export const statementsOf = (schema: string, partitioned: boolean) => {
  const events = `${schema}.events`;
  const stored = `(SELECT max(position) FROM ${events})`;
  const newest = partitioned
    ? `coalesce(${stored}, (SELECT nullif(discarded_to, 0) FROM ${schema}.retention))`
    : stored;
  // One statement has one snapshot: the head and the page are consistent.
  const page = (name: string, rows: string) =>
    statement(
      name,
      `SELECT head, page.* FROM (SELECT coalesce(${newest}, 0) AS head) AS newest
       LEFT JOIN (
         SELECT * FROM (
           SELECT sum(octet_length(data) + octet_length(metadata)) OVER (ORDER BY position) AS total, ${COLUMNS}
           FROM (${rows}) AS found
         ) AS measured
         WHERE total - octet_length(data) - octet_length(metadata) < $3::bigint
       ) AS page ON true ORDER BY page.position`,
    );
  // Characters, of which the text of a client has as many or more: it would take a page that ended at fewer for the last one.
  const ofStream = (name: string, compared: string, order: string) =>
    statement(
      name,
      `SELECT ${COLUMNS} FROM (
         SELECT sum(length(data) + length(metadata)) OVER (ORDER BY ${order}) AS total, ${COLUMNS}
         FROM (SELECT ${COLUMNS} FROM ${events} WHERE stream = $1 AND revision ${compared} $2 ORDER BY ${order} LIMIT $3) AS found
       ) AS measured
       WHERE $4::bigint IS NULL OR total - length(data) - length(metadata) <= $4::bigint ORDER BY ${order}`,
    );
  return {
    channel: `${schema}.events`,
    append: statement(
      'append',
      `SELECT conflict, actual, last_position, fresh, NULL
       FROM ${schema}.append_units($1, $2, $3, $4, $5, $6, $7, $8, $9, '{}')`,
    ),
    // Locks of keys, then the lock of appends: whoever has that one waits for nothing else.
    appendWithKeys: (keys: string) =>
      statement(
        `append with keys of ${keys}`,
        `WITH locked AS MATERIALIZED (SELECT ${keys}.lock_new_data_keys($10, $11, $12) AS refusals),
         answered AS MATERIALIZED (
           SELECT refusals, answer.* FROM locked CROSS JOIN LATERAL ${schema}.append_units(
             $1, $2, $3, $4, $5, $6, $7, $8, $9,
             ARRAY(SELECT k.unit FROM unnest($15::integer[], refusals) AS k (unit, refusal) WHERE k.refusal IS NOT NULL)
           ) WITH ORDINALITY AS answer (conflict, actual, last_position, fresh, unit)
         ),
         added AS MATERIALIZED (
           SELECT ${keys}.put_new_data_keys($10, $11, $12, $13, $14, $15,
             ARRAY(SELECT unit::integer FROM answered WHERE fresh)) AS done
         )
         SELECT conflict, actual, last_position, fresh, refusals FROM added CROSS JOIN answered ORDER BY unit`,
      ),
    keepPartitions: statement('keep partitions', `SELECT ${schema}.keep_partitions()`),
    head: statement('head', `SELECT ${newest}`),
    forwards: ofStream('forwards', '>=', 'revision'),
    backwards: ofStream('backwards', '<=', 'revision DESC'),
    all: page('all', `SELECT ${COLUMNS} FROM ${events} WHERE position > $1 ORDER BY position LIMIT $2`),
    // Compared as a pair for the same reason as below.
    ofTenant: page(
      'of tenant',
      `SELECT ${COLUMNS} FROM ${events}
       WHERE (tenant_id, position) > ($4::text, $1) AND tenant_id <= $4::text AND position > $1
       ORDER BY tenant_id, position LIMIT $2`,
    ),
    // From stream to stream through the index, however many events each has.
    tenantStreams: statement(
      'tenant streams',
      `WITH RECURSIVE found AS (
         (SELECT stream FROM ${events} WHERE tenant_id = $1 AND stream > $2 ORDER BY stream LIMIT 1)
         UNION ALL
         SELECT e.stream FROM found CROSS JOIN LATERAL (
           SELECT stream FROM ${events} WHERE tenant_id = $1 AND stream > found.stream ORDER BY stream LIMIT 1) AS e
       ) SELECT stream FROM found LIMIT $3`,
    ),
    // Each category through its index, then merged: the cost of reading on does not depend on how much the filter hides. Compared as a
    // pair, and not for equality, so that the planner cannot scan by position alone.
    ofCategories: page(
      'of categories',
      `SELECT e.* FROM unnest($4::text[]) AS wanted (category) CROSS JOIN LATERAL (
         SELECT ${COLUMNS} FROM ${events}
         WHERE (category, position) > (wanted.category, $1) AND category <= wanted.category AND position > $1
         ORDER BY category, position LIMIT $2) AS e ORDER BY e.position LIMIT $2`,
    ),
  };
};
