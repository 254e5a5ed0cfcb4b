import { prefersGzip } from './prefers-gzip.js';

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
