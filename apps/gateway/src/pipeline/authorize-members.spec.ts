import { forbidden, type Operation } from '@attestry/contracts';
import { authorizeMembers } from './authorize-members.js';
import { errorOf, exchangeOf, NOW } from './exchange.spec-fixture.js';

const declared: Partial<Operation> = { memberAccess: { permission: 'openid-configuration:update', except: ['own'] } };
const exchangeWith = (body: object) => ({
  ...exchangeOf({}, declared),
  checked: { body, params: {}, query: {} },
});

describe('members of the body with a permission of their own [T418]', () => {
  it('are authorized with that permission', async () => {
    const calls: [Operation, ...unknown[]][] = [];
    const authenticate = { authorize: async (...args: never) => void calls.push(args) } as never;
    for (const body of [{ other: null }, { own: 1, other: false }]) {
      const exchange = exchangeWith(body);
      await authorizeMembers(exchange, { authenticate });
      const [operation, ...rest] = calls.pop()!;
      expect(operation.access).toEqual({
        kind: 'roles',
        permission: 'openid-configuration:update',
        roles: ['admin', 'issuer'],
      });
      expect(rest).toEqual([exchange.host, exchange.caller, NOW + 1000]);
    }
    for (const body of [{}, { own: null }, { own: 1, other: undefined }])
      await authorizeMembers(exchangeWith(body), { authenticate });
    expect(calls).toEqual([]);
  });

  it('that are refused are a 403', async () => {
    const authenticate = { authorize: () => Promise.reject(forbidden('x')) } as never;
    expect((await errorOf(async () => authorizeMembers(exchangeWith({ other: 1 }), { authenticate }))).kind).toBe(
      'forbidden',
    );
  });
});
