import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ownEnvironment, programOf } from '@attestry/testing';

const run = promisify(execFile);

/** One of the built commands, as `npm run` would start it. Resolves with what it printed. */
export const command = async (name: string, words: string[], env: Record<string, string> = {}): Promise<string> => {
  const { stdout } = await run(process.execPath, ['--no-warnings', programOf(name), ...words], {
    env: { ...ownEnvironment(), ...env },
  });
  return stdout;
};

/** A program of PostgreSQL's. */
export const postgresTool = async (programs: string, name: string, words: string[]): Promise<string> =>
  (await run(join(programs, name), words)).stdout;
