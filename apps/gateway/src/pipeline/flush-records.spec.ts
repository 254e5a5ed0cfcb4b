import { exchangeOf } from './exchange.spec-fixture.js';
import { flushRecords } from './flush-records.js';

it('records that wait are sent before they are listed, within the time for own writes', async () => {
  const waited: number[] = [];
  const recorders = { flush: async (maxMs: number) => void waited.push(maxMs) };
  await flushRecords(exchangeOf(), { recorders, config: { ownWriteMs: 250 } } as never);
  expect(waited).toEqual([250]);
});
