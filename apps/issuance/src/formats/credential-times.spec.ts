import type { Duration } from '@attestry/contracts';
import fc from 'fast-check';
import { credentialTimes, expiresTooSoon, lifetimeFault, TimesFault, type RequestedTimes } from './credential-times.js';
import { addDuration } from '../settings/credential-configuration/validity.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const signer = { notBefore: new Date('2026-01-10T08:20:30Z'), notAfter: new Date('2027-04-12T08:20:30Z') };
type Texts = [issuedAt: string, validFrom: string | undefined, validUntil: string | undefined];
const requested = ([issuedAt, validFrom, validUntil]: Texts): RequestedTimes => ({
  issuedAt: new Date(issuedAt),
  ...(validFrom !== undefined && { validFrom: new Date(validFrom) }),
  ...(validUntil !== undefined && { validUntil: new Date(validUntil) }),
});
const timesOf = (texts: Texts, rules: Partial<RequestedTimes> = { signer, longestDays: 427 }) => {
  const { signed, validFrom, validUntil } = credentialTimes({ ...requested(texts), ...rules });
  return [signed, validFrom, validUntil].map((date) => date?.toISOString().replace(':00.000Z', ''));
};

describe('the times of a credential', () => {
  it.each<[string, Texts, (string | undefined)[]]>([
    [
      'begin at the hour and end at the day',
      ['2026-01-31T12:34:56.789Z', undefined, '2026-03-02T12:34:56.789Z'],
      ['2026-01-31T12:00', '2026-01-31T12:00', '2026-03-02T00:00'],
    ],
    [
      'end at the day for 2 days',
      ['2026-01-31T23:59:59.999Z', undefined, '2026-02-02T23:59:59.999Z'],
      ['2026-01-31T23:00', '2026-01-31T23:00', '2026-02-02T00:00'],
    ],
    [
      'end at the hour for less than 2 days',
      ['2026-01-31T12:34:56Z', undefined, '2026-02-02T12:34:55Z'],
      ['2026-01-31T12:00', '2026-01-31T12:00', '2026-02-02T12:00'],
    ],
    [
      'last at least an hour for 2 hours',
      ['2026-01-31T12:59:59Z', undefined, '2026-01-31T14:59:59Z'],
      ['2026-01-31T12:00', '2026-01-31T12:00', '2026-01-31T14:00'],
    ],
    [
      'begin later when that is mapped',
      ['2026-01-31T12:34:56Z', '2026-03-01T09:30:00Z', '2026-03-02T11:59:00Z'],
      ['2026-01-31T12:00', '2026-03-01T09:00', '2026-03-02T11:00'],
    ],
    [
      'begin when they are signed when an earlier time is mapped',
      ['2026-01-31T12:34:56Z', '2020-01-01T00:00:00Z', '2026-03-02T00:00:00Z'],
      ['2026-01-31T12:00', '2026-01-31T12:00', '2026-03-02T00:00'],
    ],
    [
      'have no end when none is given',
      ['2026-01-31T12:34:56Z', undefined, undefined],
      ['2026-01-31T12:00', '2026-01-31T12:00', undefined],
    ],
    [
      'end exactly with the longest lifetime',
      ['2026-01-31T00:00:00Z', undefined, '2027-04-03T00:00:00Z'],
      ['2026-01-31T00:00', '2026-01-31T00:00', '2027-04-03T00:00'],
    ],
  ])('%s', (_, texts, expected) => {
    expect(timesOf(texts)).toEqual(expected);
  });

  it('never begin before the certificate of the signer', () => {
    expect(timesOf(['2026-01-10T08:20:30Z', undefined, '2026-02-10T08:20:30Z'])).toEqual([
      '2026-01-10T08:20:30.000Z',
      '2026-01-10T08:20:30.000Z',
      '2026-02-10T00:00',
    ]);
    expect(timesOf(['2026-01-10T08:59:59Z', '2026-01-10T09:10:00Z', '2026-02-10T00:00:00Z'])).toEqual([
      '2026-01-10T08:20:30.000Z',
      '2026-01-10T09:00',
      '2026-02-10T00:00',
    ]);
  });

  it('may end with the certificate of the signer', () => {
    const end = { ...signer, notAfter: new Date('2026-03-02T00:00:00Z') };
    expect(timesOf(['2026-01-31T12:00:00Z', undefined, '2026-03-02T23:00:00Z'], { signer: end })[2]).toBe(
      '2026-03-02T00:00',
    );
  });

  it.each<[string, Texts, Partial<RequestedTimes>, string]>([
    [
      'an end at the begin',
      ['2026-01-31T12:00:00Z', undefined, '2026-01-31T12:59:00Z'],
      {},
      'validUntil must be later than validFrom, rounded down to the hour',
    ],
    [
      'an end before a mapped begin',
      ['2026-01-31T12:00:00Z', '2026-06-01T00:00:00Z', '2026-05-01T00:00:00Z'],
      {},
      'validUntil must be later than validFrom, rounded down to the hour',
    ],
    [
      'an end in the past',
      ['2026-01-31T12:00:00Z', undefined, '2025-01-31T12:00:00Z'],
      {},
      'validUntil must be later than validFrom, rounded down to the hour',
    ],
    [
      'more than the longest lifetime',
      ['2026-01-31T00:00:00Z', undefined, '2027-04-04T00:00:00Z'],
      { longestDays: 427 },
      'validUntil must be at most 427 days after validFrom',
    ],
    [
      'an end after that of the signer',
      ['2026-03-31T00:00:00Z', undefined, '2027-04-13T00:00:00Z'],
      { signer },
      'validUntil must not be later than the end of the certificate of the signer',
    ],
    [
      'a signer that is not valid yet',
      ['2026-01-10T08:20:29Z', undefined, '2026-02-10T00:00:00Z'],
      { signer },
      'the certificate of the signer is not valid at this time',
    ],
    [
      'a signer that is expired',
      ['2027-04-12T08:20:30Z', undefined, undefined],
      { signer },
      'the certificate of the signer is not valid at this time',
    ],
  ])('are refused: %s', (_, texts, rules, message) => {
    expect(() => timesOf(texts, rules)).toThrow(TimesFault);
    expect(() => timesOf(texts, rules)).toThrow(message);
  });

  it('keep their order, are rounded, and fit every lifetime from 2 hours to the longest', () => {
    const instant = fc.date({
      min: new Date('2026-01-10T09:00:00Z'),
      max: new Date('2026-02-09T08:20:30Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instant, fc.integer({ min: 2 * HOUR, max: 427 * DAY }), (issuedAt, lifetime) => {
        const validUntil = new Date(issuedAt.getTime() + lifetime);
        const times = credentialTimes({ issuedAt, validUntil, signer, longestDays: 427 });
        expect(times.signed.getTime()).toBeLessThanOrEqual(issuedAt.getTime());
        expect(times.validFrom).toEqual(times.signed);
        expect(times.validUntil!.getTime()).toBeGreaterThanOrEqual(times.validFrom.getTime() + HOUR);
        expect(times.validUntil!.getTime()).toBeLessThanOrEqual(validUntil.getTime());
        expect(times.validUntil!.getTime() % (lifetime >= 2 * DAY ? DAY : HOUR)).toBe(0);
      }),
    );
  });
});

