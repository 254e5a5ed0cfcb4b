import { AppError } from '@attestry/contracts';
import { anEvent, type UnitOfWork } from '@attestry/event-store';
import { MemoryRateCounter, type RateCounter } from '../engines/rate-counter.js';
import { Metrics } from '../metrics/metrics.js';
import { WrittenBytes } from './written-bytes.js';

const T = '0f8fad5b-d9cb-469f-a165-70867728950e';
const OTHER = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const RATES = { api: 1, walletTenant: 1, walletAddress: 1, public: 1 };

let now: number;
let counter: RateCounter;
const limited = (bytesMinute = 10_000, bytesDay = 1_000_000, overrides = {}, over = counter) =>
  new WrittenBytes(
    { rates: { ...RATES, bytesMinute, bytesDay }, rateOverrides: overrides },
    over,
    new Metrics(undefined),
    () => now,
  );
beforeEach(() => {
  now = 0;
  counter = new MemoryRateCounter(() => now);
});

/** A unit of one event whose data and metadata have so many bytes. */
const unit = (bytes: number, more: { actor?: string; operation?: string; tenantId?: string; kept?: number } = {}) => {
  const { actor = 'client:c', operation = 'issuance.create-user', tenantId = T, kept } = more;
  const event = anEvent();
  const text = { data: 'x'.repeat(bytes - 2), metadata: '{}' };
  const writes = kept === undefined ? [] : [{ kind: 'key' as const, bytes: kept }];
  return {
    writes,
    appends: [
      {
        stream: 'a-1',
        expected: -1,
        events: [{ ...event, text, metadata: { ...event.metadata, actor, operation, tenantId } }],
      },
    ],
  } as unknown as UnitOfWork;
};
const refusalOf = async (admitting: Promise<unknown>) => {
  const error = await admitting.then(
    () => undefined,
    (refused: unknown) => refused as AppError,
  );
  return error && [error.kind, error.message, error.headers?.['retry-after']];
};

