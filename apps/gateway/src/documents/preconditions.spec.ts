import { matches, prefersGzip } from './preconditions.js';

describe('Accept-Encoding', () => {
  it.each([
    [undefined, false],
    ['', false],
    ['gzip', true],
    ['GZIP', true],
    ['x-gzip', true],
    ['br, gzip;q=0.1', true],
    ['gzip;q=0', false],
    ['gzip;q=x', false],
    ['gzip; q=0.5, identity', false],
    ['gzip;q=0.5, identity;q=0.5', true],
    ['*', true],
    ['*;q=0', false],
    ['*, gzip;q=0', false],
    ['br', false],
  ])('%j prefers gzip: %s', (header, expected) => expect(prefersGzip(header)).toBe(expected));
});

describe('If-None-Match', () => {
  it.each([
    [undefined, false],
    ['"a"', true],
    ['W/"a"', true],
    ['"b", "a"', true],
    ['*', true],
    ['"b"', false],
    ['a', false],
  ])('%j matches "a": %s', (header, expected) => expect(matches(header, '"a"')).toBe(expected));
});
