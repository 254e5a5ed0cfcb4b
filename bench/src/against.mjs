// `npm run bench -- --against REF [--only=jwt_vc_json:64] [--pairs N] [--json]`: compares this working tree with another version of it.
// Both run at once, each works in slices of 2 s in turn while the other one is idle, and the CPU time of all threads is compared for each
// credential. On a machine where single runs vary by 40 % these ratios vary by a few.
import { parseArgs } from 'node:util';
import { checkOut } from '@attestry/testing';
import { compareSlices, orderOf } from './compare-slices.mjs';
import { prepare } from './flow.mjs';
import { connect } from './http.mjs';
import { ROOT, startEmbedded } from './platforms.mjs';
import { describe, slice, SLICE_SECONDS, warmUp } from './slices.mjs';

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
/** Credentials for each version before each measurement, so that both have compiled the same code. */
const WARM_UP = options.quick ? 300 : 2000;
const MEASURED = (options.only ?? 'jwt_vc_json:64,jwt_vc_json:1,ldp_vc:64,nonce:64').split(',').map((word) => {
  const [format, clients] = word.split(':');
  return { format, clients: Number(clients) };
});

const say = (line) => (options.json ? console.error(line) : console.log(line));

const start = async (root) => {
  const platform = await startEmbedded(root);
  const setUp = connect(platform.port, 1);
  const formats = MEASURED.map(({ format }) => format);
  const tenant = await prepare(setUp, platform, formats);
  await setUp.close();
  return { platform, tenant };
};

const { commit, folder } = await checkOut(options.against);
say(`current: this working tree; base: ${options.against} (${commit.slice(0, 12)})`);
const versions = {};
const results = [];
try {
  versions.base = await start(folder);
  versions.current = await start(ROOT);
  for (const { format, clients } of MEASURED) {
    for (const version of Object.values(versions)) await warmUp(version, format, clients, WARM_UP);
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
