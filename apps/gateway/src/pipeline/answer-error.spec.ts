import {
  AppError,
  invalidBody,
  invalidToken,
  notFound,
  oauthError,
  unauthenticated,
  unavailable,
} from '@attestry/contracts';
import { answerError } from './answer-error.js';
import {
  EXCEEDED,
  exchangeOf,
  rate,
  ratesOf,
  RECORD,
  RECORDED,
  recordsOf,
  replyOf,
  unread,
} from './exchange.spec-fixture.js';

const TOKEN_CALL = { rate: 'client-token' as const, errors: 'oauth' as const };
const answered = async (error: unknown, exchange = exchangeOf({}, RECORDED)) => {
  const { rates, calls } = ratesOf();
  const { used, records, logged, refused } = recordsOf();
  await answerError(exchange, { ...(used as object), rates, health: { isClosing: false }, unread } as never, error);
  return { reply: replyOf(exchange), calls, logged, refused, records };
};
const received = () => exchangeOf({}, RECORDED, { context: undefined, plan: undefined });

describe('an error of a step', () => {
  it('is rendered in the shape of the route', async () => {
    const exchange = exchangeOf({}, RECORDED, { shape: { errors: 'management', corsHeaders: { cors: '*' } } });
    const { reply, records, logged } = await answered(notFound(), exchange);
    expect([reply.status, records.length, logged]).toEqual([404, 1, []]);
    expect(reply.kept).toMatchObject({ 'cache-control': 'no-store', cors: '*', 'x-ratelimit-remaining': 10 });
    expect(JSON.parse(reply.sent[0] as string)).toMatchObject({ code: 'NotFound', type: 'NotFoundError' });
  });

  it('keeps its own headers and the limit that it was counted against', async () => {
    const error = unauthenticated();
    const { reply } = await answered(error, exchangeOf({}, {}, { rate: rate({ remaining: 3 }) }));
    expect(reply.kept).toMatchObject({ 'www-authenticate': 'Bearer', 'x-ratelimit-remaining': 3 });
  });
});

describe('the log line of a refusal [T658]', () => {
  const fault = invalidBody('name', 'must not be ada@example.com');
  const asked = { body: { value: { name: 'ada@example.com' } } };
  const line = { requestId: 'r1', operation: 'dids.list-dids', tenantId: 't1', code: 'BadRequest' };

  it('has member and reason, and no value of the request', async () => {
    const { refused } = await answered(fault, exchangeOf({}, RECORDED, asked));
    expect(refused).toEqual([['info', { ...line, member: 'name', reason: 'must not be ***' }, 'operation refused']]);
  });

  it('is of level debug where the caller is not known', async () => {
    const { refused } = await answered(unauthenticated(), exchangeOf({}, RECORDED, { context: undefined }));
    const reason = 'The request has no access token';
    expect(refused).toEqual([['debug', { ...line, code: 'Unauthorized', reason }, 'operation refused']]);
  });

  it('of a check of the token is of level info, as the operator chose its provider [T765]', async () => {
    const refusal = invalidToken('The access token has no claim sub', 'check-user-token');
    const { refused } = await answered(refusal, exchangeOf({}, RECORDED, { context: undefined }));
    const fields = { code: 'Unauthorized', check: 'check-user-token', reason: refusal.message };
    expect(refused).toEqual([['info', { ...line, ...fields }, 'operation refused']]);
  });

  it('is left to the service that refused, and is not written for what anyone may cause', async () => {
    const called = exchangeOf({}, RECORDED, { ...asked, checked: { params: {}, query: {}, body: {} } });
    for (const { refused } of [
      await answered(fault, called),
      await answered(notFound(), received()),
      await answered(new AppError('tooManyRequests', 'x')),
      await answered(new Error('canary')),
    ])
      expect(refused).toEqual([]);
  });
});

describe('a 503', () => {
  const cause = new Error('op.dids.create-did: disconnected');

  it('whose cause is in this process leaves one line, also where START could not be written [T527]', async () => {
    const { reply, logged } = await answered(unavailable('Service temporarily unavailable', cause));
    expect(reply.status).toBe(503);
    const fields = { requestId: expect.any(String), operation: expect.any(String), reason: cause.message };
    expect(logged).toEqual([[expect.objectContaining(fields), 'service unavailable']]);
    const early = await answered(unavailable('Service temporarily unavailable', cause), received());
    expect(early.logged).toEqual([[{ requestId: expect.any(String), reason: cause.message }, 'service unavailable']]);
  });

  it('of a service, which has logged it, leaves none here', async () => {
    expect((await answered(unavailable())).logged).toEqual([]);
  });
});

