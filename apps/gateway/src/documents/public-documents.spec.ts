import { gunzipSync } from 'node:zlib';
import { PublicDocuments, type FoundDocument } from './public-documents.js';

const document = (
  digest: string,
  content?: string,
  kind = 'json',
  headers: Record<string, string> = { vary: 'Accept' },
) => ({
  $document: { digest, kind, headers, ...(content !== undefined && { content }) },
});

/** A service with one document; records the digests that calls name as held. */
const serviceOf = (content: () => string, digest = () => content()) => {
  const named: string[] = [];
  const call = async (held: string) => {
    named.push(held);
    await new Promise((resolve) => setImmediate(resolve));
    return document(digest(), held.includes(digest()) ? undefined : content());
  };
  return { named, call };
};
const found = async (pending: Promise<object>): Promise<FoundDocument> =>
  ((await pending) as { document: FoundDocument }).document;

describe('public documents', () => {
  it('have one buffer as long as their content is the same, which is sent to the gateway once', async () => {
    const documents = new PublicDocuments();
    const { named, call } = serviceOf(() => 'abc');
    const [first, second] = [
      await found(documents.find('a', 'de', call)),
      await found(documents.find('a', 'en', call)),
    ];
    expect(first.kept.bytes.toString()).toBe('abc');
    expect([second.kept === first.kept, second.headers, second.kind]).toEqual([true, { vary: 'Accept' }, 'json']);
    expect(named).toEqual(['none', 'abc']);
  });

  it('name each form of one address that is held, the last first, and at most eight', async () => {
    const documents = new PublicDocuments();
    let digest = '0';
    const { named, call } = serviceOf(() => digest);
    for (let n = 0; n < 10; n++) {
      digest = String(n);
      await documents.find('a', digest, call);
    }
    await documents.find('a', 'x', call);
    await documents.find('b', 'x', call);
    expect(named.at(-2)).toBe('9,8,7,6,5,4,3,2');
    expect(named.at(-1)).toBe('none');
  });

  it('that changed are never answered as they were before the request', async () => {
    const documents = new PublicDocuments();
    let content = 'old';
    const { named, call } = serviceOf(() => content);
    const before = documents.find('a', '', call);
    const during = documents.find('a', '', call);
    content = 'new';
    const after = documents.find('a', '', call);
    expect((await found(during)).kept.bytes.toString()).toBe('new');
    expect((await found(after)).kept.bytes.toString()).toBe('new');
    await before;
    // Two requests shared the second call.
    expect(named).toHaveLength(2);
  });

  it('that fail leave nothing behind; the next request calls again', async () => {
    const documents = new PublicDocuments();
    const fail = () => Promise.reject(new Error('away'));
    const failing = documents.find('a', '', fail);
    const { call } = serviceOf(() => 'abc');
    const next = documents.find('a', '', call);
    await expect(failing).rejects.toThrow('away');
    expect((await found(next)).kept.bytes.toString()).toBe('abc');
  });

  it('may be something else: what the service returned is the result', async () => {
    const result = { $http: { status: 304 } };
    expect(await new PublicDocuments().find('a', '', async () => result)).toEqual({ result });
  });

  it('of bytes are decoded, and compressed unless they are an image', async () => {
    const documents = new PublicDocuments();
    const bytes = Buffer.alloc(5000);
    const { kept } = await found(
      documents.find('a', '', async () => document('d', bytes.toString('base64'), 'base64')),
    );
    expect(kept.bytes).toEqual(bytes);
    expect((await documents.gzipOf(kept))!.length).toBeLessThan(100);
    const image = document('e', bytes.toString('base64'), 'base64', { 'content-type': 'image/png' });
    const other = await found(documents.find('b', '', async () => image));
    expect(await documents.gzipOf(other.kept)).toBeUndefined();
  });

  it('are compressed once, from 1 KiB on', async () => {
    const documents = new PublicDocuments();
    const text = 'x'.repeat(5000);
    const { kept } = await found(documents.find('a', '', serviceOf(() => text).call));
    const [one, other] = await Promise.all([documents.gzipOf(kept), documents.gzipOf(kept)]);
    expect(gunzipSync(one!).toString()).toBe(text);
    expect(other).toBe(one);
    const short = await found(documents.find('b', '', serviceOf(() => 'x'.repeat(1023)).call));
    expect(await documents.gzipOf(short.kept)).toBeUndefined();
  });

  it('are kept up to 64 MiB: the content that was used last stays', async () => {
    const documents = new PublicDocuments();
    const ten = 'x'.repeat(10 * 1_048_576);
    const named: string[] = [];
    const get = (name: string) =>
      documents.find(name, '', async (held) => {
        named.push(held);
        return document(name, ten);
      });
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'a', 'g', 'a', 'b']) await get(name);
    expect(named.slice(6)).toEqual(['a', 'none', 'a', 'none']);
  });
});
