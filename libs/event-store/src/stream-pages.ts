import type { EventStore, RecordedEvent, Revision, StreamName } from './event-store.js';

/** Events of a stream that are read and folded at a time (ADR 0041). */
export const PAGE = 512;

/** The events of a stream from its end, a page at a time, newest first. Between two pages other work of the thread runs. */
export async function* pagesBackwards(
  store: Pick<EventStore, 'readStream'>,
  stream: StreamName,
): AsyncGenerator<RecordedEvent[], void, undefined> {
  for (let from: Revision | undefined; ;) {
    const page = await store.readStream(stream, {
      ...{ direction: 'backwards', limit: PAGE },
      ...(from !== undefined && { from }),
    });
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
    from = page.at(-1)!.revision - 1;
  }
}
