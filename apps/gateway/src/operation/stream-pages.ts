import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { AppError, type PageOf } from '@attestry/contracts';
import type { ListFormat } from './list-formats.js';

/** Attempts for a page that the service failed to return: queries may be sent again, commands may not. */
const TRIES = 4;
const FIRST_PAUSE_MS = 250;

type FetchPage = (cursor: string | undefined) => Promise<PageOf<unknown>>;

/** The part of a list that was sent. */
export interface SentList {
  /** Entries. */
  count: number;
  /** SHA-256 of the bytes, base64; absent unless it is complete. */
  sha256?: string;
}

/**
 * A list in a format, one page in memory at a time: the next one is queried when the caller has read the last. An error on the first
 * page is thrown before anything was sent; a later one closes the connection without the end of the body, which no client takes for a
 * complete response.
 * @param onEnd called once a body that was begun ends: with the digest before the end of the complete list, otherwise without
 * @throws AppError as the first page threw it
 */
export const streamPages = async (
  fetchPage: FetchPage,
  format: ListFormat,
  onEnd: (sent: SentList) => void,
): Promise<AsyncGenerator<string>> => {
  const first = await fetchPage(undefined);
  return (async function* () {
    const hash = createHash('sha256');
    const sent: SentList = { count: 0 };
    try {
      let text = format.head;
      for (let page = first; ;) {
        text += page.data.map(format.line).join('');
        hash.update(text);
        sent.count += page.data.length;
        if (text) yield text;
        if (page.nextCursor === undefined) break;
        page = await persistently(fetchPage, page.nextCursor);
        text = '';
      }
      sent.sha256 = hash.digest('base64');
    } finally {
      onEnd(sent);
    }
  })();
};

const persistently = async (fetchPage: FetchPage, cursor: string): Promise<PageOf<unknown>> => {
  for (let tried = 1; ; tried++) {
    try {
      return await fetchPage(cursor);
    } catch (error) {
      if (tried === TRIES || !(error instanceof AppError) || error.kind !== 'unavailable') throw error;
      await pause(FIRST_PAUSE_MS * 2 ** (tried - 1));
    }
  }
};
