import { documentSizeFault, jsonBytes, MAX_DOCUMENT_BYTES } from './document-size.decisions.js';

const FAULT =
  'a credential that is persisted or delivered to a webhook must be at most 384 KiB, of which 16 KiB are beside its claims';

describe('the size of a credential that is kept, by its claims', () => {
  const left = MAX_DOCUMENT_BYTES - 16 * 1024;
  const ofJson = (bytes: number) => ({ x: 'x'.repeat(bytes - jsonBytes({ x: '' })) });

  it('is that of their base64url, if the format has no other [T587]', () => {
    expect(documentSizeFault({}, ofJson((left / 4) * 3))).toBeUndefined();
    expect(documentSizeFault({}, ofJson((left / 4) * 3 + 1))).toBe(FAULT);
  });

  it('is that of the format otherwise [T587]', () => {
    const format = { documentBytesOf: jsonBytes };
    expect(documentSizeFault(format, ofJson(left))).toBeUndefined();
    expect(documentSizeFault(format, ofJson(left + 1))).toBe(FAULT);
  });
});
