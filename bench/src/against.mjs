// `npm run bench -- --against REF [--only=jwt_vc_json:64] [--pairs N] [--json]`: compares this working tree with another version of it.
// Both run at once, each works in slices of 2 s in turn while the other one is idle, and the CPU time of all threads is compared for each
// credential. On a machine where single runs vary by 40 % these ratios vary by a few.
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { checkOut } from './checkout.mjs';
import { compareSlices, orderOf } from './compare-slices.mjs';
import { prepare } from './flow.mjs';
import { connect } from './http.mjs';
import { loadFor, loadTimes } from './load.mjs';
import { ROOT, startEmbedded } from './platforms.mjs';

const { values: options } = parseArgs({
  options: {
    against: { type: 'string' },
    only: { type: 'string' },
    pairs: { type: 'string', default: '12' },
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
  },
});
const PAIRS = options.quick ? 2 : Number(options.pairs);
if (!Number.isInteger(PAIRS) || PAIRS < 1) throw new Error('--pairs must be a whole number of at least 1');
const SLICE_SECONDS = 2;
/** Credentials for each version before each measurement, so that both have compiled the same code. */
const WARM_UP = options.quick ? 300 : 2000;
/** A process is idle when it uses less than a tick of CPU in this time. */
const IDLE_MS = 100;
const MAX_WAIT_MS = 5000;
const MEASURED = (options.only ?? 'jwt_vc_json:64,jwt_vc_json:1,ldp_vc:64,nonce:64').split(',').map((word) => {
  const [format, clients] = word.split(':');
  return { format, clients: Number(clients) };
});

const say = (line) => (options.json ? console.error(line) : console.log(line));

/** Lists, operation events and publishers run after the responses: they belong to the slice that caused them. */
const untilIdle = async (platform) => {
  for (const end = performance.now() + MAX_WAIT_MS; performance.now() < end;) {
    const before = platform.cpu().platform;
    await pause(IDLE_MS);
    if (platform.cpu().platform - before < 10) return;
  }
};

const start = async (root) => {
  const platform = await startEmbedded(root);
  const setUp = connect(platform.port, 1);
  const formats = MEASURED.map(({ format }) => format);
  const tenant = await prepare(setUp, platform, formats);
  await setUp.close();
  return { platform, tenant };
};

const slice = async ({ platform, tenant }, format, clients) => {
  const http = connect(platform.port, clients);
  const before = platform.cpu().platform;
  const { latencies, seconds } = await loadFor(SLICE_SECONDS, http, tenant, format, clients);
  await http.close();
  await untilIdle(platform);
  return { credentials: latencies.length, seconds, cpuMs: platform.cpu().platform - before };
};

const warmUp = async ({ platform, tenant }, format, clients) => {
  const http = connect(platform.port, clients);
  await loadTimes(WARM_UP, http, tenant, format, clients);
  await http.close();
  await untilIdle(platform);
};

const describe = ({ median, quartiles, range }) =>
  `${median} (quartiles ${quartiles.join(' to ')}, range ${range.join(' to ')})`;

const { commit, folder } = checkOut(ROOT, options.against);
say(`current: this working tree; base: ${options.against} (${commit.slice(0, 12)})`);
const versions = {};
const results = [];
try {
  versions.base = await start(folder);
  versions.current = await start(ROOT);
  for (const { format, clients } of MEASURED) {
    for (const version of Object.values(versions)) await warmUp(version, format, clients);
    const pairs = [];
    for (let at = 0; at < PAIRS; at++) {
      const pair = {};
      for (const name of orderOf(at)) pair[name] = await slice(versions[name], format, clients);
      pairs.push(pair);
    }
    const result = { format, clients, ...compareSlices(pairs) };
    results.push(result);
    const unit = format === 'nonce' ? 'nonce' : 'credential';
    say(`${format}, ${clients} client${clients === 1 ? '' : 's'}, ${PAIRS} pairs of ${SLICE_SECONDS} s:`);
    say(`  CPU per ${unit}, current over base: ${describe(result.cpuRatio)}`);
    say(`  from the three cheapest slices of each: ${result.cpuRatioOfCheapest}`);
    for (const name of ['base', 'current'])
      say(
        `  ${name}: ${describe(result.cpuMsPerCredential[name])} ms, ${describe(result.credentialsPerSecond[name])} per second`,
      );
  }
} finally {
  for (const { platform } of Object.values(versions)) await platform.stop();
}
if (options.json) console.log(JSON.stringify({ against: options.against, commit, pairs: PAIRS, results }));
