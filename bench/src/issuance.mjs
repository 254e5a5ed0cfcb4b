// `npm run bench`: credentials per second through the whole pre-authorized flow, against the machine's own primitives.
import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { connect } from './http.mjs';
import { prepare } from './flow.mjs';
import { loadFor } from './load.mjs';
import { formatWork } from './format-work.mjs';
import { bareRequest, cryptoPrimitives, groupedAppend } from './primitives.mjs';
import { freePort, startCluster, startEmbedded } from './platforms.mjs';
import { median, percentile, round } from './statistics.mjs';

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    mode: { type: 'string', default: 'embedded' },
  },
});
const { json, quick, mode } = options;
if (!['embedded', 'cluster'].includes(mode)) throw new Error('--mode must be embedded or cluster');
const SECONDS = quick ? 1 : 5;
const ROUNDS = quick ? 1 : 3;
const WARM_UP_SECONDS = quick ? 1 : 3;
/** Appends of one flow: user and session, code redeemed, credential issued. */
const APPENDS = 4;
const TARGETS = {
  // The rate of an mdoc with 10 elements beside that of jwt_vc_json; and each format's own work beside the same bytes made by libraries alone.
  ...{ mdoc64OfJwt64: 0.6, formatWorkRatio: 1.25 },
  ...{ jwt64: 800, jwt1: 250, ldp64: 400, cpuRatio: 2.5, startMs: 2000, residentMiB: 400 },
  // Services' CPU per credential, in embedded ones; and hops of a request.
  ...{ clusterOnPostgreSQL: 3, clusterOnEventStoreDB: 4, hopsPerRequest: 3 },
};

const say = (line) => {
  if (!json) console.log(line);
};

const sumOf = (cpu, without) =>
  Object.entries(cpu).reduce((sum, [name, ms]) => (without.includes(name) ? sum : sum + ms), 0);
const mediansOf = (samples) =>
  Object.fromEntries(Object.keys(samples[0]).map((name) => [name, round(median(samples.map((one) => one[name])), 3)]));
/** CPU of all services together, against the embedded process that does the same; engines apart. */
const clusterRatio = ({ twoIssuance }, embedded64) => {
  const at64 = twoIssuance.results.find((it) => it.format === 'jwt_vc_json' && it.clients === 64);
  return at64 && embedded64 && round(at64.serverCpuMsPerCredential / embedded64.serverCpuMsPerCredential);
};

const measure = async (platform, tenant, format, clients) => {
  const http = connect(platform.port, clients);
  await loadFor(WARM_UP_SECONDS, http, tenant, format, clients);
  const rates = [];
  const latencies = [];
  const cpu = [];
  for (let i = 0; i < ROUNDS; i++) {
    const before = platform.cpu();
    const run = await loadFor(SECONDS, http, tenant, format, clients);
    const after = platform.cpu();
    const each = Object.keys(after).map((name) => [name, (after[name] - before[name]) / run.latencies.length]);
    cpu.push(Object.fromEntries(each));
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
    serverCpuMsPerCredential: round(median(cpu.map((one) => sumOf(one, platform.engines))), 3),
    ...(platform.engines.length && { cpuMsPerCredential: mediansOf(cpu) }),
  };
  say(
    `${format} ${clients} clients: ${result.credentialsPerSecond}/s, p50 ${result.p50Ms} p95 ${result.p95Ms} p99 ${result.p99Ms} ms, server CPU ${result.serverCpuMsPerCredential} ms each`,
  );
  return result;
};

