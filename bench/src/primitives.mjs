// Primitive operations of the machine, measured in the same run: the reference for the server's CPU time per credential.
import { createPublicKey, generateKeyPairSync, randomUUID, sign, verify } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHAIN_START, chainEvent, EmbeddedEventStore } from '@attestry/event-store';
import { connect } from './http.mjs';
import { startServer } from './process.mjs';
import { nodeFlags } from '../../scripts/node-flags.mjs';

/** Milliseconds a call, the best of five rounds. */
const perCall = (rounds, run) => {
  let best = Infinity;
  for (let round = 0; round < 5; round++) {
    const start = performance.now();
    for (let i = 0; i < rounds; i++) run();
    best = Math.min(best, (performance.now() - start) / rounds);
  }
  return best;
};

export const cryptoPrimitives = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const data = Buffer.from('x'.repeat(400));
  const signature = sign('sha256', data, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  const jwk = publicKey.export({ format: 'jwk' });
  return {
    es256SignMs: perCall(2000, () => sign('sha256', data, { key: privateKey, dsaEncoding: 'ieee-p1363' })),
    es256VerifyFreshJwkMs: perCall(1000, () =>
      verify(
        'sha256',
        data,
        { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
        signature,
      ),
    ),
  };
};

/** CPU milliseconds of a bare Nest and Fastify server per request, 64 clients. */
export const bareRequest = async (port, seconds) => {
  const server = await startServer([...nodeFlags, join(import.meta.dirname, 'bare-server.mjs')], {
    PORT: String(port),
  });
  const http = connect(port, 64);
  const headers = { 'content-type': 'application/json' };
  const load = async (end) => {
    let count = 0;
    const client = async () => {
      for (; performance.now() < end; count++) await http.send('POST', 'bare', '/bare', headers, '{"n":1}');
    };
    await Promise.all(Array.from({ length: 64 }, client));
    return count;
  };
  await load(performance.now() + 1000);
  const before = server.cpuMs();
  const count = await load(performance.now() + seconds * 1000);
  const cpuMs = (server.cpuMs() - before) / count;
  await http.close();
  await server.stop();
  return { bareRequestCpuMs: cpuMs, bareRequestsPerSecond: count / seconds };
};

/** CPU and wall milliseconds of one append among 64 at a time, on the disk. */
export const groupedAppend = async (seconds) => {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-bench-'));
  const store = await EmbeddedEventStore.openFile({ file: join(folder, 'events.db') });
  const event = () =>
    chainEvent(CHAIN_START, {
      id: randomUUID(),
      type: 'Appended',
      schemaVersion: 1,
      data: { text: 'x'.repeat(400) },
      metadata: {
        tenantId: 't',
        requestId: 'r',
        actor: 'a',
        operation: 'o',
        correlationId: 'c',
        causationId: 'c',
        occurredAt: '',
        partitionKey: 't',
      },
    });
  const end = performance.now() + seconds * 1000;
  const before = process.cpuUsage();
  let count = 0;
  const writer = async () => {
    for (; performance.now() < end; count++) await store.append(`bench-${randomUUID()}`, [event()], -1);
  };
  await Promise.all(Array.from({ length: 64 }, writer));
  const used = process.cpuUsage(before);
  await store.close();
  rmSync(folder, { recursive: true });
  return { groupedAppendCpuMs: (used.user + used.system) / 1000 / count, groupedAppendsPerSecond: count / seconds };
};
