import { hostFetch } from './host-fetch.js';

const LAG = /^attestry_(?:lag|consumer_lag)_seconds\{.*\} (\S+)$/gm;

/**
 * Whether projections, reactions and consumers of running processes have handled all events.
 *
 * @param adminPorts of all processes of a platform: a projection is reported by the process that holds its lease
 */
export const haveCaughtUp = async (adminPorts: readonly number[]): Promise<boolean> => {
  const lags = await Promise.all(
    adminPorts.map(async (port) => {
      const text = await (await hostFetch(`http://127.0.0.1:${port}/metrics`)).text();
      return [...text.matchAll(LAG)].map(([, seconds]) => Number(seconds));
    }),
  );
  return lags.flat().length > 0 && lags.flat().every((seconds) => seconds === 0);
};
