import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { WorkerProcess } from '@attestry/event-store';
import { endWithUs } from './end-with-us.js';
import { repository } from './platform-process.js';

/** Where the lease and the position are kept: a SQLite file, a schema of PostgreSQL, or a namespace of NATS. */
export type WorkerEngine = { file: string } | { url: string; schema: string } | { url: string; namespace: string };

export interface WorkerProgramOptions {
  engine: WorkerEngine;
  leaseMs: number;
  batchMs: number;
}

/** A line that the program prints. */
export interface WorkerMessage {
  holding?: boolean;
  begun?: number;
  done?: number;
  /** Name of an error. */
  failed?: string;
}

/** Starts a worker that counts in a separate process. */
export const startWorkerProcess = (options: WorkerProgramOptions): WorkerProcess => {
  const program = join(repository, 'libs/testing/dist/leased-worker-program.js');
  const words = ['--no-warnings', program, JSON.stringify(options)];
  const child = endWithUs(spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] }));
  const messages: WorkerMessage[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => messages.push(JSON.parse(line) as WorkerMessage));
  const all = <Key extends keyof WorkerMessage>(key: Key) =>
    messages.flatMap((it) => (it[key] === undefined ? [] : [it[key]])) as NonNullable<WorkerMessage[Key]>[];
  return {
    get isReady() {
      return all('holding').length > 0;
    },
    get isHolding() {
      return all('holding').at(-1) === true;
    },
    get begun() {
      return all('begun');
    },
    get done() {
      return all('done');
    },
    get failures() {
      return all('failed');
    },
    signal: (signal) => void child.kill(signal),
    ended: once(child, 'close').then(() => undefined),
  };
};
