import { createHmac, randomBytes } from 'node:crypto';
import { hmac, hmacKey } from './stored-macs.js';

describe('HMAC-SHA256 of two one-shot hashes', () => {
  const pepper = randomBytes(32);
  const key = hmacKey(pepper);
  const expected = (text: string) => createHmac('sha256', pepper).update(text).digest('base64url');

  it.each([0, 1, 55, 56, 64, 1000, 1018, 1019, 1020, 1021, 1024, 5000])(
    'returns the bytes of Hmac for a secret of %d bytes, in any order of calls',
    (length) => {
      const secret = 'x'.repeat(length);
      expect(hmac(key, secret, undefined)).toBe(expected(`-:${secret}`));
      expect(hmac(key, secret, 'offer-1')).toBe(expected(`7:offer-1${secret}`));
      expect(hmac(key, 'ä 漢 🙂', '')).toBe(expected('0:ä 漢 🙂'));
    },
  );

  it('encodes text as UTF-8 and counts the context in UTF-16 units, as stored MACs do', () => {
    expect(hmac(key, 'ß'.repeat(600), '🙂')).toBe(expected(`2:🙂${'ß'.repeat(600)}`));
  });
});
