import { forbidden, unavailable, type PageOf } from '@attestry/contracts';
import { createHash } from 'node:crypto';
import { csvOf, NDJSON } from './list-formats.js';
import { streamPages, type SentList } from './stream-pages.js';

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
const ends: SentList[] = [];
const ended = (sent: SentList) => void ends.push({ ...sent });
const sha256 = (text: string) => createHash('sha256').update(text).digest('base64');
beforeEach(() => {
  calls.splice(0);
  ends.splice(0);
});

describe('a list as a stream', () => {
  it('has a line for every entry', async () => {
    const texts: string[] = [];
    for await (const text of await streamPages(ask, NDJSON, ended)) texts.push(text);
    expect(texts.join('')).toBe('{"n":1}\n{"n":2}\n{"text":"a\\nb"}\n');
  });

  it('queries a page only after the previous one was read', async () => {
    const stream = await streamPages(ask, NDJSON, ended);
    expect(calls).toEqual([undefined]);
    await stream.next();
    expect(calls).toEqual([undefined]);
    await stream.next();
    expect(calls).toEqual([undefined, 'second']);
  });

  it('is empty without entries', async () => {
    const texts: string[] = [];
    for await (const text of await streamPages(async () => ({ data: [] }), NDJSON, ended)) texts.push(text);
    expect(texts).toEqual([]);
  });

  it('is refused before it starts when the first page is refused', async () => {
    await expect(streamPages(() => Promise.reject(unavailable()), NDJSON, ended)).rejects.toMatchObject({
      kind: 'unavailable',
    });
  });

  it('continues after a short outage of the service', async () => {
    let away = 2;
    const stream = await streamPages(
      (cursor) => (cursor === 'second' && away-- > 0 ? Promise.reject(unavailable()) : ask(cursor)),
      NDJSON,
      ended,
    );
    const texts: string[] = [];
    for await (const text of stream) texts.push(text);
    expect(texts).toHaveLength(2);
  });

  it('is aborted, not completed, when a page is refused', async () => {
    const refuse = (cursor?: string) => (cursor ? Promise.reject(forbidden('x')) : ask(cursor));
    const stream = await streamPages(refuse, NDJSON, ended);
    await stream.next();
    await expect(stream.next()).rejects.toMatchObject({ kind: 'forbidden' });
    expect(ends).toEqual([{ count: 2 }]);
  });

  it('ends with the number of entries and the digest of all bytes', async () => {
    const texts: string[] = [];
    for await (const text of await streamPages(ask, NDJSON, ended)) {
      expect(ends).toEqual([]);
      texts.push(text);
    }
    expect(ends).toEqual([{ count: 3, sha256: sha256(texts.join('')) }]);
  });

  it('has the head of its format once, also without entries, and in the digest', async () => {
    const texts: string[] = [];
    for await (const text of await streamPages(ask, csvOf(['n']), ended)) texts.push(text);
    expect(texts.join('')).toBe('n\r\n1\r\n2\r\n\r\n');
    for await (const text of await streamPages(async () => ({ data: [] }), csvOf(['n']), ended)) texts.push(text);
    expect(texts.at(-1)).toBe('n\r\n');
    expect(ends).toEqual([
      { count: 3, sha256: sha256('n\r\n1\r\n2\r\n\r\n') },
      { count: 0, sha256: sha256('n\r\n') },
    ]);
  });

  it('that its reader leaves queries no further page, and has no digest', async () => {
    for await (const text of await streamPages(ask, NDJSON, ended)) {
      expect(text).toBe('{"n":1}\n{"n":2}\n');
      break;
    }
    expect([calls, ends]).toEqual([[undefined], [{ count: 2 }]]);
  });
});
