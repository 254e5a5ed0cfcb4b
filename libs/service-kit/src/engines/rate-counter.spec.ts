import { jest } from '@jest/globals';
import { MemoryRateCounter } from './rate-counter.js';

describe('rate counter in memory', () => {
  it('keeps the length of a window when the time of day is set', () => {
    const timeOfDay = jest.spyOn(Date, 'now');
    try {
      const counter = new MemoryRateCounter();
      counter.count('a');
      timeOfDay.mockReturnValue(0);
      expect(counter.peek('a').resetsInMs).toBeLessThanOrEqual(60_000);
      timeOfDay.mockReturnValue(Number.MAX_SAFE_INTEGER);
      expect(counter.count('a').used).toBe(2);
    } finally {
      timeOfDay.mockRestore();
    }
  });
});
