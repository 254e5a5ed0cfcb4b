import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../setup.mjs';

const LEAST_PERCENT = 90;
const isTest = /\.(spec|contract|spec-fixture)\.ts$/;

/** Modules for what wallets present and receive, besides the checks. */
const PROTOCOL = [
  'authorization-details',
  'authorization-server-metadata',
  'bearer-value',
  'certified-key',
  'client-attestation',
  'client-attestations',
  'compact-jws',
  'current-configurations',
  'dpop-proof',
  'dpop-proofs',
  'issuer-brands',
  'map-claims',
  'mapped-claims',
  'nonce',
  'offer-document',
  'offer-entries',
  'preferred-languages',
  'published-configurations',
  'published-members',
  'published-size',
  'published-size.decisions',
  'raw-request',
  'refreshed-token',
  'scope',
  'transaction-code',
  'wallet-clients',
  'wallet-endpoints',
  'wallet-records',
];

/** Mutated files, as globs, and the tests that run besides the unit tests of the same packages. */
const areas = {
  decisions: { files: ['apps/*/src/**/*.decisions.ts'] },
  checks: {
    files: [
      ...['check', 'parse', 'verify'].map((verb) => `apps/issuance/src/**/${verb}-*.ts`),
      `apps/issuance/src/**/{${PROTOCOL}}.ts`,
    ],
    // The service on the embedded engines, in the process of the tests: what no unit test reaches.
    specs: [
      'apps/issuance/src/**/{authorization-code,dpop,key-proofs,published-size}.int.spec.ts',
      'apps/issuance/src/**/{credential-claims,exchange-token,issue-credential,known-users}.int.spec.ts',
      'apps/issuance/src/**/{ldp-vc,mso-mdoc,persisted-credential,pre-authorized-offers}.int.spec.ts',
      'apps/issuance/src/**/{credential-indexes,retrieve-issuer-metadata}.int.spec.ts',
    ],
  },
  keys: {
    files: ['libs/keys/src/**/*.ts'],
    // PostgreSQL, Redis and the thread that owns an SQLite file: the contract suites prove them on the engines, in other threads
    // and processes, where no mutant can be switched.
    without: /\/(postgres|redis)\/|\.jobs\.ts$/,
    specs: ['libs/keys/src/embedded/*.contract.spec.ts'],
  },
  outbound: { files: ['libs/service-kit/src/outbound/outbound*.ts'] },
  gateway: { files: ['apps/gateway/src/pipeline/*.ts'] },
};

/** CONTRIBUTING.md, Mutation tests. */
export default {
  group: 'Develop',
  description: `change the code of the rules in small ways and report which changes no test notices; ${LEAST_PERCENT} % must be noticed`,
  options: [
    { flags: '--only <area>', about: 'one area', choices: Object.keys(areas) },
    {
      flags: '--file <pattern>',
      about: 'only files whose path contains this; the percentage is then that of these files',
    },
    {
      flags: '--reuse',
      about: 'keep the results of the last run for what did not change since, in the file or in its tests',
    },
  ],
  examples: ['npm run mutation', 'npm run mutation -- --only checks --file verify-jwt-proof'],
  run: async ({ options: { only, file: part = '', reuse = false } }, cli) => {
    const { specsByProject } = await import('../test-levels.mjs');
    // Node 18, which only prints the help, does not have it.
    const { globSync } = await import('node:fs');
    const { unit } = specsByProject();
    // Stryker takes the folder it is started in for the project.
    process.chdir(root);
    mkdirSync(join(root, 'tmp', 'mutation'), { recursive: true });
    await cli.build();

    const results = [];
    for (const name of only ? [only] : Object.keys(areas)) {
      const { files, specs } = filesOf(areas[name], unit, globSync);
      const mutated = files.filter((it) => it.includes(part));
      if (mutated.length === 0) continue;
      cli.say(`\n== ${name}: ${mutated.length} files`);
      results.push({ name, mutated, ...(await runStryker(name, { mutated, specs, reuse }, cli)) });
    }
    if (results.length === 0) cli.wrongUsage(`no file of ${only ?? 'any area'} contains ${part}`);
    return report(results, cli);
  },
};

