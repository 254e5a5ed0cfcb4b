#!/usr/bin/env node
// The command line: `npx attestry <command>`. Every npm script calls it. Nothing newer than Node 18 and no package may be
// used here: this file runs before the first `npm ci`.
import { loadCommand, commandNames } from './cli/commands.mjs';
import { ensureInstalled, isPackageInstalled } from './setup.mjs';

const words = process.argv.slice(2);
const end = words.indexOf('--');
const own = end < 0 ? words : words.slice(0, end);
const readsOnly = own.length === 0 || own[0] === 'help' || own.some((it) => ['--help', '-h', '--version'].includes(it));

// npm passes a signal to the shell it started and to nothing below it (npm 10 and 11), which would leave the platform running.
if (process.env.npm_lifecycle_event) {
  const parent = process.ppid;
  setInterval(() => process.ppid === parent || process.kill(process.pid, 'SIGTERM'), 500).unref();
}

if (!readsOnly) await ensureInstalled();
if (isPackageInstalled('commander')) {
  const { runCommandLine } = await import('./cli/program.mjs');
  process.exit(await runCommandLine(words));
}
await describeWithoutPackages(own.find((it) => commandNames().includes(it)));
// A call without a command is wrong usage, with the packages and without them.
if (own.length === 0) process.exitCode = 2;

/** Help before the first installation: help changes nothing, so it does not install the package that formats it. */
async function describeWithoutPackages(name) {
  for (const it of name ? [name] : commandNames()) {
    const { description, options = [], examples = [] } = await loadCommand(it);
    console.log(`${it.padEnd(20)} ${description}`);
    if (!name) continue;
    for (const { flags, about } of options) console.log(`  ${flags.padEnd(30)} ${about}`);
    for (const example of examples) console.log(`  $ ${example}`);
  }
  console.log('\nThe packages are not installed yet. Any command without --help installs them first.');
}
