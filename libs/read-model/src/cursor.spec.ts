import { createHmac } from 'node:crypto';
import { CursorCodec, InvalidCursor } from './cursor.js';

const mac = (text: string) => createHmac('sha256', 'key').update(text).digest('base64url');
const codec = new CursorCodec({ mac, scope: 'tenant-1 dids' });
const key = { time: '2026-01-02T03:04:05.678Z', id: 'a~b>?&=é' };

describe('CursorCodec', () => {
  it('returns base64 of the documented text, without padding, safe in a query', () => {
    const cursor = codec.encode(key);
    expect(cursor).toMatch(/^[A-Za-z0-9]+$/);
    expect(Buffer.from(cursor, 'base64').toString()).toMatch(
      /^createdAt=2026-01-02T03%3A04%3A05\.678Z&id=a%7Eb%3E%3F%26%3D%C3%A9&tag=[\w-]{43}$/,
    );
    expect(codec.decode(cursor)).toEqual(key);
  });

  it('names the time timestamp for analytics, and does not mix the two', () => {
    const analytics = new CursorCodec({ mac, scope: 'tenant-1 dids', timeName: 'timestamp' });
    expect(analytics.decode(analytics.encode(key))).toEqual(key);
    expect(() => codec.decode(analytics.encode(key))).toThrow(InvalidCursor);
  });

  const body = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');
  const signed = (text: string) => body(`${text}&tag=${mac(`tenant-1 dids\n${text}`)}`);
  const whole = codec.encode(key);
  it.each([
    ['empty', ''],
    ['no base64', '***'],
    ['padded', `${whole}=`],
    ['cut', whole.slice(0, -2)],
    ['without tag', body('createdAt=2026-01-02T03%3A04%3A05.678Z&id=a')],
    ['edited', body(Buffer.from(whole, 'base64').toString().replace('05.678', '05.679'))],
    ['of another tenant', new CursorCodec({ mac, scope: 'tenant-2 dids' }).encode(key)],
    ['of another list', new CursorCodec({ mac, scope: 'tenant-1 users' }).encode(key)],
    ['a day that does not exist', signed('createdAt=2026-02-30T00%3A00%3A00.000Z&id=a')],
    ['another spelling of the text', signed('createdAt=2026-01-02T03:04:05.678Z&id=a')],
    ['too long', 'A'.repeat(3000)],
  ])('refuses one that is %s', (_what, cursor) => {
    expect(() => codec.decode(cursor)).toThrow(InvalidCursor);
  });
});