describe('an error of an admitted call', () => {
  const started = (hasOutcome: boolean) =>
    exchangeOf({}, RECORDED, { recorded: { startedAt: '2026-01-01T00:00:00.000Z', hasOutcome } });

  it.each([
    [{ status: 404, code: 'NotFound', message: 'Resource Not Found' }, notFound()],
    [{ status: 500, code: 'InternalError', message: 'Internal error' }, new Error('canary')],
  ])('is recorded once as FAIL with %j', async (recorded, error) => {
    const exchange = started(false);
    const { records } = await answered(error, exchange);
    expect(records).toEqual([['add', expect.objectContaining({ outcome: 'FAIL', metadata: { error: recorded } })]]);
    expect((await answered(error, exchange)).records).toEqual([]);
  });

  it('is not recorded after SUCCESS', async () => {
    const { reply, records } = await answered(new Error('canary'), started(true));
    expect([reply.status, records]).toEqual([500, []]);
  });
});

describe('a body that cannot be read', () => {
  const tooLong = Object.assign(new Error('too long'), { code: 'FST_ERR_CTP_BODY_TOO_LARGE' });

  it('is recorded as a call of its operation', async () => {
    const { reply, records, logged } = await answered(tooLong);
    const failure = {
      status: 413,
      code: 'PayloadTooLarge',
      message: 'Payload Too Large: the body must have at most 1048576 bytes',
    };
    const record = { ...RECORD, outcome: 'FAIL', metadata: { error: failure } };
    expect([reply.status, records, logged]).toEqual([413, [['add', record]], []]);
  });

  it('of a request that was not admitted is not recorded', async () => {
    expect((await answered(tooLong, received())).records).toEqual([]);
  });
});

describe('a caller over its limit', () => {
  it('is refused before its role is checked: the call is not recorded', async () => {
    const exchange = exchangeOf({}, RECORDED, { context: undefined, rate: EXCEEDED });
    const { records, reply } = await answered(new AppError('tooManyRequests', 'Too Many Requests'), exchange);
    expect([reply.status, records]).toEqual([429, []]);
  });
});

describe('an unexpected error', () => {
  it('is a 500 without its text, and logged', async () => {
    const error = new Error('canary');
    const { reply, logged } = await answered(error, received());
    expect([reply.status, logged]).toEqual([500, [[{ requestId: 'r1', error: error.stack }, 'request failed']]]);
    expect(String(reply.sent[0])).not.toContain('canary');
  });

  it('of a service is not logged twice', async () => {
    expect((await answered(new AppError('internal', 'Internal error'))).logged).toEqual([]);
  });
});

const denied = () => oauthError('access_denied', 'Unauthorized');

describe('a failed token call', () => {
  it.each([
    ['access_denied', 1, denied()],
    ['tooLarge', 1, new AppError('tooLarge', 'x')],
    ['tooManyRequests', 0, new AppError('tooManyRequests', 'x')],
    ['unavailable', 0, new AppError('unavailable', 'x')],
  ])('with the error %s counts %i times against its address', async (_error, count, error) => {
    const { calls } = await answered(error, exchangeOf({}, TOKEN_CALL));
    expect(calls).toEqual(count ? [['countTokenFailure', '192.0.2.1']] : []);
  });

  it.each([
    ['Basic YTpi', 'access_denied', 'Basic realm="oauth", charset="UTF-8"', denied()],
    ['Basic YTpi', 'invalid', undefined, new AppError('invalid', 'x')],
    ['Bearer x', 'access_denied', undefined, denied()],
    [undefined, 'access_denied', undefined, denied()],
  ])('with Authorization %s and the error %s has the challenge %s', async (authorization, _error, expected, error) => {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const { reply } = await answered(error, exchangeOf({ headers }, TOKEN_CALL));
    expect(reply.kept['www-authenticate']).toBe(expected);
  });

  it('that was not admitted, and a failed call of another kind, do not count', async () => {
    const refused = exchangeOf({}, TOKEN_CALL, { context: undefined });
    expect((await answered(denied(), refused)).calls).toEqual([]);
    expect((await answered(denied())).calls).toEqual([]);
  });
});
