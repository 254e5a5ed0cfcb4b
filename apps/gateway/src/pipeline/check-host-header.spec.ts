import { checkHostHeader } from './check-host-header.js';
import { errorOf, EXCEEDED, exchangeOf, ratesOf } from './exchange.spec-fixture.js';

const twoHosts = () => {
  const exchange = exchangeOf();
  exchange.request.raw.rawHeaders.push('Host', 'b.example');
  return exchange;
};

describe('the host of a request', () => {
  it('that is named once is accepted synchronously', () => {
    const { rates, calls } = ratesOf();
    expect(checkHostHeader(exchangeOf(), { rates })).toBeUndefined();
    expect(calls).toEqual([]);
  });

  it('that is named twice is a 400, counted as a public call', async () => {
    const { rates, calls } = ratesOf();
    const error = await errorOf(() => checkHostHeader(twoHosts(), { rates }));
    expect(error).toMatchObject({ kind: 'invalid', details: [{ param: 'Host', location: 'headers' }] });
    expect(calls).toHaveLength(1);
    expect((await errorOf(() => checkHostHeader(twoHosts(), ratesOf(EXCEEDED)))).kind).toBe('tooManyRequests');
  });

  it('must equal that of the target as it was sent', async () => {
    const exchange = exchangeOf({ url: 'https://b.example/v1/things/7' });
    expect((await errorOf(() => checkHostHeader(exchange, ratesOf()))).kind).toBe('invalid');
  });

  it('that is forwarded is used only from a trusted proxy', async () => {
    const forwarded = (isForwarded: boolean) => {
      const exchange = exchangeOf({}, {}, { isForwarded });
      exchange.request.raw.rawHeaders.push('X-Forwarded-Host', 'a.example, b.example');
      return () => checkHostHeader(exchange, ratesOf());
    };
    expect(forwarded(false)()).toBeUndefined();
    expect((await errorOf(forwarded(true))).kind).toBe('invalid');
  });
});
