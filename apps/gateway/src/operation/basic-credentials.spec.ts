import { errorOf } from '../pipeline/exchange.spec-fixture.js';
import { hasBasicScheme, withBasicCredentials } from './basic-credentials.js';

const basic = (text: string | Uint8Array) => `Basic ${Buffer.from(text as string).toString('base64')}`;
const grant = { grant_type: 'client_credentials' };
const own = { client_id: 'id', client_secret: 'secret' };

describe('client credentials in the Authorization header (RFC 6749 section 2.3.1)', () => {
  it.each([
    [basic('id:secret'), own],
    [basic('id:secret').replace('Basic ', 'bAsIc   '), own],
    [basic('id:a:b'), { client_id: 'id', client_secret: 'a:b' }],
    [basic('a%3Ab+c:%2B%25%C3%A9'), { client_id: 'a:b c', client_secret: '+%é' }],
    [basic('é:ü'), { client_id: 'é', client_secret: 'ü' }],
  ])('%s become members of the body', (header, expected) => {
    expect(withBasicCredentials(grant, header)).toEqual({ ...grant, ...expected });
  });

  it.each([
    'Basic',
    'Basic ',
    'Basic !!!!',
    'Basic aWQ6c2VjcmV0 x',
    'Basic aWQ6c2VjcmV0, Bearer x',
    basic('id'),
    basic(':secret'),
    basic('id:'),
    basic('id:100%'),
    basic('id:%ff'),
    basic('%zz:secret'),
    basic(Uint8Array.from([0x69, 0x3a, 0xff])),
  ])('that are malformed cause invalid_request: %s', async (header) => {
    const error = await errorOf(() => withBasicCredentials(grant, header));
    expect([error.kind, error.code]).toEqual(['invalid', 'invalid_request']);
    expect(error.message).toMatch(/^Basic credentials must be/);
  });

  it.each([
    { client_secret: 'secret' },
    { client_secret: 'other' },
    { client_id: 'other' },
    { client_id: ['id', 'id'] },
    { client_id: 'id', client_secret: 'secret' },
    { client_secret: ['', ''] },
  ])('together with others in the body cause invalid_request: %j', async (body) => {
    const error = await errorOf(() => withBasicCredentials({ ...grant, ...body }, basic('id:secret')));
    expect([error.code, error.message]).toEqual([
      'invalid_request',
      'Client credentials must be either in the Authorization header or in the body',
    ]);
  });

  it.each([{ client_id: 'id' }, { client_id: '', client_secret: '' }, { client_id: null, client_secret: undefined }])(
    'are allowed together with the same client id and empty members: %j',
    (body) => {
      expect(withBasicCredentials(body, basic('id:secret'))).toEqual(own);
    },
  );

  it.each([undefined, '', 'Bearer x', 'Basicx', 'DPoP x'])('of another scheme are not read: %s', (header) => {
    expect(hasBasicScheme(header)).toBe(false);
    expect(withBasicCredentials(grant, header)).toBe(grant);
  });

  it.each([[null], [['x']], ['x']])('do not change a body that is not an object: %j', (body) => {
    expect(withBasicCredentials(body, basic('id:secret'))).toBe(body);
  });

  it('of any length are read in linear time', async () => {
    const start = process.threadCpuUsage();
    for (const text of [':'.repeat(1e6), 'a'.repeat(1e6), `a:${'%41'.repeat(3e5)}`, `a:${'+'.repeat(1e6)}%`])
      await errorOf(() => withBasicCredentials({ client_secret: 'x' }, basic(text)));
    await errorOf(() => withBasicCredentials(grant, `Basic ${' '.repeat(1e6)}!`));
    const { user, system } = process.threadCpuUsage(start);
    expect((user + system) / 1000).toBeLessThan(1000);
  });
});
