const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Milliseconds of `+05:45` or `-03:30`. */
const offsetMs = (offset: string): number => {
  const [hours, minutes] = offset.slice(1).split(':').map(Number) as [number, number];
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * MINUTE_MS;
};

/** Begin of a day at an offset from UTC, as the quarter of an hour in UTC, `2026-01-31T22:00`. @param later days */
export const startOf = (date: string, offset: string, later = 0): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + later * DAY_MS - offsetMs(offset)).toISOString().slice(0, 16);

/** Day of a quarter of an hour. */
export const dayOf = (quarter: string, offset: string): string =>
  new Date(Date.parse(`${quarter}:00Z`) + offsetMs(offset)).toISOString().slice(0, 10);