describe('a lifetime', () => {
  it.each([
    [{ hours: 2 }, false],
    [{ minutes: 120 }, false],
    [{ months: 1 }, false],
    [{ hours: 1, minutes: 59, seconds: 59 }, true],
    [{ seconds: 1 }, true],
    [{}, true],
  ])('of less than 2 hours is too short: %j', (expiresIn, expected) => {
    expect(expiresTooSoon(expiresIn)).toBe(expected);
  });
});

describe('the longest lifetime [T620]', () => {
  const fault = (days: number, longest: number) =>
    `must be at most ${days} days, for which the certificate of every signer is valid; it can be ${longest} days`;

  it.each<[Duration, number, string | undefined]>([
    [{ days: 427 }, 427, undefined],
    [{ days: 427, seconds: 1 }, 427, fault(427, 428)],
    [{ weeks: 61 }, 427, undefined],
    [{ weeks: 61, hours: 1 }, 427, fault(427, 428)],
    [{ months: 13 }, 427, undefined],
    // July to September of the next year, when that is a leap year.
    [{ months: 14 }, 427, fault(427, 428)],
    [{ years: 1, months: 2 }, 427, fault(427, 428)],
    [{ years: 1, days: 61 }, 427, undefined],
    [{ years: 1, days: 62 }, 427, fault(427, 428)],
    [{ minutes: 427 * 1440 }, 427, undefined],
    [{ minutes: 427 * 1440 + 1 }, 427, fault(427, 428)],
    [{ years: 9 }, 3290, undefined],
    [{ years: 9 }, 3287, fault(3287, 3288)],
    [{ years: 10 }, 3290, fault(3290, 3653)],
    [{ years: 10 }, 3620, fault(3620, 3653)],
    [{ months: 108 }, 3290, undefined],
    [{ months: 109 }, 3290, fault(3290, 3319)],
    [{ years: 1000 }, 3620, expect.stringContaining('must be at most 3620 days') as string],
    [{ seconds: 31_536_000_000, years: 1000 }, 3620, expect.stringContaining('must be at most 3620 days') as string],
    [{}, 427, undefined],
  ])('of %j for at most %i days', (expiresIn, days, expected) =>
    expect(lifetimeFault(expiresIn, days)).toEqual(expected),
  );

  it('never has a credential that outlives it', () =>
    fc.assert(
      fc.property(
        fc.date({ min: new Date('2026-01-01'), max: new Date('2090-01-01'), noInvalidDate: true }),
        fc.record({ months: fc.nat(16), days: fc.nat(500), hours: fc.nat(50) }),
        (issuedAt, expiresIn) => {
          fc.pre(!lifetimeFault(expiresIn, 427) && !expiresTooSoon(expiresIn));
          credentialTimes({ issuedAt, validUntil: addDuration(issuedAt, expiresIn), longestDays: 427 });
        },
      ),
    ));
});
