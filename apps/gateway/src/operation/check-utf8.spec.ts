import fc from 'fast-check';
import { checkPath, checkQuery, decodeBody } from './check-utf8.js';

const refusal = (param: string, location: string, msg = 'must be valid UTF-8') =>
  expect.objectContaining({ kind: 'invalid', details: [{ msg, param, location }] }) as Error;
const FORM = 'application/x-www-form-urlencoded';

describe('invalid UTF-8', () => {
  it.each(['/v1/dids/%ff', '/a%C3', '/%ED%A0%80', '/%C0%AF', '/%C3%28', '/%e2%82/x'])(
    'in the path %s is a 400',
    (path) => {
      expect(() => checkPath(path)).toThrow(refusal('path', 'params'));
    },
  );

  it.each([
    ['limit=%ff', 'limit'],
    ['a=1&b%20c=%C3', 'b c'],
    ['a=1&b+c=%C3%28', 'b c'],
    ['%=%ff', '%'],
    ['%ff=1', 'query'],
    ['%ff', 'query'],
    [`${'x'.repeat(300)}=%ff`, 'x'.repeat(100)],
  ])('in the query %s is a 400 on %s', (query, param) => {
    expect(() => checkQuery(query)).toThrow(refusal(param, 'query'));
  });

  it('as raw octets of the target is a 400', () => {
    expect(() => checkPath('/v1/\xff')).toThrow(refusal('path', 'params', 'must be percent-encoded'));
    expect(() => checkQuery('a=\xc3\xa9')).toThrow(refusal('query', 'query', 'must be percent-encoded'));
  });

  it.each([
    [Buffer.from([0x7b, 0xff]), 'application/json', 'body'],
    [Buffer.from([0xed, 0xa0, 0x80]), '', 'body'],
    [Buffer.from('code=%ff'), FORM, 'code'],
    [Buffer.from('a=1&%ff=2'), FORM, 'body'],
  ])('in the body %s of type %s is a 400 on %s', (raw, type, param) => {
    expect(() => decodeBody(raw, type)).toThrow(refusal(param, 'body'));
  });
});

describe('UTF-8', () => {
  it('is read unchanged', () => {
    const text = fc.string({ unit: 'binary' }).filter((it) => it.isWellFormed());
    fc.assert(
      fc.property(text, text, (name, value) => {
        const pair = `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
        checkPath(`/${encodeURIComponent(value)}`);
        checkQuery(pair);
        expect(decodeBody(Buffer.from(pair), FORM)).toBe(pair);
        expect(decodeBody(Buffer.from(value), 'application/json')).toBe(value);
      }),
    );
  });

  it.each(['/v1/dids%', '/%zz', '/%c', '/%00', '/a?b'])('is valid in %s, which escapes no byte above 7F', (path) => {
    expect(() => checkPath(path)).not.toThrow();
    expect(() => checkQuery(path)).not.toThrow();
  });

  it('of a body that is not a form may contain percent signs', () => {
    expect(decodeBody(Buffer.from('{"a":"%ff"}'), 'application/json')).toBe('{"a":"%ff"}');
  });

  it('is checked in linear time', () => {
    const query = Array.from({ length: 50_000 }, (_, n) => `a${n}=%C3%A9`).join('&');
    const begun = performance.now();
    checkQuery(query);
    expect(performance.now() - begun).toBeLessThan(2000);
  });
});