function filesOf({ files: globs, without, specs: more = [] }, unit, globSync) {
  const files = globSync(globs, { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !isTest.test(file) && !without?.test(file))
    .sort();
  const packages = [...new Set(files.map((file) => /^[^/]+\/[^/]+\//.exec(file)[0]))];
  const specs = unit.filter((file) => packages.some((folder) => file.startsWith(folder)));
  // In this order: most mutants are killed by a unit test before a slower one runs.
  return { files, specs: [...specs.sort(), ...globSync(more, { cwd: root }).sort()] };
}

/** @returns the mutants of each file, as Stryker reports them */
async function runStryker(name, { mutated, specs, reuse }, cli) {
  const at = (file) => `tmp/mutation/${name}${file}`;
  const beside = (file) => join(root, 'scripts', 'mutation', file);
  rmSync(join(root, at('.json')), { force: true });
  const config = {
    mutate: mutated,
    packageManager: 'npm',
    testRunner: 'in-process',
    plugins: [beside('test-runner.mjs')],
    inProcess: { specs },
    testRunnerNodeArgs: [
      '--no-warnings',
      '--import',
      pathToFileURL(join(root, 'scripts', 'jest', 'typescript.mjs')).href,
    ],
    coverageAnalysis: 'perTest',
    disableTypeChecks: false,
    concurrency: 2,
    timeoutMS: 15_000,
    // Jest looks for modules everywhere else.
    tempDirName: '.nx/mutation',
    cleanTempDir: 'always',
    ignorePatterns: ['/tmp', 'dist', '/apps/platform/bundle', '.nx'],
    incremental: reuse,
    incrementalFile: at('-last.json'),
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: at('.json') },
    logLevel: 'warn',
    warnings: { slow: false },
  };
  writeFileSync(join(root, at('-config.json')), JSON.stringify(config, null, 2));
  const stryker = join(root, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js');
  const { exitCode } = await cli.runProgram([stryker, 'run', at('-config.json')], { name, isText: true });
  if (exitCode !== 0) throw new Error(`${name}: Stryker ended with ${exitCode}; its messages are above`);
  return JSON.parse(readFileSync(join(root, at('.json')), 'utf8'));
}

function report(results, cli) {
  const reasons = JSON.parse(readFileSync(join(root, 'scripts', 'mutation', 'survivors.json'), 'utf8'));
  const faults = [];
  const document = [];
  for (const { name, mutated, files } of results) {
    const mutants = Object.entries(files).flatMap(([file, { source, mutants }]) =>
      mutants.map((mutant) => ({
        ...mutant,
        file,
        line: mutant.location.start.line,
        text: mutatedText(source, mutant),
      })),
    );
    const killed = mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout').length;
    const survivors = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
    const total = killed + survivors.length;
    const percent = total === 0 ? 100 : Math.floor((1000 * killed) / total) / 10;
    cli.say(`\n${name}: ${killed} of ${total} mutants killed, ${percent} %`);
    const known = reasons
      .filter(({ file }) => mutated.includes(file))
      .flatMap(({ mutant, mutants = [mutant], ...of }) => mutants.map((each) => ({ ...of, mutant: each })));
    const listed = survivors.map(({ file, line, text }) => {
      const reason = known.find((it) => it.file === file && it.mutant === text)?.reason;
      cli.say(`  ${file}:${line} survived: ${text}\n    ${reason ?? 'WITHOUT A REASON'}`);
      if (!reason) faults.push(`${file}:${line}: no test notices \`${text}\``);
      return { file, line, mutant: text, reason };
    });
    for (const { file, mutant } of known)
      if (!survivors.some((it) => it.file === file && it.text === mutant))
        faults.push(`scripts/mutation/survivors.json: ${file}: \`${mutant}\` is killed or no longer made: remove it`);
    if (percent < LEAST_PERCENT) faults.push(`${name}: ${percent} % are killed, ${LEAST_PERCENT} % must be`);
    document.push({ area: name, killed, total, percent, survivors: listed });
  }
  cli.say('');
  for (const fault of faults) cli.note(fault);
  cli.say(`mutation: ${faults.length} faults`);
  const ok = faults.length === 0;
  return { exitCode: ok ? 0 : 1, document: { ok, areas: document, faults } };
}

/** The code as the mutant has it: its lines, without indentation and line breaks. */
function mutatedText(source, { location: { start, end }, replacement }) {
  const lines = source.split('\n');
  const before = lines[start.line - 1].slice(0, start.column - 1);
  const after = lines[end.line - 1].slice(end.column - 1);
  return `${before}${replacement}${after}`.replaceAll(/\s+/g, ' ').trim();
}
