// The platform under measurement: one process on its embedded engines, or a process for each service on real ones.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { programOf } from '@attestry/testing';
import { cpuMs, residentMiB, startServer } from './process.mjs';

export const ROOT = join(import.meta.dirname, '..', '..');
const raised = '1000000000';
const LIMITS = {
  RATE_LIMIT_API: raised,
  RATE_LIMIT_WALLET_TENANT: raised,
  RATE_LIMIT_WALLET_ADDRESS: raised,
  RATE_LIMIT_PUBLIC: raised,
  MAX_REQUESTS_IN_FLIGHT: '100000',
  MAX_CALLS_IN_FLIGHT: '100000',
  MAX_UNREAD_BYTES: '1073741824',
  MAX_UNREAD_BYTES_TOTAL: '1073741824',
};

export const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** @param root the folder of a built version of this repository */
export const startEmbedded = async (root = ROOT) => {
  const { nodeFlags } = await import(pathToFileURL(join(root, 'scripts/node-flags.mjs')));
  const folder = mkdtempSync(join(tmpdir(), 'attestry-bench-'));
  const port = await freePort();
  const program = programOf('main', root);
  const server = await startServer([...nodeFlags, program], {
    PORT: String(port),
    DATA_DIR: folder,
    LOG_LEVEL: 'warn',
    NODE_ENV: 'development',
    ...LIMITS,
  });
  return {
    port,
    managementHost: new URL(server.ready.management).host,
    authHost: new URL(server.ready.auth).host,
    credentials: JSON.parse(readFileSync(join(folder, 'management-client.json'), 'utf8')),
    startMs: server.startMs,
    cpu: () => ({ platform: server.cpuMs() }),
    engines: [],
    residentMiB: server.residentMiB,
    hops: async () => undefined,
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** A process and those it started: PostgreSQL has one for each connection. */
const family = (pid) => {
  const parentOf = (id) =>
    Number(
      readFileSync(`/proc/${id}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[1],
    );
  const children = readdirSync('/proc').filter((id) => {
    try {
      return /^\d+$/.test(id) && parentOf(id) === pid;
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });
  return [pid, ...children.map(Number)];
};

/** Sum of the samples of a metric on a process. */
const total = async (port, name) => {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  const lines = (await answer.text())
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
};

/** @param issuance how many processes of the issuance service */
export const startCluster = async (kit, { issuance = 2 } = {}) => {
  const begun = performance.now();
  const cluster = await kit.Cluster.start({
    env: { LOG_LEVEL: 'warn', DATABASE_POOL: '10', ...LIMITS },
    replicas: { issuance },
  });
  const { ready, engines } = cluster;
  const pids = { nats: engines.nats?.pid, postgresql: engines.postgres?.pid, redis: engines.redis?.pid };
  const eventStore = Number(process.env.EVENTSTORE_PID);
  if (eventStore) pids.eventstoredb = eventStore;
  const here = Object.entries(pids).filter(([, pid]) => pid);
  return {
    // Past the balancer, which is not part of the platform: connections go to both gateways in turn.
    port: cluster.gateways.map(({ port }) => port),
    managementHost: new URL(ready.management).host,
    authHost: new URL(ready.auth).host,
    credentials: cluster.managementClient(),
    startMs: performance.now() - begun,
    engines: here.map(([name]) => name),
    cpu: () =>
      Object.fromEntries([
        ...cluster.processes.map(({ name, pid }) => [name, cpuMs(pid)]),
        ...here.map(([name, pid]) => [name, family(pid).reduce((sum, id) => sum + cpuMs(id), 0)]),
      ]),
    residentMiB: () => cluster.processes.reduce((sum, { pid }) => sum + residentMiB(pid), 0),
    /** Requests that came in over HTTP, and requests between processes, since the start. */
    async hops() {
      const sum = async (processes, name) =>
        (await Promise.all(processes.map(({ adminPort }) => total(adminPort, name)))).reduce((a, b) => a + b, 0);
      const behind = cluster.processes.filter(({ service }) => service !== 'gateway');
      return {
        http: await sum(cluster.gateways, 'attestry_http_requests_total'),
        bus: await sum(behind, 'attestry_operations_total'),
      };
    },
    stop: () => cluster.stop(),
  };
};
