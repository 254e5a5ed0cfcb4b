import { dayOf, startOf } from './report-days.js';

it.each([
  ['+00:00', '2026-03-01T00:00', '2026-03-02T00:00'],
  ['+02:00', '2026-02-28T22:00', '2026-03-01T22:00'],
  ['+05:45', '2026-02-28T18:15', '2026-03-01T18:15'],
  ['-03:30', '2026-03-01T03:30', '2026-03-02T03:30'],
  ['+14:00', '2026-02-28T10:00', '2026-03-01T10:00'],
  ['-12:00', '2026-03-01T12:00', '2026-03-02T12:00'],
])('a day at %s begins at %s in UTC and ends at %s', (offset, start, end) => {
  expect([startOf('2026-03-01', offset), startOf('2026-03-01', offset, 1)]).toEqual([start, end]);
  expect([dayOf(start, offset), dayOf(end, offset)]).toEqual(['2026-03-01', '2026-03-02']);
  const last = new Date(Date.parse(`${end}:00Z`) - 15 * 60_000).toISOString().slice(0, 16);
  expect(dayOf(last, offset)).toBe('2026-03-01');
});
