import { httpAnswer } from '@attestry/contracts';
import { documentAnswer } from './document-answer.js';
import { frozenData } from '../shapes/frozen-data.js';

const of = (result: unknown, held = 'none') => documentAnswer(result, 200, held)?.$document;

describe('a public document for a caller that keeps its bytes', () => {
  it('is its text and digest, and the digest alone when the caller holds it', () => {
    const made = of(frozenData({ a: 1 }))!;
    expect(made).toEqual({ digest: expect.stringMatching(/^[\w-]{43}$/) as string, kind: 'json', content: '{"a":1}' });
    expect(of({ a: 1 }, `other,${made.digest}`)).toEqual({ digest: made.digest, kind: 'json' });
  });

  it('has other digests for other contents, and for bytes and text of the same characters', () => {
    const digests = [of('AAAA'), of('AAAB'), of(httpAnswer({ base64: 'AAAA' }))].map((one) => one!.digest);
    expect(new Set(digests).size).toBe(3);
  });

  it('keeps the headers', () => {
    expect(of(httpAnswer({ headers: { etag: '"1"' }, base64: 'AAAA' }))).toMatchObject({
      kind: 'base64',
      headers: { etag: '"1"' },
      content: 'AAAA',
    });
  });

  it('is made text once as long as the object exists', () => {
    let made = 0;
    const body = {
      toJSON: () => {
        made++;
        return { a: 1 };
      },
    };
    const first = of(httpAnswer({ body }))!;
    expect(of(httpAnswer({ body }), first.digest)).toEqual({ digest: first.digest, kind: 'json' });
    expect(of(httpAnswer({ body }))).toEqual(first);
    expect(made).toBe(1);
  });

  it.each([undefined, null, httpAnswer({}), httpAnswer({ status: 304, body: 'x' })])('is no answer of %j', (result) => {
    expect(of(result)).toBeUndefined();
  });
});
