import { notFound, ReleaseIssuerKeyRequest } from '@attestry/contracts';
import { errorOf, exchangeOf, RECORDED, recordsOf } from './exchange.spec-fixture.js';
import { runCall } from './run-call.js';

const ID = '11111111-1111-4111-8111-111111111111';
const body = { tenantId: ID, did: 'did:web:a.example', configurationId: ID };
const run = async (call: () => Promise<unknown>, sent: object = body, declared: object = RECORDED) => {
  const { plan, context } = exchangeOf({}, { body: ReleaseIssuerKeyRequest, ...declared });
  const { records, logged, used } = recordsOf();
  const deps = { ...(used as object), services: { call } } as never;
  const running = runCall({ plan, context, sent: { params: {}, query: {}, body: sent } }, deps);
  const result: unknown = await running.catch((error: unknown) => error);
  return { result, outcomes: records.map(([, { outcome }]) => outcome), logged, running };
};

describe('a call without an HTTP request', () => {
  it('is checked and recorded', async () => {
    expect(await run(async () => 'done')).toMatchObject({ result: 'done', outcomes: ['SUCCESS'], logged: [] });
  });

  it('that is refused is recorded as failed', async () => {
    const { running, outcomes, logged } = await run(() => Promise.reject(notFound()));
    expect([(await errorOf(() => running)).kind, outcomes, logged]).toEqual(['notFound', ['FAIL'], []]);
  });

  it('with an invalid shape is not sent', async () => {
    let sent = 0;
    const { running, outcomes } = await run(async () => ++sent, {});
    expect([(await errorOf(() => running)).kind, outcomes, sent]).toEqual(['invalid', ['FAIL'], 0]);
  });

  it('that fails unexpectedly is an internal error without its text, and logged', async () => {
    const { running, logged } = await run(() => Promise.reject(new Error('canary')));
    expect(await errorOf(() => running)).toMatchObject({ kind: 'internal', message: 'Internal error' });
    expect(logged).toEqual([[{ requestId: 'r1', error: 'Error: canary' }, 'request failed']]);
  });

  it('is not recorded when the service does', async () => {
    expect((await run(async () => 'done', body, {})).outcomes).toEqual([]);
  });
});
