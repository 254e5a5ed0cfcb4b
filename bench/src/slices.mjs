// Slices of load in turn: the CPU time of a platform for each credential, all that follows the answers included.
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from './http.mjs';
import { loadFor, loadTimes } from './load.mjs';

export const SLICE_SECONDS = 2;
/** A process is idle when it uses less than a tick of CPU in this time. */
const IDLE_MS = 100;
const MAX_WAIT_MS = 5000;

/** Lists, operation events and publishers run after the responses: they belong to the slice that caused them. */
const untilIdle = async (platform) => {
  for (const end = performance.now() + MAX_WAIT_MS; performance.now() < end;) {
    const before = platform.cpu().platform;
    await pause(IDLE_MS);
    if (platform.cpu().platform - before < 10) return;
  }
};

/** @param what as `runOnce` takes it */
export const slice = async ({ platform, tenant }, what, clients) => {
  const http = connect(platform.port, clients);
  const before = platform.cpu().platform;
  const { latencies, seconds } = await loadFor(SLICE_SECONDS, http, tenant, what, clients);
  await http.close();
  await untilIdle(platform);
  return { credentials: latencies.length, seconds, cpuMs: platform.cpu().platform - before };
};

/** Credentials before the measurement, so that both sides have compiled their code. */
export const warmUp = async ({ platform, tenant }, what, clients, credentials) => {
  const http = connect(platform.port, clients);
  await loadTimes(credentials, http, tenant, what, clients);
  await http.close();
  await untilIdle(platform);
};

export const describe = ({ median, quartiles, range }) =>
  `${median} (quartiles ${quartiles.join(' to ')}, range ${range.join(' to ')})`;
