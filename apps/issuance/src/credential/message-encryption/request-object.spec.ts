import { AppError } from '@attestry/contracts';
import { parseRequestObject } from './request-object.js';

const refusalOf = (text: string, isEncrypted = false): unknown => {
  try {
    return parseRequestObject({ text, isEncrypted });
  } catch (error) {
    if (error instanceof AppError) return [error.code, error.message, error.check];
    throw error;
  }
};
const refused = (description: string) => ['invalid_credential_request', description, 'request-object'];

describe('the object of a request', () => {
  it.each([
    ['', 'it is empty'],
    ['{', 'it ends too early, at line 1, column 2'],
    ['{"a":1,}', 'a comma before } at line 1, column 8'],
    ["{'a':1}", 'unexpected character at line 1, column 2'],
    ['{"a":"\n"}', 'unexpected character at line 1, column 7'],
  ])('is JSON, unlike %j [T651]', (text, position) =>
    expect(refusalOf(text)).toEqual(refused(`the body must be JSON: ${position}`)),
  );

  it.each(['null', '[]', '[{}]', '"text"', '1'])('is an object, unlike %s', (text) => {
    expect(refusalOf(text)).toEqual(refused('the body must be a JSON object'));
    expect(refusalOf(text, true)).toEqual(refused('the plaintext of the JWE must be a JSON object'));
  });

  it.each([
    '{"a":1,"a":1}',
    '{"a" : 1 , "b":{}, "a"\n:\t2}',
    '{"a":1,"\\u0061":2}',
    '{"proofs":{"jwt":["x"]},"b":"}","proofs":null}',
    '{"b":[{"c":"\\"}"}],"a":"\\\\","a":{}}',
    '{"__proto__":1,"__proto__":2}',
    '{"":1,"":2}',
  ])('repeats no member, unlike %s [T474]', (text) => {
    expect(refusalOf(text)).toEqual(refused('the body must not repeat a member'));
    expect(refusalOf(text, true)).toEqual(refused('the plaintext of the JWE must not repeat a member'));
  });

  it.each([
    '{}',
    ' {"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]} ',
    '{"a":"\\"a\\":1,\\"a\\":2","b":"{","c":"}{\\\\"}',
    '{"a":["a","a"],"b":"a","c":":"}',
    '{"__proto__":1,"constructor":2,"toString":3}',
  ])('may have the same name in other places: %s [T474]', (text) => {
    expect(refusalOf(text)).toEqual(JSON.parse(text));
  });

  it('is read in one pass, however long and deep it is', () => {
    const long = `{"a":"${'x\\"{'.repeat(100_000)}","b":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`;
    expect(Object.keys(refusalOf(long) as object)).toEqual(['a', 'b']);
    const names = Array.from({ length: 50_000 }, (_, n) => `"${n}":1`);
    expect(refusalOf(`{${[...names, '"7":1'].join()}}`)).toEqual(refused('the body must not repeat a member'));
  });
});
