import 'reflect-metadata';
import { runCopy } from './moving/run-copy.js';
import { runCommand } from './run-command.js';

/** Copies history, and keys if requested. Prints one JSON line with the result. */
const main = async (): Promise<void> => {
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
  const summary = await runCopy(process.argv.slice(2), process.env, stopping.signal, (line) => console.error(line));
  console.log(JSON.stringify(summary));
  if (stopping.signal.aborted) process.exitCode = 130;
};

runCommand(main);
