import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Chromium of this machine; `CHROMIUM` names another one. */
export const chromiumPath = (): string | undefined =>
  [process.env['CHROMIUM'] ?? '', ...PLACES].find((path) => path !== '' && existsSync(path));

const OFFLINE = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE *.localhost, EXCLUDE 127.0.0.1';

/** A headless Chromium. `*.localhost` is this machine to it (RFC 6761 §6.3); no other name is resolved. */
export const startBrowser = async (): Promise<Browser> => {
  const executablePath = chromiumPath();
  if (executablePath === undefined) throw new Error('there is no Chromium');
  // Loaded by those who need it: it is large.
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage', OFFLINE] });
};

const axe = (): string => readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface AccessibilityReport {
  /** Rules that the page violates, with the elements. */
  violations: [rule: string, elements: string[]][];
  /** Number of rules that it passes. */
  passes: number;
}

/** Runs axe in a copy of the page that may run scripts. */
export const checkAccessibility = async (
  browser: Browser,
  page: Page,
  colorScheme: 'light' | 'dark' = 'light',
): Promise<AccessibilityReport> => {
  const checking = await browser.newContext({ bypassCSP: true, colorScheme });
  try {
    const copy = await checking.newPage();
    // A copy that continues by itself would leave before it is checked.
    await copy.setContent((await page.content()).replace(/<meta http-equiv="refresh"[^>]*>/, ''));
    await copy.evaluate(axe());
    const { violations, passes } = (await copy.evaluate('axe.run()')) as {
      violations: { id: string; nodes: { html: string }[] }[];
      passes: unknown[];
    };
    return {
      violations: violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
      passes: passes.length,
    };
  } finally {
    await checking.close();
  }
};
