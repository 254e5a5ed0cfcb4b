import type { Readable } from 'node:stream';

/** An answer without the headers that every answer has. */
export interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** Absent: an answer without content. */
  body?: string | Buffer | Readable;
}
