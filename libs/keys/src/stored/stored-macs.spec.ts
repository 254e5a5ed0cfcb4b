import { createHmac, randomBytes } from 'node:crypto';
import { MasterKeys } from './master-keys.js';
import { hmac, hmacKey, StoredMacs } from './stored-macs.js';

describe('HMAC-SHA256 of two one-shot hashes', () => {
  const hex = (key: Uint8Array, text: string) => Buffer.from(hmac(hmacKey(key), text), 'base64url').toString('hex');
  const long = 'This is a test using a larger than block-size key and a larger than block-size data. ';

  // Test cases 3 and 4 have data that is not text.
  it.each([
    [1, Buffer.alloc(20, 0x0b), 'Hi There', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
    [
      2,
      Buffer.from('Jefe'),
      'what do ya want for nothing?',
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    ],
    [5, Buffer.alloc(20, 0x0c), 'Test With Truncation', 'a3b6167473100ee06e0c796c2955552b'],
    [
      6,
      Buffer.alloc(131, 0xaa),
      'Test Using Larger Than Block-Size Key - Hash Key First',
      '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
    ],
    [
      7,
      Buffer.alloc(131, 0xaa),
      `${long}The key needs to be hashed before being used by the HMAC algorithm.`,
      '9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2',
    ],
  ])('returns the result of RFC 4231, test case %d', (_case, key, text, expected) => {
    expect(hex(key, text).slice(0, expected.length)).toBe(expected);
  });

  it.each([0, 1, 32, 63, 64, 65, 200])('returns the bytes of Hmac for a key of %d bytes', (length) => {
    const key = randomBytes(length);
    expect(hex(key, 'text')).toBe(createHmac('sha256', key).update('text').digest('hex'));
  });
});

describe('a stored MAC', () => {
  const pepper = randomBytes(32);
  const masterKeys = new MasterKeys({ current: { version: 1, key: randomBytes(32) } });
  const macs = new StoredMacs(masterKeys);
  macs.usePeppers([masterKeys.wrap('pepper', 'p1', pepper)]);
  const expected = (text: string) => createHmac('sha256', pepper).update(text).digest('base64url');

  it.each([0, 1, 55, 56, 64, 1000, 1018, 1019, 1020, 1021, 1022, 1024, 5000])(
    'is that of Hmac for a secret of %d bytes, in any order of calls',
    (length) => {
      const secret = 'x'.repeat(length);
      expect(macs.mac(secret)).toEqual({ pepper: 'p1', mac: expected(`-:${secret}`) });
      expect(macs.mac(secret, 'offer-1').mac).toBe(expected(`7:offer-1${secret}`));
      expect(macs.mac('ä 漢 🙂', '').mac).toBe(expected('0:ä 漢 🙂'));
    },
  );

  it('is of text in UTF-8, with the length of the context in UTF-16 units', () => {
    expect(macs.mac('ß'.repeat(600), '🙂').mac).toBe(expected(`2:🙂${'ß'.repeat(600)}`));
  });
});
