import { setTimeout as pause } from 'node:timers/promises';
import { AppError, type PageOf } from '@attestry/contracts';

/** Attempts for a page that the service failed to return: queries may be sent again, commands may not. */
const TRIES = 4;
const FIRST_PAUSE_MS = 250;

type FetchPage = (cursor: string | undefined) => Promise<PageOf<unknown>>;

const lines = (page: PageOf<unknown>): string => page.data.map((entry) => `${JSON.stringify(entry)}\n`).join('');

/**
 * A list as lines of JSON, one page in memory at a time: the next one is queried when the caller has read the last. An error on the first
 * page is thrown before anything was sent; a later one closes the connection without the end of the body, which no client takes for a
 * complete response.
 * @throws AppError as the first page threw it
 */
export const streamPages = async (fetchPage: FetchPage): Promise<AsyncGenerator<string>> => {
  const first = await fetchPage(undefined);
  return (async function* () {
    for (let page = first; ;) {
      const text = lines(page);
      if (text) yield text;
      if (page.nextCursor === undefined) return;
      page = await persistently(fetchPage, page.nextCursor);
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
