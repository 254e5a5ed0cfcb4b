import { Readable } from 'node:stream';
import { exchangeOf, rate, replyOf, unread } from './exchange.spec-fixture.js';
import { sendAnswer } from './send-answer.js';

const health = { isClosing: false } as never;
const sent = (exchange: ReturnType<typeof exchangeOf>, used = health) => {
  sendAnswer(exchange, { health: used, unread }, { status: 200, headers: { a: 'b' }, body: 'x' });
  return replyOf(exchange);
};

describe('an answer', () => {
  it('has status, headers, body and the request id', () => {
    const { status, kept, sent: bodies } = sent(exchangeOf());
    expect([status, kept, bodies]).toEqual([200, { a: 'b', 'x-request-id': 'r1' }, ['x']]);
  });

  it('names the limit that it was counted against', () => {
    const state = rate();
    expect(sent(exchangeOf({}, {}, { rate: state })).kept).toMatchObject({
      'x-ratelimit-limit': state.limit,
      'x-ratelimit-remaining': state.remaining,
      'x-ratelimit-reset': state.reset,
    });
  });

  it('closes the connection while the process drains', () => {
    expect(sent(exchangeOf(), { isClosing: true } as never).kept['connection']).toBe('close');
  });

  it('names the preference that was applied (RFC 7240)', () => {
    expect(sent(exchangeOf({}, {}, { isLenient: true })).kept['preference-applied']).toBe('handling=lenient');
    expect(sent(exchangeOf({}, {}, { isLenient: false })).kept).not.toHaveProperty('preference-applied');
  });

  it('announces a deprecated operation', () => {
    const deprecated = { since: '2026-01-01T00:00:00Z', link: '/docs' };
    expect(sent(exchangeOf({}, { deprecated })).kept['deprecation']).toBe('@1767225600');
  });

  it.each([
    ['GET', 'ä', 2],
    ['GET', Buffer.alloc(7), 7],
    ['GET', undefined, 0],
    ['GET', Readable.from(['later']), 0],
    ['HEAD', 'text', 0],
  ])('is counted as unread by its address before it is sent: %s', (method, body, bytes) => {
    const exchange = exchangeOf({ method });
    const counted: unknown[] = [];
    const add = (...args: unknown[]) => counted.push([...args, replyOf(exchange).sent.length]);
    sendAnswer(exchange, { health, unread: { add } as never }, { status: 200, headers: {}, ...(body && { body }) });
    expect(counted).toEqual([['192.0.2.1', replyOf(exchange).raw, bytes, 0]]);
  });
});
