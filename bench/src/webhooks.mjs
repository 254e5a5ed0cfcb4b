// `npm run bench -- --webhooks [--json] [--quick]`: deliveries per second to a receiver on this machine, and the time from the integration
// event on the feed to the receiver at a steady rate. The webhooks service runs here on its embedded engines, as it does in the platform's
// process; the events are those that issuance publishes, the receiver is a separate process.
import 'reflect-metadata';
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createWebhook, credentialIssued } from '@attestry/contracts';
import { openEngines, parseConfig, ServiceClient, startServices } from '@attestry/service-kit';
import { percentile, round } from './statistics.mjs';
import { webhooksService } from '@attestry/webhooks';

const args = process.argv.slice(2);
const json = args.includes('--json');
const quick = args.includes('--quick');
const DELIVERIES = quick ? 2_000 : 20_000;
const RATE = 500;
const SECONDS = quick ? 3 : 20;
/** First deliveries that warm up code, connections and the allowance of the host. */
const WARM_UP = quick ? 200 : 2_000;
const TARGETS = { deliveriesPerSecond: 2000, p99Ms: 250 };
const PATIENCE_MS = 300_000;

const say = (line) => {
  if (!json) console.log(line);
};
const now = () => performance.timeOrigin + performance.now();

const startReceiver = async () => {
  const child = fork(join(import.meta.dirname, 'webhook-receiver.mjs'));
  const arrivals = new Map();
  const { port } = await new Promise((resolve) => child.once('message', resolve));
  child.on('message', (batch) => {
    for (const [id, at] of batch) if (!arrivals.has(id)) arrivals.set(id, at);
  });
  return { url: `http://127.0.0.1:${port}/`, arrivals, stop: () => child.disconnect() };
};

const folder = mkdtempSync(join(tmpdir(), 'attestry-bench-'));
const receiver = await startReceiver();
const engines = await openEngines(
  parseConfig({ NODE_ENV: 'test', DATA_DIR: folder, LOG_LEVEL: 'warn', ALLOW_PRIVATE_TARGETS: 'true' }),
);
const services = await startServices([webhooksService], engines);
const tenantId = randomUUID();
const client = new ServiceClient(engines.bus, 'gateway');
await client.call(
  createWebhook,
  { body: { url: receiver.url, events: ['OpenIdCredentialIssuedSummary'] } },
  {
    tenant: { id: tenantId, host: 'bench.localhost', baseUrl: 'http://bench.localhost' },
    caller: { kind: 'client', clientId: 'bench' },
    requestId: randomUUID(),
    operation: 'bench',
    deadline: Date.now() + 20_000,
  },
);

const fact = () => ({
  id: randomUUID(),
  subject: credentialIssued.subject,
  headers: { tenantId, requestId: randomUUID(), occurredAt: new Date().toISOString() },
  data: {
    tenantId,
    issuer: 'http://bench.localhost',
    credentialId: randomUUID(),
    format: 'jwt_vc_json',
    profile: 'jwt-vc',
    credentialConfigurationId: randomUUID(),
    userId: randomUUID(),
    sessionId: randomUUID(),
    issuedAt: new Date().toISOString(),
  },
});
const publish = async (count) => {
  const messages = Array.from({ length: count }, fact);
  const at = now();
  for (let i = 0; i < messages.length; i += 500) await engines.bus.publish(messages.slice(i, i + 500));
  return messages.map(({ id }) => ({ id, at }));
};
const all = async (sent) => {
  // Read from where it stopped the last time: the measured code shares this thread.
  let arrived = 0;
  const complete = () => {
    while (arrived < sent.length && receiver.arrivals.has(sent[arrived].id)) arrived += 1;
    return arrived === sent.length;
  };
  for (const end = Date.now() + PATIENCE_MS; !complete(); await pause(20))
    if (Date.now() > end) {
      const missing = sent.filter(({ id }) => !receiver.arrivals.has(id)).length;
      throw new Error(`${missing} of ${sent.length} deliveries did not arrive`);
    }
  return sent.map(({ id, at }) => ({ at, arrived: receiver.arrivals.get(id) }));
};

const dispatch = async () => {
  const times = (await all(await publish(DELIVERIES))).map(({ arrived }) => arrived).sort((a, b) => a - b);
  // From the first to the last arrival: the steady rate.
  return round((times.length - 1) / ((times.at(-1) - times[0]) / 1000), 0);
};

const latency = async () => {
  const sent = [];
  const begun = performance.now();
  while (performance.now() - begun < SECONDS * 1000) {
    const due = Math.floor(((performance.now() - begun) / 1000) * RATE) - sent.length;
    if (due > 0) sent.push(...(await publish(due)));
    await pause(5);
  }
  const took = (await all(sent)).map(({ at, arrived }) => arrived - at).sort((a, b) => a - b);
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((p) => round(percentile(took, p), 1));
  return {
    perSecond: RATE,
    deliveries: took.length,
    p50Ms: p50,
    p95Ms: p95,
    p99Ms: p99,
    worstMs: round(took.at(-1), 1),
  };
};

let result;
try {
  await all(await publish(WARM_UP));
  const steady = await latency();
  say(
    `at ${RATE}/s: p50 ${steady.p50Ms} p95 ${steady.p95Ms} p99 ${steady.p99Ms} ms from event to receiver (at most ${TARGETS.p99Ms})`,
  );
  const before = process.cpuUsage();
  const deliveriesPerSecond = await dispatch();
  const { user, system } = process.cpuUsage(before);
  const cpuMsPerDelivery = round((user + system) / 1000 / DELIVERIES, 3);
  say(`${deliveriesPerSecond} deliveries/s (at least ${TARGETS.deliveriesPerSecond}), CPU ${cpuMsPerDelivery} ms each`);
  result = {
    targets: TARGETS,
    steady,
    dispatch: { deliveries: DELIVERIES, deliveriesPerSecond, cpuMsPerDelivery },
    met: deliveriesPerSecond >= TARGETS.deliveriesPerSecond && steady.p99Ms <= TARGETS.p99Ms,
  };
} finally {
  await services.close();
  await engines.close();
  receiver.stop();
  rmSync(folder, { recursive: true, force: true });
}
if (json) console.log(JSON.stringify(result, null, 2));
else say(result.met ? 'targets met' : 'TARGETS MISSED');
