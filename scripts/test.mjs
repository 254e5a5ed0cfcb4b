// npm test: everything, or what the arguments name: `node scripts/test.mjs [group …] [pattern …] [-- Jest arguments]`.
// Groups are the names in `suites` and the Jest projects; any other word is a pattern for file names.
// The last line is always `N passed, N failed, N skipped`; a run in which nothing passed is a failed run.
//
// A suite that cannot run here appends a line to the file named in ATTESTRY_SKIPPED_FILE,
// {"suite": "event store on EventStoreDB", "reason": "EVENTSTORE_URL is not set"}, and need not register any test.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { basename, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';

await ensureInstalled();

const minute = 60_000;
// A suite is a Jest run (`projects`, `args`) or a command whose own last line is `N passed, N failed, N skipped`.
const suites = [
  {
    name: 'quick',
    projects: ['unit', 'contracts', 'int', 'int-postgres'],
    // Three on two cores: these wait for engines and timers as much as they compute.
    args: ['--maxWorkers=3', '--workerIdleMemoryLimit=768MB'],
    limit: 14 * minute,
  },
  { name: 'e2e', projects: ['e2e'], args: ['--maxWorkers=2'], limit: 13 * minute },
  // The same tests on many processes and real engines.
  { name: 'cluster', projects: ['cluster'], args: ['--maxWorkers=2'], limit: 13 * minute },
  // A seed of its own each time, which it prints; `npm run test:faults` plays one again.
  { name: 'faults', projects: ['faults'], args: ['--runInBand', '--forceExit'], limit: 15 * minute },
];

const { groups, patterns, jestArguments } = readArguments(process.argv.slice(2));
const reports = join(root, 'tmp', 'test-results');
rmSync(reports, { recursive: true, force: true });
mkdirSync(reports, { recursive: true });
const skippedFile = join(reports, 'skipped.jsonl');
writeFileSync(skippedFile, '');

await ensureBuilt();

const total = { passed: 0, failed: 0, skipped: 0 };
const notRun = [];
const failures = [];
for (const suite of suites) {
  const projects = await possible(chosen(suite));
  if (projects.length === 0) continue;
  console.log(`\n== ${suite.name}${suite.projects ? `: ${projects.join(', ')}` : ''}`);
  const result = suite.command ? await runCommand(suite) : await runJest(suite, projects);
  total.passed += result.passed;
  total.failed += result.failed;
  notRun.push(...result.skipped);
  failures.push(...(result.failures ?? []));
}
notRun.push(...recordedSkips(notRun));
total.skipped = notRun.length;

console.log('');
// Once more at the end, where they are found; CI prints the file.
writeFileSync(join(reports, 'failures.txt'), failures.map((failure) => `${failure}\n`).join(''));
for (const failure of failures) console.log(failure);
for (const { name, reason } of notRun) console.log(`SKIPPED ${name}: ${reason}`);
if (total.passed + total.failed === 0) console.error('no test ran: that counts as a failure');
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0);

function readArguments(words) {
  const known = new Set(suites.flatMap(({ name, projects = [] }) => [name, ...projects]));
  const end = words.indexOf('--');
  const own = end < 0 ? words : words.slice(0, end);
  return {
    groups: own.filter((word) => known.has(word)),
    patterns: own.filter((word) => !known.has(word) && !word.startsWith('-')),
    jestArguments: [...own.filter((word) => word.startsWith('-')), ...(end < 0 ? [] : words.slice(end + 1))],
  };
}

/** These projects without those whose engines are not installed: they are recorded as skipped. */
async function possible(projects) {
  const kit = await import(pathToFileURL(join(root, 'libs', 'testing', 'dist', 'index.js')));
  return projects.filter((name) => {
    const missing =
      {
        cluster: () => kit.missingEngines(process.env),
        'int-postgres': () => kit.missingEngines({}).filter(({ name }) => name === 'PostgreSQL'),
      }[name]?.() ?? [];
    if (missing.length > 0) {
      const reason = missing.map((engine) => `${engine.name} is missing (${engine.debian})`).join('; ');
      notRun.push({ name, reason });
    }
    return missing.length === 0;
  });
}

function chosen({ name, projects = [name] }) {
  if (groups.length === 0 || groups.includes(name)) return projects;
  return projects.filter((project) => groups.includes(project));
}

