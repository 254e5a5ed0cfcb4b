// A suite that cannot run here appends a line to the file named in ATTESTRY_SKIPPED_FILE,
// {"suite": "event store on EventStoreDB", "reason": "EVENTSTORE_URL is not set"}, and need not register any test.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { basename, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { root } from '../setup.mjs';
import { minute, suites } from '../test-suites.mjs';

const reports = join(root, 'tmp', 'test-results');
const skippedFile = join(reports, 'skipped.jsonl');
/** Each sends a signal to a Jest that runs. */
const stops = new Set();

/** The last line is always `N passed, N failed, N skipped`; a run in which nothing passed is a failed run. */
export default {
  group: 'Develop',
  description: 'run the standard tests, or those that are named; list skipped suites with the reason',
  usage: [
    {
      name: 'word',
      about: `all, a level or an engine (${[...names()].join(', ')}; default: standard), or a pattern for paths of spec files`,
      variadic: true,
    },
  ],
  restTo: 'Jest',
  examples: ['npm test', 'npm test -- all', 'npm test -- e2e webhooks', 'npm run test:unit -- limits'],
  run: async ({ args: [words], rest }, cli) => {
    const known = new Set(['all', ...names()]);
    const named = words.filter((word) => known.has(word));
    const wanted = named.length > 0 ? named : ['standard'];
    const patterns = words.filter((word) => !known.has(word));
    rmSync(reports, { recursive: true, force: true });
    mkdirSync(reports, { recursive: true });
    writeFileSync(skippedFile, '');
    await cli.build();

    const total = { passed: 0, failed: 0, skipped: 0 };
    const notRun = [];
    const failures = [];
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
      process.once(signal, () => {
        for (const stop of stops) stop(signal);
        process.exit(128 + constants.signals[signal]);
      });
    const results = [];
    for (const suite of suites) {
      const projects = await possible(chosen(suite, wanted), notRun);
      if (projects.length === 0) continue;
      cli.say(`\n== ${suite.name}: ${projects.join(', ')}`);
      const running = cli.step(suite.name, () => runJest(suite, projects, { patterns, rest }, cli));
      results.push(running);
      // A suite of lower priority runs beside the next one.
      if (!suite.nice) await running;
    }
    for (const result of await Promise.all(results)) {
      total.passed += result.passed;
      total.failed += result.failed;
      notRun.push(...result.skipped);
      failures.push(...(result.failures ?? []));
    }
    notRun.push(...recordedSkips(notRun));
    total.skipped = notRun.length;

    cli.say('');
    // Repeated at the end, where they are found; CI prints the file.
    writeFileSync(join(reports, 'failures.txt'), failures.map((failure) => `${failure}\n`).join(''));
    for (const failure of failures) cli.say(failure);
    for (const { name, reason } of notRun) cli.say(`SKIPPED ${name}: ${reason}`);
    if (total.passed + total.failed === 0) cli.note('no test ran: that counts as a failure');
    cli.say(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
    const failed = total.failed > 0 || total.passed === 0;
    return { exitCode: failed ? 1 : 0, document: { ok: !failed, ...total, failures, notRun } };
  },
};

function names() {
  return new Set(suites.flatMap(({ group, name, projects }) => [group, name, ...projects]));
}

/** These projects without those whose engines are not installed: they are recorded as skipped. */
async function possible(projects, notRun) {
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

function chosen({ group, name, projects }, wanted) {
  if (['all', group, name].some((word) => wanted.includes(word))) return projects;
  return projects.filter((project) => wanted.includes(project));
}

async function runJest(suite, projects, { patterns, rest }, cli) {
  const outputFile = join(reports, `${suite.name}.json`);
  const { status, timedOut } = await run(suite, cli, [
    join(root, 'scripts', 'jest.mjs'),
    ...['--selectProjects', ...projects],
    ...suite.args,
    // Output of libraries in passing tests would hide what failed.
    '--silent',
    ...['--json', `--outputFile=${outputFile}`, '--passWithNoTests'],
    ...['--reporters=default', `--reporters=${join(root, 'scripts', 'running-files-reporter.mjs')}`],
    ...rest,
    ...(patterns.length > 0 ? ['--testPathPatterns', ...patterns] : []),
  ]);
  if (!existsSync(outputFile)) {
    cli.note(`${suite.name}: ${timedOut ? 'stopped at its time limit' : 'Jest ended'} without a result`);
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
  if (silent) cli.note(`${suite.name}: no test failed, but Jest ended with ${status}`);
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
      const lines = stripVTControlCharacters(failureMessages.join('\n')).split('\n').slice(0, 16).map(shortened);
      return [`FAILED ${suite}: ${relative(root, name)} › ${fullName}`, ...lines].join('\n    ');
    });
  });
}

/** A long line would hide the other failures where only the end of the output is kept. */
function shortened(line) {
  return line.length > 200 ? `${line.slice(0, 200)} …` : line;
}

function run(suite, cli, words) {
  const runningFile = join(reports, `${suite.name}.running`);
  const ownGroup = process.platform !== 'win32';
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, {
      cwd: root,
      env: { ...process.env, ATTESTRY_SKIPPED_FILE: skippedFile, ATTESTRY_RUNNING_FILE: runningFile },
      stdio: ['ignore', cli.json ? 2 : 'inherit', 'inherit'],
      detached: ownGroup,
    });
    if (suite.nice) setPriority(child.pid, suite.nice);
    // Jest's workers outlive a Jest that is stopped: the signal goes to all of them.
    const stop = (signal) => (ownGroup ? process.kill(-child.pid, signal) : child.kill(signal));
    stops.add(stop);
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      cli.note(`${suite.name}: still running after ${suite.limit / minute} minutes: stopped`);
      for (const file of readLines(runningFile)) cli.note(`  not finished: ${file}`);
      stop('SIGKILL');
    }, suite.limit);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      stops.delete(stop);
      resolve({ status: code ?? signal, timedOut });
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
