import { existsSync } from 'node:fs';
import type { Browser } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Chromium of this machine; `CHROMIUM` names another one. */
export const chromiumPath = (): string | undefined =>
  [process.env['CHROMIUM'] ?? '', ...PLACES].find((path) => path !== '' && existsSync(path));

/** A headless Chromium. `*.localhost` is this machine to it (RFC 6761 §6.3). */
export const startBrowser = async (): Promise<Browser> => {
  const executablePath = chromiumPath();
  if (executablePath === undefined) throw new Error('there is no Chromium');
  // Loaded by those who need it: it is large.
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
};
