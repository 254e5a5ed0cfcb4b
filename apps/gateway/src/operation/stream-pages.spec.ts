import { forbidden, unavailable, type PageOf } from '@attestry/contracts';
import { streamPages } from './stream-pages.js';

const pages: Record<string, PageOf<unknown>> = {
  first: { data: [{ n: 1 }, { n: 2 }], nextCursor: 'second' },
  second: { data: [{ text: 'a\nb' }], nextCursor: 'third' },
  third: { data: [] },
};
const calls: (string | undefined)[] = [];
const ask = async (cursor: string | undefined) => {
  calls.push(cursor);
  return pages[cursor ?? 'first']!;
};
beforeEach(() => calls.splice(0));

describe('a list as a stream', () => {
  it('has a line for every entry', async () => {
    const texts: string[] = [];
    for await (const text of await streamPages(ask)) texts.push(text);
    expect(texts.join('')).toBe('{"n":1}\n{"n":2}\n{"text":"a\\nb"}\n');
  });

  it('queries a page only after the previous one was read', async () => {
    const stream = await streamPages(ask);
    expect(calls).toEqual([undefined]);
    await stream.next();
    expect(calls).toEqual([undefined]);
    await stream.next();
    expect(calls).toEqual([undefined, 'second']);
  });

  it('is empty without entries', async () => {
    const texts: string[] = [];
    for await (const text of await streamPages(async () => ({ data: [] }))) texts.push(text);
    expect(texts).toEqual([]);
  });

  it('is refused before it starts when the first page is refused', async () => {
    await expect(streamPages(() => Promise.reject(unavailable()))).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('continues after a short outage of the service', async () => {
    let away = 2;
    const stream = await streamPages((cursor) =>
      cursor === 'second' && away-- > 0 ? Promise.reject(unavailable()) : ask(cursor),
    );
    const texts: string[] = [];
    for await (const text of stream) texts.push(text);
    expect(texts).toHaveLength(2);
  });

  it('is aborted, not completed, when a page is refused', async () => {
    const stream = await streamPages((cursor) => (cursor ? Promise.reject(forbidden('x')) : ask(cursor)));
    await stream.next();
    await expect(stream.next()).rejects.toMatchObject({ kind: 'forbidden' });
  });
});
