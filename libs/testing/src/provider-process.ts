import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { endWithUs } from './end-with-us.js';
import type { ProviderAccount, ProviderOptions } from './openid-provider.js';
import { repository } from './platform-process.js';

export interface ProviderProgramOptions {
  accounts: ProviderAccount[];
  options: ProviderOptions;
}

export interface ProviderProcess {
  issuer: string;
  stop(): Promise<void>;
}

/**
 * An OpenID provider in a process of its own: in the one of a test, whose objects are those of several realms, `oidc-provider` takes no client
 * with keys.
 * @throws Error when it ends before it listens
 */
export const startProviderProcess = async (program: ProviderProgramOptions): Promise<ProviderProcess> => {
  const words = [
    '--no-warnings',
    join(repository, 'libs/testing/dist/openid-provider-program.js'),
    JSON.stringify(program),
  ];
  const child = endWithUs(spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] }));
  const ended = once(child, 'close');
  // The library prints lines too.
  for await (const line of createInterface({ input: child.stdout }))
    if (line.startsWith('{')) {
      const { issuer } = JSON.parse(line) as { issuer: string };
      child.stdout.resume();
      const stop = async () => {
        child.kill();
        await ended;
      };
      return { issuer, stop };
    }
  throw new Error('the provider ended before it listened');
};
