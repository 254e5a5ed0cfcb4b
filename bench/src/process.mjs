// A server process under measurement: its start, CPU time and memory.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const TICKS = Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout) || 100;

/** Starts `node args`, resolves with its first JSON line that has `msg: "ready"`. */
export const startServer = async (args, env) => {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ready = await new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${args.at(-1)} ended with code ${code} before it was ready`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.includes('"msg":"ready"')) resolve(JSON.parse(line));
    });
  });
  return {
    ready,
    startMs: performance.now() - startedAt,
    /** Milliseconds of user and system time of the whole process, all threads. */
    cpuMs: () => cpuMs(child.pid),
    /** Mebibytes. */
    residentMiB: () => residentMiB(child.pid),
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', resolve);
        child.kill('SIGTERM');
      }),
  };
};

/** User and system time of a process and, on Linux, of its children that ended; milliseconds. 0 when it has ended itself. */
export const cpuMs = (pid) => {
  if (process.platform === 'linux') {
    let stat;
    try {
      stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    } catch {
      return 0;
    }
    const times = stat
      .replace(/^.*\) /s, '')
      .split(' ')
      .slice(11, 15);
    return (times.reduce((sum, ticks) => sum + Number(ticks), 0) * 1000) / TICKS;
  }
  const text = spawnSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
  return text.split(/[-:]/).reduce((sum, part) => sum * 60 + Number(part), 0) * 1000;
};

export const residentMiB = (pid) =>
  Number(spawnSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim()) / 1024;
