import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { readForm } from './read-form.js';

const read = (body: string | Buffer) => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return readForm(Object.assign(Readable.from([Buffer.from(body)]), { headers }) as unknown as IncomingMessage);
};

/** A form of which the first half arrived when the error occurred. */
const readHalf = (code: string) => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = Object.assign(new Readable({ read: () => undefined, autoDestroy: false }), { headers });
  body.push('name=Z');
  setImmediate(() => body.emit('error', Object.assign(new Error(code), { code })));
  return readForm(body as unknown as IncomingMessage);
};

describe('a posted form', () => {
  it('has the fields that were sent', async () => {
    expect(await read('name=Zo%C3%AB&share=100%')).toEqual({ status: 200, fields: { name: 'Zoë', share: '100%' } });
  });

  it('that takes too long to arrive is a 408', async () => {
    expect(await readHalf('ERR_HTTP_REQUEST_TIMEOUT')).toEqual({ status: 408 });
  });

  it('of a client that disconnected is ignored', async () => {
    expect(await readHalf('ECONNRESET')).toBeUndefined();
  });

  it('that cannot be read for another reason fails', async () => {
    await expect(readHalf('EIO')).rejects.toThrow('EIO');
  });

  it.each([Buffer.from([0x61, 0x3d, 0xff]), 'a=%ff', 'a=%C3%28', '%ed%a0%80=1', 'a=1&a=2'])(
    'that is ambiguous is a 400: %s',
    async (body) => {
      expect(await read(body)).toEqual({ status: 400 });
    },
  );
});
