// `npm run bench`: credentials per second through the whole pre-authorized flow, against the machine's own primitives.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from './http.mjs';
import { issueOne, makeHolderKeys, prepare } from './flow.mjs';
import { bareRequest, cryptoPrimitives, groupedAppend } from './primitives.mjs';
import { startServer } from './process.mjs';

const ROOT = join(import.meta.dirname, '..', '..');
const args = process.argv.slice(2);
const json = args.includes('--json');
const quick = args.includes('--quick');
const SECONDS = quick ? 1 : 5;
const ROUNDS = quick ? 1 : 3;
const WARM_UP_SECONDS = quick ? 1 : 3;
/** Appends of one flow: user and session, code redeemed, credential issued. */
const APPENDS = 4;
const TARGETS = { jwt64: 800, jwt1: 250, ldp64: 400, cpuRatio: 2.5, startMs: 2000, residentMiB: 400 };

const say = (line) => {
  if (!json) console.log(line);
};

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

const percentile = (sorted, p) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))];
const round = (value, digits = 2) => Number(value.toFixed(digits));
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const folder = mkdtempSync(join(tmpdir(), 'attestry-bench-'));
const port = await freePort();
const raised = '1000000000';
const server = await startServer([join(ROOT, 'apps/platform/dist/main.js')], {
  PORT: String(port),
  DATA_DIR: folder,
  LOG_LEVEL: 'warn',
  NODE_ENV: 'development',
  RATE_LIMIT_API: raised,
  RATE_LIMIT_WALLET_TENANT: raised,
  RATE_LIMIT_WALLET_ADDRESS: raised,
  RATE_LIMIT_PUBLIC: raised,
});
say(`ready in ${round(server.startMs, 0)} ms`);

const setUp = connect(port, 1);
const tenant = await prepare(setUp, {
  managementHost: new URL(server.ready.management).host,
  authHost: new URL(server.ready.auth).host,
  credentials: JSON.parse(readFileSync(join(folder, 'management-client.json'), 'utf8')),
});
await setUp.close();
const keys = makeHolderKeys();
let nextKey = 0;

const load = async (http, configurationId, clients, seconds) => {
  const end = performance.now() + seconds * 1000;
  const latencies = [];
  const client = async () => {
    while (performance.now() < end) {
      const start = performance.now();
      await issueOne(http, tenant, configurationId, keys[nextKey++ % keys.length]);
      latencies.push(performance.now() - start);
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: clients }, client));
  return { latencies, seconds: (performance.now() - start) / 1000 };
};

const measure = async (format, clients) => {
  const http = connect(port, clients);
  const id = tenant.configurations[format];
  await load(http, id, clients, WARM_UP_SECONDS);
  const rates = [];
  const latencies = [];
  const cpu = [];
  for (let i = 0; i < ROUNDS; i++) {
    const before = server.cpuMs();
    const run = await load(http, id, clients, SECONDS);
    cpu.push((server.cpuMs() - before) / run.latencies.length);
    rates.push(run.latencies.length / run.seconds);
    latencies.push(...run.latencies);
  }
  await http.close();
  latencies.sort((a, b) => a - b);
  const result = {
    format,
    clients,
    credentialsPerSecond: round(median(rates), 0),
    rounds: rates.map((rate) => round(rate, 0)),
    p50Ms: round(percentile(latencies, 0.5)),
    p95Ms: round(percentile(latencies, 0.95)),
    p99Ms: round(percentile(latencies, 0.99)),
    serverCpuMsPerCredential: round(median(cpu), 3),
  };
  say(
    `${format} ${clients} clients: ${result.credentialsPerSecond}/s, p50 ${result.p50Ms} p95 ${result.p95Ms} p99 ${result.p99Ms} ms, server CPU ${result.serverCpuMsPerCredential} ms each`,
  );
  return result;
};

const only = args
  .find((arg) => arg.startsWith('--only='))
  ?.slice(7)
  .split(',');
const wanted = [
  ['jwt_vc_json', 1],
  ['jwt_vc_json', 16],
  ['jwt_vc_json', 64],
  ['ldp_vc', 64],
].filter(([format, clients]) => !only || only.includes(`${format}:${clients}`));
const results = [];
for (const [format, clients] of wanted) results.push(await measure(format, clients));
const residentMiB = round(server.residentMiB(), 0);
await server.stop();
rmSync(folder, { recursive: true, force: true });

const primitives = {
  ...cryptoPrimitives(),
  ...(await bareRequest(await freePort(), SECONDS)),
  ...(await groupedAppend(SECONDS)),
};
const yardstickMs =
  4 * primitives.bareRequestCpuMs +
  primitives.es256VerifyFreshJwkMs +
  primitives.es256SignMs +
  APPENDS * primitives.groupedAppendCpuMs;
const of = (format, clients) => results.find((r) => r.format === format && r.clients === clients);
const at64 = of('jwt_vc_json', 64);
const report = {
  startMs: round(server.startMs, 0),
  residentMiB,
  results,
  primitives: Object.fromEntries(Object.entries(primitives).map(([name, value]) => [name, round(value, 4)])),
  yardstickCpuMs: round(yardstickMs, 3),
  cpuRatio: at64 && round(at64.serverCpuMsPerCredential / yardstickMs),
  targets: TARGETS,
};
say(
  `memory ${residentMiB} MiB; yardstick ${report.yardstickCpuMs} ms CPU (4 bare requests, 1 verification, 1 signature, ${APPENDS} appends); ratio ${report.cpuRatio}`,
);
for (const [name, value] of Object.entries(report.primitives)) say(`  ${name} ${value}`);
if (json) console.log(JSON.stringify(report));