const only = options.only?.split(',');
const wanted = [
  ['jwt_vc_json', 1],
  ['jwt_vc_json', 16],
  ['jwt_vc_json', 64],
  ...['ldp_vc', 'dc+sd-jwt', 'cwt', 'cwt_vc', 'mso_mdoc'].map((format) => [format, 64]),
].filter(([format, clients]) => !only || only.includes(`${format}:${clients}`));
/** All requested measurements on one platform, which is started for it and stopped. */
const measureAll = async (start, wanted) => {
  const platform = await start();
  try {
    say(`ready in ${round(platform.startMs, 0)} ms`);
    const setUp = connect(platform.port, 1);
    const formats = wanted.map(([format]) => format);
    const tenant = await prepare(setUp, platform, formats);
    await setUp.close();
    const before = await platform.hops();
    const results = [];
    for (const [format, clients] of wanted) results.push(await measure(platform, tenant, format, clients));
    const after = await platform.hops();
    return {
      startMs: round(platform.startMs, 0),
      residentMiB: round(platform.residentMiB(), 0),
      results,
      // The one to the gateway, and those from it to the services.
      ...(after && { hopsPerRequest: round(1 + (after.bus - before.bus) / (after.http - before.http)) }),
    };
  } finally {
    await platform.stop();
  }
};

const embedded = await measureAll(startEmbedded, wanted);
const { results, startMs, residentMiB } = embedded;
let cluster;
if (mode === 'cluster') {
  const kit = await import('@attestry/testing');
  const one = await measureAll(() => startCluster(kit, { issuance: 1 }), wanted);
  const two = await measureAll(() => startCluster(kit, { issuance: 2 }), wanted);
  cluster = { engines: process.env.EVENTSTORE_URL ? 'EventStoreDB' : 'PostgreSQL', oneIssuance: one, twoIssuance: two };
}

const primitives = {
  ...cryptoPrimitives(),
  ...(await bareRequest(await freePort(), SECONDS)),
  ...(await groupedAppend(SECONDS)),
};
const work = await formatWork();
const referenceMs =
  4 * primitives.bareRequestCpuMs +
  primitives.es256VerifyFreshJwkMs +
  primitives.es256SignMs +
  APPENDS * primitives.groupedAppendCpuMs;
const of = (format, clients) => results.find((r) => r.format === format && r.clients === clients);
const at64 = of('jwt_vc_json', 64);
const mdocAt64 = of('mso_mdoc', 64);
const report = {
  startMs,
  residentMiB,
  results,
  primitives: Object.fromEntries(Object.entries(primitives).map(([name, value]) => [name, round(value, 4)])),
  referenceCpuMs: round(referenceMs, 3),
  cpuRatio: at64 && round(at64.serverCpuMsPerCredential / referenceMs),
  formatWork: Object.fromEntries(
    Object.entries(work).map(([format, { moduleMs, librariesMs }]) => [
      format,
      {
        serverCpuMsPerCredential: of(format, 64)?.serverCpuMsPerCredential,
        moduleMs: round(moduleMs, 3),
        librariesMs: round(librariesMs, 3),
        ratio: round(moduleMs / librariesMs),
      },
    ]),
  ),
  mdoc64OfJwt64: mdocAt64 && at64 && round(mdocAt64.credentialsPerSecond / at64.credentialsPerSecond),
  targets: TARGETS,
  ...(cluster && { cluster, clusterCpuRatio: clusterRatio(cluster, at64) }),
};
say(
  `memory ${residentMiB} MiB; reference ${report.referenceCpuMs} ms CPU (4 bare requests, 1 verification, 1 signature, ${APPENDS} appends); ratio ${report.cpuRatio}`,
);
say(`mso_mdoc with 10 elements: ${report.mdoc64OfJwt64} of the rate of jwt_vc_json`);
for (const [format, it] of Object.entries(report.formatWork))
  say(
    `${format}: ${it.serverCpuMsPerCredential} ms server CPU each; the format's own work on 10 claims ${it.moduleMs} ms, the same bytes by libraries alone ${it.librariesMs} ms: ratio ${it.ratio}`,
  );
for (const [name, value] of Object.entries(report.primitives)) say(`  ${name} ${value}`);
if (json) console.log(JSON.stringify(report));
