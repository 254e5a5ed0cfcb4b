import { setTimeout as pause } from 'node:timers/promises';
import type { SeededRandom, ServiceProcess } from '@attestry/testing';
import type { Stage } from './stage.js';

interface Kill {
  process: ServiceProcess;
  afterMs: number;
  /** How long it stays away. */
  awayMs: number;
  /** How long at most it is waited for until it is ready. */
  lifeMs: number;
}

const shuffled = <T>(items: readonly T[], random: SeededRandom): T[] => {
  const left = [...items];
  return Array.from({ length: left.length }, () => left.splice(random.integer(0, left.length - 1), 1)[0]!);
};

/** In which answers of a killed process may still arrive. */
const ANSWERS_MS = 100;

/** Kills every process the given number of times, at moments chosen by the seed, in two concurrent sequences. */
export const killEach = async ({ cluster, random, ledger }: Stage, times: number): Promise<number> => {
  const mixed = shuffled(cluster.processes, random);
  const rows = [0, 1].map((row) => mixed.filter((_, at) => at % 2 === row));
  const schedule = rows.map((processes) =>
    shuffled(
      processes.flatMap((process) => Array.from({ length: times }, () => process)),
      random,
    ).map((process): Kill => ({
      process,
      afterMs: random.integer(0, 600),
      awayMs: random.integer(0, 800),
      lifeMs: random.integer(500, 4000),
    })),
  );
  await Promise.all(
    schedule.map(async (kills) => {
      for (const { process, afterMs, awayMs, lifeMs } of kills) {
        await pause(afterMs);
        const at = performance.now();
        await process.end('SIGKILL');
        ledger.kills.push({ at, until: performance.now() + ANSWERS_MS });
        await pause(awayMs);
        process.launch();
        await readyWithin(process, lifeMs);
      }
    }),
  );
  await Promise.all(cluster.processes.map((process) => process.untilReady()));
  return schedule.flat().length;
};

/** Waits until it is ready, or for this time: the next kill may occur while others are starting. */
const readyWithin = async (process: ServiceProcess, ms: number): Promise<void> => {
  for (const end = performance.now() + ms; performance.now() < end && !(await process.isReady());) await pause(100);
};
