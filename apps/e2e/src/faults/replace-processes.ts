import { setTimeout as pause } from 'node:timers/promises';
import type { ServiceProcess } from '@attestry/testing';
import type { Stage } from './stage.js';

/** How long a process may take from SIGTERM to its end, after SHUTDOWN_DELAY, milliseconds. */
export const STOP_MS = 15_000;

export interface Replaced {
  name: string;
  code: number | NodeJS.Signals;
  /** From SIGTERM, milliseconds. */
  unreadyAfter: number | undefined;
  endedAfter: number;
}

export interface ReplaceOptions {
  /** Default: that of the old one, with `-next`. */
  name?: string;
  /** While both run. */
  beside?: () => Promise<void>;
}

/** Starts a new process beside an old one, then ends the old one; connections go to gateways that are ready. */
export const replace = async (
  { cluster }: Stage,
  old: ServiceProcess,
  build?: string,
  { name: nextName = `${old.name}-next`, beside }: ReplaceOptions = {},
): Promise<Replaced> => {
  const next = await cluster.add(old.service, nextName, build);
  // A load balancer that polls periodically needs some time.
  await pause(200);
  await beside?.();
  const { port, name } = old;
  const began = performance.now();
  const ending = cluster.retire(old);
  let unreadyAfter: number | undefined;
  const looking = (async () => {
    for (let status = 200; status === 200;) {
      status = await old.readiness();
      if (status === 503) unreadyAfter = Math.round(performance.now() - began);
      await pause(20);
    }
  })();
  const code = await ending;
  const endedAfter = Math.round(performance.now() - began);
  await looking;
  if (!(await next.isReady())) throw new Error(`${next.name} on port ${port} is not ready`);
  return { name, code, unreadyAfter, endedAfter };
};
