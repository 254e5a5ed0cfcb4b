import { exchangeOf } from './exchange.spec-fixture.js';
import { flushRecords } from './flush-records.js';

const flushed = (flush: () => Promise<void>) => flushRecords(exchangeOf(), { recorders: { flush } } as never);

describe('waiting records', () => {
  it('are sent before the list is read', async () => {
    let isSent = false;
    await flushed(async () => void (isSent = true));
    expect(isSent).toBe(true);
  });

  it('do not prevent the list during an outage of the feed', async () => {
    await flushed(() => new Promise(() => {}));
    await flushed(() => Promise.reject(new Error('closed')));
  });
});
