import type { Duration } from '@attestry/contracts';

/** Counted from issuance, in UTC; a day that the month does not have becomes its last one (31 January and a month). */
export const addDuration = (from: Date, duration: Duration): Date => {
  const { years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0 } = duration;
  const end = new Date(from);
  const day = end.getUTCDate();
  end.setUTCDate(1);
  end.setUTCMonth(end.getUTCMonth() + years * 12 + months);
  const lastDay = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + 1, 0)).getUTCDate();
  end.setUTCDate(Math.min(day, lastDay));
  const time = end.getTime() + ((((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000;
  return new Date(Math.min(time, LAST));
};

const DAY_MS = 86_400_000;
/** First of each month of four years, one of them a leap year. */
const STARTS = Array.from({ length: 48 }, (_, month) => new Date(Date.UTC(2000, month, 1)));

/** Longest that the duration can be, in days: months and years have different lengths. */
export const longestInDays = (duration: Duration): number =>
  Math.max(...STARTS.map((from) => addDuration(from, duration).getTime() - from.getTime())) / DAY_MS;

/** RFC 3339 has four digits for the year. */
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59);

/** `2026-01-31T12:00:00Z` */
export const dateTime = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;

/** Whole seconds: formats have no smaller unit, and finer times would link credentials. */
export const validityOf = (time: Date, expiresIn: Duration | undefined): { validFrom: Date; validUntil?: Date } => {
  const validFrom = new Date(Math.floor(time.getTime() / 1000) * 1000);
  return { validFrom, ...(expiresIn && { validUntil: addDuration(validFrom, expiresIn) }) };
};
