/** A row with its columns by name. */
export type Row = Record<string, unknown>;