async function runJest(suite, projects) {
  const outputFile = join(reports, `${suite.name}.json`);
  const { status, timedOut } = await run(suite, [
    join(root, 'scripts', 'jest.mjs'),
    ...['--selectProjects', ...projects],
    ...suite.args,
    // What libraries print in passing tests would hide what failed.
    '--silent',
    ...['--json', `--outputFile=${outputFile}`, '--passWithNoTests'],
    ...['--reporters=default', `--reporters=${join(root, 'scripts', 'running-files-reporter.mjs')}`],
    ...jestArguments,
    ...(patterns.length > 0 ? ['--testPathPatterns', ...patterns] : []),
  ]);
  if (!existsSync(outputFile)) {
    console.error(`${suite.name}: ${timedOut ? 'stopped at its time limit' : 'Jest ended'} without a result`);
    return { passed: 0, failed: 1, skipped: [] };
  }
  const report = JSON.parse(readFileSync(outputFile, 'utf8'));
  // A file that cannot be loaded has no tests: it is one failure.
  const failed = report.numFailedTests + report.numRuntimeErrorTestSuites;
  const skipped = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter((it) => ['pending', 'todo', 'skipped', 'disabled'].includes(it.status))
      .map((it) => ({ name: `${basename(name)} › ${it.fullName}`, reason: 'marked as skipped in its file' })),
  );
  const silent = failed === 0 && status !== 0;
  if (silent) console.error(`${suite.name}: no test failed, but Jest ended with ${status}`);
  return {
    passed: report.numPassedTests,
    failed: failed + (silent ? 1 : 0),
    skipped,
    failures: failuresOf(suite, report),
  };
}

/** Each failed test with the start of its message, as a text. */
function failuresOf({ name: suite }, { testResults }) {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((it) => it.status === 'failed');
    const whole =
      status === 'failed' && failed.length === 0 ? [{ fullName: 'the file itself', failureMessages: [message] }] : [];
    return [...failed, ...whole].map(({ fullName, failureMessages }) => {
      const lines = stripVTControlCharacters(failureMessages.join('\n')).split('\n').slice(0, 16);
      return [`FAILED ${suite}: ${relative(root, name)} › ${fullName}`, ...lines].join('\n    ');
    });
  });
}

async function runCommand(suite) {
  const { status, lastLine } = await run(suite, suite.command, true);
  const counts = /^(\d+) passed, (\d+) failed, (\d+) skipped$/.exec(lastLine)?.slice(1).map(Number);
  if (!counts) {
    console.error(`${suite.name}: ended with ${status} and without a count of its tests`);
    return { passed: 0, failed: 1, skipped: [] };
  }
  const [passed, failed] = counts;
  return { passed, failed: failed + (status !== 0 && failed === 0 ? 1 : 0), skipped: [] };
}

function run(suite, words, readOutput = false) {
  const runningFile = join(reports, `${suite.name}.running`);
  const ownGroup = process.platform !== 'win32';
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, {
      cwd: root,
      env: { ...process.env, ...suite.env, ATTESTRY_SKIPPED_FILE: skippedFile, ATTESTRY_RUNNING_FILE: runningFile },
      stdio: ['ignore', readOutput ? 'pipe' : 'inherit', 'inherit'],
      detached: ownGroup,
    });
    // Jest's workers outlive a Jest that is stopped: the signal goes to all of them.
    const stop = (signal) => (ownGroup ? process.kill(-child.pid, signal) : child.kill(signal));
    const interrupted = (signal) => {
      stop(signal);
      process.exit(128 + constants.signals[signal]);
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, interrupted);
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      console.error(`${suite.name}: still running after ${suite.limit / minute} minutes: stopped`);
      for (const file of readLines(runningFile)) console.error(`  not finished: ${file}`);
      stop('SIGKILL');
    }, suite.limit);
    let tail = '';
    child.stdout?.on('data', (chunk) => {
      process.stdout.write(chunk);
      tail = (tail + chunk).slice(-4096);
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, interrupted);
      resolve({ status: code ?? signal, timedOut, lastLine: tail.trimEnd().split('\n').at(-1) ?? '' });
    });
  });
}

// The reason a suite gave takes the place of the bare marks on its tests.
function recordedSkips(marked) {
  const unique = new Map(readLines(skippedFile).map((line) => [line, JSON.parse(line)]));
  return [...unique.values()].flatMap(({ suite, reason }) => {
    const tests = marked.filter(({ name }) => name.includes(suite));
    for (const test of tests) test.reason = reason;
    return tests.length > 0 ? [] : [{ name: suite, reason }];
  });
}

function readLines(file) {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}
