// `npm run bench -- --chain [--json] [--quick]`: events per second of CPU that a verification of all chains reads from an embedded store and
// hashes, in all threads of the process.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHAIN_START, chainEvent, EmbeddedEventStore, verifyChain } from '@attestry/event-store';
import { round } from './statistics.mjs';

const args = process.argv.slice(2);
const json = args.includes('--json');
const STREAMS = args.includes('--quick') ? 2_000 : 20_000;
const EVENTS = 5;
const TARGETS = { eventsPerCpuSecond: 60_000, bytesPerEvent: 1_100 };

const say = (line) => {
  if (!json) console.log(line);
};

const write = async (store) => {
  const tenantId = randomUUID();
  const sealed = 'x'.repeat(85);
  const data = () => ({
    id: randomUUID(),
    status: 'active',
    list: [1, 2, 3],
    sealed: [sealed, sealed, sealed, sealed, sealed, sealed],
  });
  const append = async () => {
    let chain = CHAIN_START;
    const ids = { requestId: randomUUID(), correlationId: randomUUID(), causationId: randomUUID() };
    const about = {
      actor: 'client:bench',
      operation: 'issuance.issue-credential',
      occurredAt: new Date().toISOString(),
    };
    const events = Array.from({ length: EVENTS }, () => {
      const metadata = { tenantId, ...ids, ...about, partitionKey: tenantId };
      const event = chainEvent(chain, {
        id: randomUUID(),
        type: 'CredentialIssued',
        schemaVersion: 1,
        data: data(),
        metadata,
      });
      chain = event.chain;
      return event;
    });
    await store.append(`issuanceSession-${tenantId}+${randomUUID()}`, events, -1);
  };
  for (let n = 0; n < STREAMS; n += 500) await Promise.all(Array.from({ length: 500 }, append));
};

const verify = async (store) => {
  const heads = new Map();
  let [count, bytes] = [0, 0];
  for (let after, atEnd = false; !atEnd;) {
    const page = await store.readAll({ after, limit: 1000 });
    for (const event of page.events) {
      const check = verifyChain([event], heads.get(event.stream));
      if (!check.intact) throw new Error(`${event.stream} is broken at revision ${event.revision}`);
      heads.set(event.stream, check.chain);
      count++;
      bytes += event.text.data.length + event.text.metadata.length;
    }
    ({ next: after, atEnd } = page);
  }
  return { count, bytes };
};

const folder = mkdtempSync(join(tmpdir(), 'attestry-bench-'));
const store = await EmbeddedEventStore.openFile({ file: join(folder, 'events.db') });
try {
  await write(store);
  const rounds = [];
  for (let n = 0; n < 3; n++) {
    const before = process.cpuUsage();
    const { count, bytes } = await verify(store);
    const { user, system } = process.cpuUsage(before);
    rounds.push({
      eventsPerCpuSecond: round(count / ((user + system) / 1e6), 0),
      bytesPerEvent: round(bytes / count, 0),
    });
    say(
      `${rounds.at(-1).eventsPerCpuSecond} events of ${rounds.at(-1).bytesPerEvent} bytes per second of CPU (at least ${TARGETS.eventsPerCpuSecond})`,
    );
  }
  if (json) console.log(JSON.stringify({ targets: TARGETS, rounds }));
} finally {
  await store.close();
  rmSync(folder, { recursive: true });
}
