import type { HttpBinding } from '@attestry/contracts';

/** How a list is written that is streamed. */
export interface ListFormat {
  /** Content-Type. */
  readonly mediaType: string;
  /** Before the first entry. */
  readonly head: string;
  readonly line: (entry: unknown) => string;
}

/** JSON, one entry per line. */
export const NDJSON: ListFormat = {
  mediaType: 'application/x-ndjson',
  head: '',
  line: (entry) => `${JSON.stringify(entry)}\n`,
};

/**
 * First characters by which a spreadsheet takes a cell for a formula, also in the full width of East Asian keyboards; some strip spaces and
 * control characters before them.
 */
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/u;
/** Fields with these are quoted (RFC 4180 §2), also with the semicolon and tab that separate fields in spreadsheets of some languages. */
const QUOTED = /[",;\t\r\n]|^\s|\s$/;

/** A text that no spreadsheet evaluates: one that begins like a formula is preceded by an apostrophe. */
const cellOf = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const inert = FORMULA.test(text) ? `'${text}` : text;
  return QUOTED.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
};

const memberOf = (entry: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], entry);

/** RFC 4180, with a header. @param columns paths of members, which are also the names of the columns; objects are JSON */
export const csvOf = (columns: readonly string[]): ListFormat => {
  const paths = columns.map((column) => column.split('.'));
  return {
    mediaType: 'text/csv; charset=utf-8; header=present',
    head: `${columns.join(',')}\r\n`,
    line: (entry) => `${paths.map((path) => cellOf(memberOf(entry, path))).join(',')}\r\n`,
  };
};

/** The format that the member `format` of the query names, where the operation has several. */
export const listFormatOf = ({ csvColumns }: HttpBinding, query: unknown): ListFormat =>
  csvColumns && (query as { format?: unknown } | undefined)?.format === 'csv' ? csvOf(csvColumns) : NDJSON;
