import { setImmediate as turn } from 'node:timers/promises';
import type { IdentifiedCaller } from '../auth/authenticate.js';
import { exchangeOf, replyOf } from './exchange.spec-fixture.js';
import { reserveCall } from './reserve-call.js';

const inFlight = () => {
  const keys: string[] = [];
  let released = 0;
  const reserve = (key: string) => {
    keys.push(key);
    return () => void released++;
  };
  return { keys, released: () => released, used: { callsInFlight: { reserve } as never } };
};
const CLIENT: IdentifiedCaller = { kind: 'client', clientId: 'c', roles: [] } as never;
const management = { api: 'management' as const, publicUrl: 'https://m.example' };

describe('a call with credentials in flight', () => {
  it.each([
    ['tenant', {}, CLIENT, 't1'],
    ['members, whose share is not that of its clients', {}, { kind: 'user', userId: 'u', roles: [] }, 'members:t1'],
    ['management client', { host: management }, { kind: 'management', clientId: 'm' }, 'm'],
    ['user', { host: management }, { kind: 'user', userId: 'u' }, 'user:u'],
  ] as [string, object, IdentifiedCaller, string][])('is one of its %s', (_, known, caller, key) => {
    const { keys, used } = inFlight();
    reserveCall(exchangeOf({}, {}, { ...known, caller }), used);
    expect(keys).toEqual([key]);
  });

  it.each(['finish', 'close'])('ends at the event %s of the response', async (event) => {
    const { released, used } = inFlight();
    const exchange = exchangeOf({}, {}, { caller: CLIENT });
    reserveCall(exchange, used);
    await turn();
    expect(released()).toBe(0);
    replyOf(exchange).raw.emit(event);
    await turn();
    expect(released()).toBe(1);
  });

  it.each([true, false])(
    'of a client that disconnected ends with the work of the service (fails: %s)',
    async (fails) => {
      const { released, used } = inFlight();
      const exchange = exchangeOf({}, {}, { caller: CLIENT });
      reserveCall(exchange, used);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      exchange.work = promise;
      replyOf(exchange).raw.emit('close');
      await turn();
      expect(released()).toBe(0);
      if (fails) reject(new Error('x'));
      else resolve();
      await turn();
      expect(released()).toBe(1);
    },
  );
});
