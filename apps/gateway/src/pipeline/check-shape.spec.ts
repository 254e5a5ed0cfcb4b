import { ReleaseIssuerKeyRequest } from '@attestry/contracts';
import { checkShape } from './check-shape.js';
import { errorOf, exchangeOf } from './exchange.spec-fixture.js';

const ID = '11111111-1111-4111-8111-111111111111';
const body = { tenantId: ID, did: 'did:web:a.example', configurationId: ID };
const http = { method: 'POST' as const, path: '/x', success: 200 };
const headers = { 'content-type': 'application/json' };
const exchangeWith = (content: object) =>
  exchangeOf({ method: 'POST', headers, body: JSON.stringify(content) }, { http, body: ReleaseIssuerKeyRequest });

describe('the shape of a request', () => {
  it('is that of its operation, without unknown members, frozen', () => {
    const exchange = exchangeWith({ ...body, other: 1 });
    checkShape(exchange);
    expect(exchange.checked).toEqual({ params: {}, query: {}, body });
    expect([Object.isFrozen(exchange.checked), Object.isFrozen(exchange.checked?.body)]).toEqual([true, true]);
  });

  it('is checked on the request that was read for START', () => {
    const exchange = exchangeOf({}, { http, body: ReleaseIssuerKeyRequest }, { sent: { params: {}, query: {}, body } });
    checkShape(exchange);
    expect(exchange.checked?.body).toEqual(body);
  });

  it('is refused with one detail per fault', async () => {
    const error = await errorOf(() => checkShape(exchangeWith({ did: 'x' })));
    expect(error.details?.map(({ param }) => param)).toEqual(['tenantId', 'did', 'configurationId']);
  });
});
