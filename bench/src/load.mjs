// Load on a platform: `clients` concurrent wallets, each runs one flow after the other.
import { makeHolderKeys, runOnce } from './flow.mjs';

const keys = makeHolderKeys();
let nextKey = 0;

/**
 * Runs flows as long as `more(started)` is true, `started` being how many have begun.
 * @param what a format, or `nonce`
 * @returns {Promise<{latencies: number[], seconds: number}>} latencies in milliseconds, one for each flow
 */
const load = async (more, http, tenant, what, clients) => {
  const latencies = [];
  let started = 0;
  const client = async () => {
    while (more(started)) {
      started += 1;
      const start = performance.now();
      await runOnce(http, tenant, what, keys[nextKey++ % keys.length]);
      latencies.push(performance.now() - start);
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: clients }, client));
  return { latencies, seconds: (performance.now() - start) / 1000 };
};

export const loadFor = (seconds, ...on) => {
  const end = performance.now() + seconds * 1000;
  return load(() => performance.now() < end, ...on);
};

export const loadTimes = (credentials, ...on) => load((started) => started < credentials, ...on);
