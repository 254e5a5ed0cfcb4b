import { csvOf, listFormatOf, NDJSON } from './list-formats.js';

const { head, line } = csvOf(['id', 'about.type', 'data']);
const cell = (value: unknown) => line({ id: 'x', about: { type: 'y' }, data: value }).slice('x,y,'.length, -2);

describe('a list as CSV', () => {
  it('begins with the names of its columns and ends each record with CRLF (RFC 4180 §2)', () => {
    expect(head).toBe('id,about.type,data\r\n');
    expect(line({ id: '1', about: { type: 'did' }, data: 2 })).toBe('1,did,2\r\n');
  });

  it('leaves cells empty without a value', () => {
    expect(line({ id: null })).toBe(',,\r\n');
    expect(cell('')).toBe('');
  });

  it.each([
    ['plain', 'plain'],
    ['a,b', '"a,b"'],
    ['a;b', '"a;b"'],
    ['a "b"', '"a ""b"""'],
    ['a\r\nb', '"a\r\nb"'],
    [' a', '" a"'],
    [{ a: 1, b: 'x' }, '"{""a"":1,""b"":""x""}"'],
    [true, 'true'],
  ])('quotes %j where it must', (value, expected) => expect(cell(value)).toBe(expected));

  it.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    [-1, "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', '"\'\t=1"'],
    ['\tx', '"\'\tx"'],
    ['\r=1', '"\'\r=1"'],
    ['\nx', '"\'\nx"'],
    [' =1', "' =1"],
    ['\u200b=1', "'\u200b=1"],
    ['\uFEFF=1', "'\uFEFF=1"],
    ['＝1', "'＝1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠x', "'＠x"],
    ['=HYPERLINK("https://x","y")', '"\'=HYPERLINK(""https://x"",""y"")"'],
    ['=1\r\n=2', '"\'=1\r\n=2"'],
  ])('has no cell that begins a formula: %j', (value, expected) => expect(cell(value)).toBe(expected));

  it('cannot be given a further record or cell by a value', () => {
    const text = line({ id: '",=1\r\n"=2"', about: { type: 'a","=3' }, data: '\r\n=4' });
    expect(text).toBe('""",=1\r\n""=2""","a"",""=3","\'\r\n=4"\r\n');
  });
});

describe('the format of a list', () => {
  const http = { method: 'GET' as const, path: '/x', success: 200, stream: true as const };
  it('is lines of JSON, unless the operation has columns and the query names CSV', () => {
    expect(listFormatOf(http, { format: 'csv' })).toBe(NDJSON);
    expect(listFormatOf({ ...http, csvColumns: ['id'] }, { format: 'csv' }).head).toBe('id\r\n');
    for (const query of [undefined, {}, { format: 'ndjson' }, { format: ['csv'] }])
      expect(listFormatOf({ ...http, csvColumns: ['id'] }, query)).toBe(NDJSON);
  });
});
