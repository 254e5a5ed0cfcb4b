import { AppError, MAX_BODY_BYTES } from '@attestry/contracts';
import { errorOf, exchangeOf, replyOf, unread } from './exchange.spec-fixture.js';
import { limitInFlight } from './limit-in-flight.js';

const shape = { errors: 'oauth' as const, corsHeaders: {} };
const routes = { expectedShape: () => shape } as never;
const inFlightOf = (taken: unknown[]) => {
  let released = 0;
  const reserve = (...args: unknown[]) => {
    taken.push(args);
    return { add: () => undefined, release: () => void released++ };
  };
  return { inFlight: { reserve } as never, released: () => released };
};
const full = {
  reserve: () => {
    throw new AppError('tooManyRequests', 'Too many requests of this address in flight');
  },
} as never;

describe('requests in flight', () => {
  it.each([
    [{ 'content-length': '7' }, 7],
    [{}, 0],
    [{ 'transfer-encoding': 'chunked' }, 0],
    [{ 'content-length': String(MAX_BODY_BYTES) }, MAX_BODY_BYTES],
    // A 413, and not read.
    [{ 'content-length': String(MAX_BODY_BYTES + 1) }, 0],
  ])('reserve the length that the headers declare: %j', async (headers, bytes) => {
    const taken: unknown[] = [];
    await limitInFlight(exchangeOf({ headers }), { ...inFlightOf(taken), routes, unread });
    expect(taken).toEqual([['192.0.2.1', bytes]]);
  });

  it.each(['finish', 'close'])('are released at the event %s of the response', async (event) => {
    const { inFlight, released } = inFlightOf([]);
    const exchange = exchangeOf();
    await limitInFlight(exchange, { inFlight, routes, unread });
    expect([exchange.inFlight === undefined, released()]).toEqual([false, 0]);
    replyOf(exchange).raw.emit(event);
    expect(released()).toBe(1);
  });

  it.each([
    [{}, undefined],
    [{ 'content-length': '1' }, 'close'],
    [{ 'transfer-encoding': 'chunked' }, 'close'],
  ])(
    'over the limit are a 429 in the shape of the route, and a body is not read, with the headers %j',
    async (headers, connection) => {
      const exchange = exchangeOf({ headers });
      const error = await errorOf(() => limitInFlight(exchange, { inFlight: full, routes, unread }));
      expect([error.kind, exchange.shape]).toEqual(['tooManyRequests', shape]);
      expect(replyOf(exchange).kept['connection']).toBe(connection);
      expect(replyOf(exchange).raw.listenerCount('close')).toBe(0);
    },
  );

  it('of an address that does not read its answers are a 429, in the shape of the route', async () => {
    const exchange = exchangeOf();
    const over = {
      mayBeOver: true,
      check: async (address: string) => {
        throw new AppError('tooManyRequests', `unread by ${address}`);
      },
    } as never;
    const error = await errorOf(() => limitInFlight(exchange, { ...inFlightOf([]), routes, unread: over }));
    expect([error.kind, error.message, exchange.shape]).toEqual(['tooManyRequests', 'unread by 192.0.2.1', shape]);
  });
});
