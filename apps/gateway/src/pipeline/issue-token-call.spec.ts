import { exchangeOf } from './exchange.spec-fixture.js';
import { issueTokenCall } from './issue-token-call.js';

const servicesOf = () => {
  const calls: unknown[][] = [];
  const call = async ({ name }: { name: string }, ...more: unknown[]) => {
    calls.push([name, ...more]);
    return { name };
  };
  return { calls, services: { call } as never };
};
const host = { api: 'auth' as const, publicUrl: 'https://auth.example' };

describe('a token call', () => {
  it('without a subject is sent to the service as it is', async () => {
    const { calls, services } = servicesOf();
    const exchange = exchangeOf({}, {}, { host, checked: { body: { a: 1 }, params: {}, query: {} } });
    await issueTokenCall(exchange, { services });
    expect(calls).toEqual([['dids.list-dids', exchange.checked, exchange.context, true]]);
    expect(exchange.result).toEqual({ name: 'dids.list-dids' });
  });

  it.each([{}, { grantId: 'g' }])(
    'with a subject asks for the token of a member, by the gateway itself: %j',
    async (grant) => {
      const { calls, services } = servicesOf();
      const subject = { userId: 'u', expiresAt: 7999, audience: 'acme.example', ...grant };
      const exchange = exchangeOf({}, {}, { host, subject });
      await issueTokenCall(exchange, { services });
      const body = { userId: 'u', audience: 'acme.example', publicUrl: 'https://auth.example', subjectExpiresAt: 7 };
      const { requestId, operation, deadline } = exchange.context;
      expect(calls).toEqual([
        ['management.issue-member-token', { body: { ...body, ...grant } }, { requestId, operation, deadline }],
      ]);
      expect([exchange.result, await exchange.work]).toEqual(Array(2).fill({ name: 'management.issue-member-token' }));
    },
  );
});
