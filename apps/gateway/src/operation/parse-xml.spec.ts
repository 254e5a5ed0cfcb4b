import { createCustomDomain, createDid, type AppError } from '@attestry/contracts';
import { parseBody } from './parse-body.js';
import { MAX_XML } from './parse-xml.js';

const parse = (text: string | Uint8Array, type = 'application/xml') =>
  parseBody(createCustomDomain, type, Buffer.from(text as string));
const refusal = (text: string | Uint8Array, type?: string): AppError => {
  try {
    parse(text, type);
  } catch (error) {
    return error as AppError;
  }
  throw new Error('was accepted');
};
const detail = (msg: string) => ({
  kind: 'invalid',
  message: 'Validation Error',
  details: [{ msg, param: 'body', location: 'body' }],
});

describe('an XML body', () => {
  const expected = { name: 'Äcme & Sons', logoUrl: 'https://a.example/l.png?a=1&b=2', domain: 'acme.example' };

  it('is equivalent to JSON, whatever the name of its root', () => {
    for (const root of ['request', 'CustomDomain', 'x:domain'])
      expect(
        parse(
          `<?xml version="1.0" encoding="UTF-8"?>\n<!-- a comment --><${root} xmlns:x="urn:x" a="1">
            <name> &#196;cme &amp; Sons </name><x:logoUrl>https://a.example/l.png?a=1&amp;b=2</x:logoUrl>
            <domain><![CDATA[acme.example]]></domain></${root}>`,
          'text/xml; charset=utf-8',
        ),
      ).toEqual(expected);
    expect(parseBody(createCustomDomain, 'application/json', Buffer.from(JSON.stringify(expected)))).toEqual(expected);
  });

  it('contains strings, never numbers, and a repeated element is an array', () => {
    expect(parse('<a><name>1.50</name><domain>true</domain><n>0x1</n></a>')).toEqual({
      name: '1.50',
      domain: 'true',
      n: '0x1',
    });
    expect(parse('<a><name>x</name><name>y</name></a>')).toEqual({ name: ['x', 'y'] });
    expect(parse('<a><name><b>x</b></name></a>')).toEqual({ name: { b: 'x' } });
    for (const text of ['<a/>', '<a></a>', '<a>text</a>']) expect(parse(text)).toEqual({});
  });

  it('must not have a document type, wherever it occurs', () => {
    const lol = '<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;">';
    for (const text of [
      '<!DOCTYPE a><a><name>x</name></a>',
      `<?xml version="1.0"?><!DOCTYPE a [${lol}]><a><name>&b;</name></a>`,
      '<!DOCTYPE a SYSTEM "http://127.0.0.1/a.dtd"><a><name>x</name></a>',
      '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a><name>&x;</name></a>',
      '<!doctype a><a/>',
    ]) {
      const { message, details } = refusal(text);
      expect([message, details![0]!.param]).toEqual(['Validation Error', 'body']);
    }
    expect(refusal('<!DOCTYPE a><a><name>x</name></a>')).toMatchObject(detail('must not have a DOCTYPE'));
    // In a text it is a text.
    expect(parse('<a><name><![CDATA[<!DOCTYPE a>]]></name></a>')).toEqual({ name: '<!DOCTYPE a>' });
  });

  it('must be well-formed', () => {
    for (const text of [
      '',
      'text',
      '{"name":"x"}',
      '<a><b></a>',
      '<a></a><b></b>',
      '<a></a>more',
      '<a><name>x & y</name></a>',
      '<a><name>&nbsp;</name></a>',
      '<a><!-- </a>',
      '<a><![CDATA[ </a>',
      '<a><__proto__><x>1</x></__proto__></a>',
    ])
      expect([text, refusal(text).details]).toEqual([
        text,
        [
          {
            param: 'body',
            location: 'body',
            msg: expect.stringMatching(/^must be well-formed XML(: line 1(, column \d+)?)?$/),
          },
        ],
      ]);
    // Without names of the text.
    expect(refusal('<a>\n<secret></a>').details![0]!.msg).toBe('must be well-formed XML: line 2, column 9');
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it('must be UTF-8', () => {
    expect(refusal(Buffer.from('<a><name>\xe4</name></a>', 'latin1'))).toMatchObject(detail('must be UTF-8'));
    expect(refusal('<?xml version="1.0" encoding="ISO-8859-1"?><a/>')).toMatchObject(detail('must be UTF-8'));
    expect(refusal('<a/>', 'text/xml; charset="utf-16"')).toMatchObject(detail('must be UTF-8'));
  });

  it('is parsed in little time, whatever its structure', () => {
    const size = MAX_XML - 10;
    expect(refusal('x'.repeat(MAX_XML + 1))).toMatchObject({
      kind: 'tooLarge',
      message: 'Payload Too Large: a body in XML must have at most 32768 bytes',
    });
    for (const piece of [
      '<a>',
      '<a ',
      '<!--',
      '<![CDATA[',
      '<!',
      '<?x',
      '&amp;',
      '&#1',
      '<a b="',
      '<a>x</a>',
      '<!DOCTYPE [',
    ])
      for (const [open, close] of [
        ['', ''],
        ['<r>', '</r>'],
      ]) {
        const startedAt = performance.now();
        try {
          parse(open! + piece.repeat(Math.floor(size / piece.length)) + close!);
        } catch (error) {
          expect([piece, (error as AppError).kind]).toEqual([piece, 'invalid']);
        }
        expect([piece, performance.now() - startedAt < 1000]).toEqual([piece, true]);
      }
  });

  it('is accepted only by operations that declare it', () => {
    expect(() => parseBody(createDid, 'application/xml', Buffer.from('<a/>'))).toThrow(
      'Unsupported Media Type: expected application/json',
    );
    expect(refusal('name=x', 'application/x-www-form-urlencoded').message).toBe(
      'Unsupported Media Type: expected application/json or application/xml',
    );
  });
});
