import type { EventStore, NewEvent, RecordedEvent, Revision, StreamName } from './event-store.js';

/** Events of a stream that are read and folded at a time (ADR 0041). */
export const PAGE = 512;
/** A page ends early at this many characters: each event may have almost 1 MiB. */
const PAGE_CHARACTERS = 8 * 1024 * 1024;

/** Limits of a page, for {@link EventStore.readStream}. */
export const ONE_PAGE = { limit: PAGE, mostCharacters: PAGE_CHARACTERS } as const;

/** Characters of the data of events. */
export const charactersOf = (events: readonly Pick<NewEvent, 'text'>[]): number => {
  let count = 0;
  for (const { text } of events) count += text.data.length + text.metadata.length;
  return count;
};

/** Whether there may be events behind a page, read with {@link ONE_PAGE}. */
export const isFullPage = (events: readonly RecordedEvent[]): boolean =>
  events.length === PAGE || charactersOf(events) > PAGE_CHARACTERS;

/** The events of a stream from its end, a page at a time, newest first. Between two pages other work of the thread runs. */
export async function* pagesBackwards(
  store: Pick<EventStore, 'readStream'>,
  stream: StreamName,
): AsyncGenerator<RecordedEvent[], void, undefined> {
  for (let from: Revision | undefined; ;) {
    const page = await store.readStream(stream, {
      ...{ direction: 'backwards', ...ONE_PAGE },
      ...(from !== undefined && { from }),
    });
    if (page.length > 0) yield page;
    if (!isFullPage(page)) return;
    from = page.at(-1)!.revision - 1;
  }
}
