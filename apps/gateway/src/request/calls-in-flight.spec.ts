import { AppError } from '@attestry/contracts';
import { Metrics, parseConfig } from '@attestry/service-kit';
import { CallsInFlight } from './calls-in-flight.js';

const metrics = new Metrics('gateway');
const calls = (most?: string) =>
  new CallsInFlight(
    parseConfig({ DATA_DIR: 'unused', ...(most !== undefined && { MAX_CALLS_IN_FLIGHT: most }) }),
    metrics,
  );
const refusalOf = (work: () => unknown): AppError => {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return error;
  }
  throw new Error('it was not refused');
};

describe('calls with an access token in flight', () => {
  it('are at most 64 of a tenant, without effect on other tenants [T552]', () => {
    const inFlight = calls();
    for (let n = 0; n < 64; n++) inFlight.reserve('t1');
    const { kind, headers, message } = refusalOf(() => inFlight.reserve('t1'));
    expect([kind, headers, message]).toEqual([
      'tooManyRequests',
      { 'retry-after': '1' },
      'Too many calls with access tokens in flight',
    ]);
    expect(() => inFlight.reserve('t2')).not.toThrow();
  });

  it('are released once each, and a refused one reserves nothing [T552]', () => {
    const inFlight = calls('2');
    const [first, second] = [inFlight.reserve('t1'), inFlight.reserve('t1')];
    refusalOf(() => inFlight.reserve('t1'));
    first();
    first();
    const third = inFlight.reserve('t1');
    refusalOf(() => inFlight.reserve('t1'));
    second();
    third();
    for (let n = 0; n < 2; n++) inFlight.reserve('t1');
    refusalOf(() => inFlight.reserve('t1'));
  });

  it('that are refused are counted [T552]', async () => {
    expect(await metrics.text()).toContain('attestry_http_refused_total{reason="calls-in-flight"}');
  });
});
