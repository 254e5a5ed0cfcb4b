import { Metrics, parseConfig } from '@attestry/service-kit';
import { rateKeyOf } from './client-address.js';
import { RequestsInFlight } from './requests-in-flight.js';

let inFlight: RequestsInFlight;
beforeEach(() => {
  const config = parseConfig({
    DATA_DIR: 'unused',
    MAX_REQUESTS_IN_FLIGHT: '2',
    MAX_BODY_BYTES_IN_FLIGHT: String(MAX_BYTES),
  });
  inFlight = new RequestsInFlight(config, new Metrics('gateway'));
});
const MAX_BYTES = 8_388_608;

const take = (address: string, bytes = 0) => inFlight.reserve(rateKeyOf(address), bytes);
const subnet = (n: number) => `2001:db8:1:${n.toString(16)}::1`;
const refusal = /^Too many .* in flight from this address$/;

describe('requests in flight of an IPv6 /48', () => {
  it('are limited to five times those of an address, and released', () => {
    const held = Array.from({ length: 10 }, (_, n) => take(subnet(n)));
    expect(() => take(subnet(99))).toThrow(refusal);
    expect(() => take('2001:db8:2:1::1')).not.toThrow();
    expect(() => take('192.0.2.1')).not.toThrow();
    for (const { release } of held) release();
    for (let n = 0; n < 10; n++) take(subnet(n));
    expect(() => take(subnet(99))).toThrow(refusal);
  });

  it('are limited in bytes of bodies too; a refused request reserves nothing', () => {
    const held = Array.from({ length: 5 }, (_, n) => take(subnet(n), MAX_BYTES));
    expect(() => take(subnet(99), 1)).toThrow(refusal);
    const without = take(subnet(99));
    expect(() => without.add(1)).toThrow(refusal);
    held[0]!.release();
    without.add(MAX_BYTES);
    expect(() => without.add(1)).toThrow(refusal);
  });

  it('do not change the limit of one address', () => {
    take(subnet(1));
    take(subnet(1));
    expect(() => take(subnet(1))).toThrow(refusal);
    expect(() => take(subnet(2))).not.toThrow();
  });
});
