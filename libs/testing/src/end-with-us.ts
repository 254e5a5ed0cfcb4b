import type { ChildProcess } from 'node:child_process';

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A process that was started here does not outlive this one, however this one ends by itself. */
export const endWithUs = <T extends ChildProcess>(child: T): T => {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
};

/** Lets a process continue to run. */
export const letLive = (child: ChildProcess): void => {
  running.delete(child);
  child.unref();
};
