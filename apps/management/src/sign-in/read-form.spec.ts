import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { readForm } from './read-form.js';

const read = (body: string | Buffer) => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return readForm(Object.assign(Readable.from([Buffer.from(body)]), { headers }) as unknown as IncomingMessage);
};

describe('a posted form', () => {
  it('has the fields that were sent', async () => {
    expect(await read('name=Zo%C3%AB&share=100%')).toEqual({ status: 200, fields: { name: 'Zoë', share: '100%' } });
  });

  it.each([Buffer.from([0x61, 0x3d, 0xff]), 'a=%ff', 'a=%C3%28', '%ed%a0%80=1', 'a=1&a=2'])(
    'that can be read in two ways is a 400: %s',
    async (body) => {
      expect(await read(body)).toEqual({ status: 400 });
    },
  );
});