describe('bytes that a tenant writes', () => {
  it('are limited in a minute, which another one follows, for each tenant [T582]', async () => {
    const written = limited();
    await written.admit(unit(6_000));
    now = 20_500;
    expect(await refusalOf(written.admit(unit(4_001)))).toEqual([
      'tooManyRequests',
      'The tenant may write at most 10000 bytes in a minute',
      '40',
    ]);
    await written.admit(unit(4_000));
    expect(await refusalOf(written.admit(unit(2)))).toBeDefined();
    expect(() => written.refuse(T, { actor: 'client:c', operation: 'issuance.create-user' })).toThrow(AppError);
    await written.admit(unit(10_000, { tenantId: OTHER }));
    now = 60_001;
    await written.admit(unit(10_000));
  });

  it('are limited in a day [T582]', async () => {
    const written = limited(10_000, 25_000);
    for (let minute = 0; minute < 2; minute++, now += 60_001) await written.admit(unit(10_000));
    expect(await refusalOf(written.admit(unit(5_001)))).toEqual([
      'tooManyRequests',
      'The tenant may write at most 25000 bytes in a day',
      String(86_400 - 120),
    ]);
    await written.admit(unit(5_000));
    now = 86_400_001;
    await written.admit(unit(10_000));
  });

  it('have other limits for a tenant that has its own', async () => {
    const written = limited(10_000, 1_000_000, { [T]: { bytesMinute: 20_000 } });
    await written.admit(unit(20_000));
    expect(await refusalOf(written.admit(unit(10_001, { tenantId: OTHER })))).toBeDefined();
  });

  it('include values that are stored with keys, and bytes of UTF-8', async () => {
    const written = limited();
    await written.admit(unit(1_000, { kept: 5_000 }));
    expect(await refusalOf(written.admit(unit(1_000, { kept: 3_001 })))).toBeDefined();
    const wide = unit(10);
    (wide.appends[0].events[0] as { text: object }).text = { data: 'ä'.repeat(2_000), metadata: '{}' };
    expect(await refusalOf(written.admit(wide))).toBeDefined();
    await written.admit(unit(4_000));
  });

  it('of a unit that was refused do not count', async () => {
    const written = limited();
    for (let n = 0; n < 5; n++) written.release(await written.admit(unit(10_000)), { actor: 'client:c' });
    await written.admit(unit(10_000));
    expect(await refusalOf(written.admit(unit(2)))).toBeDefined();
  });

  it('of concurrent appends count before they are stored', async () => {
    const written = limited();
    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => written.admit(unit(3_000))));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  });

  const holder = { actor: 'holder', operation: 'issuance.issue-credential' };

  it('may be a quarter more in a day for wallets, so that a client cannot end the issuance [T583]', async () => {
    const written = limited(10_000, 10_000);
    await written.admit(unit(10_000));
    await written.admit(unit(2_500, holder));
    expect(await refusalOf(written.admit(unit(2, holder)))).toEqual([
      'tooManyRequests',
      'The wallets of the tenant may write at most 10000 bytes in a day',
      '86400',
    ]);
  });

  it('have a window of their own in a minute for wallets, four times as large, in both directions [T583]', async () => {
    const written = limited();
    await written.admit(unit(10_000));
    written.release(await written.admit(unit(40_000, holder)), holder);
    await written.admit(unit(40_000, holder));
    expect(await refusalOf(written.admit(unit(2, holder)))).toEqual([
      'tooManyRequests',
      'The wallets of the tenant may write at most 40000 bytes in a minute',
      '60',
    ]);
    expect(await refusalOf(written.admit(unit(2)))).toBeDefined();
    now = 60_001;
    await written.admit(unit(40_000, holder));
    await written.admit(unit(10_000));
  });

  it.each([
    ['deletions', 'client:c', 'issuance.delete-user'],
    ['revocations', 'client:c', 'issuance.set-credential-status'],
    ['management calls', 'client:c', 'management.create-client'],
  ])('never refuse %s', async (_what, actor, operation) => {
    const written = limited();
    await written.admit(unit(10_000));
    await written.admit(unit(50_000, { actor, operation }));
  });

  it('make own work wait for a moment instead of failing [T584]', async () => {
    const written = limited();
    await written.admit(unit(10_000));
    const begun = performance.now();
    await written.admit(unit(50_000, { actor: 'service:webhooks', operation: 'webhooks.send-deliveries' }));
    expect(performance.now() - begun).toBeGreaterThan(90);
  });

  it('of the platform are not limited', async () => {
    const written = limited();
    for (let n = 0; n < 3; n++) await written.admit(unit(10_000, { tenantId: 'platform' }));
  });

  it('are those of all processes, which share them in portions [T585]', async () => {
    const counts: number[] = [];
    const shared = new MemoryRateCounter(() => now);
    const slow: RateCounter = {
      count: async (key, amount, seconds) => {
        if (key.includes('minute')) counts.push(amount!);
        await Promise.resolve();
        return shared.count(key, amount, seconds);
      },
      peek: (key) => shared.peek(key),
      close: () => shared.close(),
    };
    const limit = 64 * 1024 * 1024;
    const [one, two] = [limited(limit, 2 ** 33, {}, slow), limited(limit, 2 ** 33, {}, slow)];
    let stored = 0;
    for (let n = 0; n < 2_000; n++, now += 1)
      for (const written of [one, two]) if (!(await refusalOf(written.admit(unit(64 * 1024))))) stored += 64 * 1024;
    expect(stored).toBeGreaterThan(limit - 2 ** 20);
    expect(stored).toBeLessThan(limit + 3 * 2 ** 20);
    expect(counts.length).toBeLessThan(90);
  });

  it('leave what is left to wallets to them, however many processes a client writes through [T583]', async () => {
    const limit = 400_000;
    const processes = Array.from({ length: 4 }, () => limited(2 ** 26, limit));
    for (let n = 0; n < 100; n++) await refusalOf(processes[n % 4]!.admit(unit(20_000)));
    for (const written of [...processes, ...processes]) {
      now += 1_000;
      expect(await refusalOf(written.admit(unit(2_000, holder)))).toBeUndefined();
    }
  });
});
