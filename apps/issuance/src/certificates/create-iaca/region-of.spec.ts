import { regionOf } from './region-of.js';

const environments = [
  { domain: 'id.example.com', region: { name: 'au01' } },
  { domain: 'eu.id.example.com:8443', region: { name: 'eu01' } },
];

describe('the region of a tenant', () => {
  it.each([
    ['acme.id.example.com', 'au01'],
    ['acme.eu.id.example.com:8443', 'eu01'],
    ['eu.id.example.com', 'au01'],
    ['acme.example.org', 'au01'],
  ])('at %s is %s: that of the longest domain of an environment, or else the first', (host, region) => {
    expect(regionOf(host, environments)).toBe(region);
    expect(regionOf(host, [environments[0]!, environments[1]!].reverse())).toBe(
      host === 'acme.example.org' ? 'eu01' : region,
    );
  });
});
