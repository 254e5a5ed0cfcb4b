// `npm run bench -- --statuses [--json] [--quick]`: a change of a status among 1,000 and among 1,000,000 credentials, and the publication of 16 lists after
// as many random revocations, embedded. The program ends with 1 when the change among many costs more than 1.5 times that among few.
import 'reflect-metadata';
import { randomInt, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { retrieveStatusListToken, sdJwtConfigurations, sdJwtStatus } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { issuanceService } from '@attestry/issuance';
import { openEngines, parseConfig, ServiceClient, serviceContext, startServices } from '@attestry/service-kit';
import { median, percentile } from './statistics.mjs';

const args = process.argv.slice(2);
const json = args.includes('--json');
const quick = args.includes('--quick');
const SAMPLES = quick ? 60 : 400;
const AT_ONCE = 256;
const MOST = 1.5;
const LIST_SIZE = 131_072;
const LISTS = 16;
const TENANTS = [
  { id: '11111111-1111-4111-8111-111111111111', size: 1000 },
  { id: '22222222-2222-4222-8222-222222222222', size: quick ? 20_000 : 1_000_000 },
];
const CONFIGURATION = '33333333-3333-4333-8333-333333333333';

const say = (line) => {
  if (!json) console.log(line);
};
const aggregateOf = (category, types) => ({ category, initial: {}, types, evolve: (state) => state });
const issuedCredential = aggregateOf('credential', { CredentialRecorded: 1, CredentialStatusChanged: 1 });
const statusList = { ...aggregateOf('statusList', { StatusListOpened: 1 }), isAuxiliary: true };

const folder = mkdtempSync(join(tmpdir(), 'attestry-statuses-'));
const engines = await openEngines(parseConfig({ DATA_DIR: folder, LOG_LEVEL: 'silent' }));
const services = await startServices([issuanceService], engines);
const client = new ServiceClient(engines.bus, 'gateway');
// Apart from the service's, whose cached states are those of its own aggregates.
const streams = new Streams(engines.events, engines.clock, engines.ids);
const urlOf = (id) => `http://${id.slice(0, 8)}.localhost`;
const call = (operation, id, request, caller = { kind: 'client', clientId: 'c' }) =>
  client.call(operation, request, {
    tenant: { id, host: urlOf(id).slice(7), baseUrl: urlOf(id) },
    ...{ caller, requestId: 'r', operation: operation.name, deadline: Date.now() + 60_000 },
  });
const append = (aggregate, stream, id, events) =>
  streams.runDecision(aggregate, stream, () => events, serviceContext('bench', id));
/** Runs `task` for 0 to `count - 1`, some at once. */
const forAll = async (count, task) => {
  let next = 0;
  const worker = async () => {
    while (next < count) await task(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
};
const tokenOf = async (id, listId) => {
  const raw = { method: 'GET', url: '/', headers: {}, text: '' };
  const answer = await call(retrieveStatusListToken, id, { params: { id: listId }, raw }, { kind: 'public' }).catch(
    () => undefined,
  );
  return answer?.$http;
};

/** Lists of one issuer, as the service opens them. */
const openLists = async (id) => {
  const listIds = Array.from({ length: LISTS }, () => randomUUID());
  for (const listId of listIds) {
    const data = {
      ...{ listId, tokenType: 'jwt', signer: { kind: 'issuerSigner', issuer: urlOf(id) }, size: LIST_SIZE, bits: 2 },
      ...{ uri: `${urlOf(id)}/v2/credentials/status-lists/${listId}/token`, sealedSecret: 'unused' },
      openedAt: new Date().toISOString(),
    };
    await append(statusList, `statusList-${id}+${listId}`, id, [{ type: 'StatusListOpened', data }]);
  }
  return listIds;
};

/** Different entries of the lists, at random. */
const randomEntries = (listIds, count) => {
  const entries = Uint32Array.from({ length: LISTS * LIST_SIZE }, (_, n) => n);
  for (let n = 0; n < count; n++) {
    const other = randomInt(n, entries.length);
    [entries[n], entries[other]] = [entries[other], entries[n]];
  }
  return (n) => ({ listId: listIds[Math.floor(entries[n] / LIST_SIZE)], index: entries[n] % LIST_SIZE });
};

const recordAll = async ({ id, size }) => {
  const entryOf = randomEntries(await openLists(id), size);
  const credentials = [];
  await forAll(size, async (n) => {
    const at = new Date().toISOString();
    const about = {
      ...{ credentialId: randomUUID(), userId: randomUUID(), credentialConfigurationId: CONFIGURATION },
      ...{ format: 'dc+sd-jwt', profile: 'sd-jwt', issuedAt: at },
    };
    const status = entryOf(n);
    credentials.push({ ...about, ...status });
    const data = {
      ...{ ...about, answerId: about.credentialId, sessionId: about.credentialId, issuer: urlOf(id), validFrom: at },
      ...{ credentialType: 'Bench', configurationVersion: 1, tokenId: about.credentialId, holderKey: {}, status },
    };
    const events = [{ type: 'CredentialRecorded', data }];
    await append(issuedCredential, `credential-${id}+${about.credentialId}`, id, events);
  });
  return credentials;
};

let failed = false;
try {
  const body = {
    ...{ type: 'Bench', name: 'Bench', issuer: { name: 'Bench' }, revocable: true },
    claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
  };
  for (const { id } of TENANTS) await call(sdJwtConfigurations.create, id, { body });
  const issued = [];
  for (const tenant of TENANTS) {
    const begun = performance.now();
    issued.push(await recordAll(tenant));
    say(`${tenant.size} credentials recorded in ${((performance.now() - begun) / 1000).toFixed(0)} s`);
  }

  // In turn, so that other load of the machine affects both.
  const times = TENANTS.map(() => []);
  for (let n = 0; n < SAMPLES; n++)
    for (const [which, { id }] of TENANTS.entries()) {
      const { credentialId } = issued[which].pop();
      const begun = performance.now();
      await call(sdJwtStatus.set, id, { params: { id: credentialId }, body: { status: 'suspended' } });
      if (n >= SAMPLES / 4) times[which].push(performance.now() - begun);
    }
  const [few, many] = times.map(median);
  const ratio = many / few;
  failed = ratio > MOST;
  say(
    `a change of a status: ${few.toFixed(2)} ms among ${TENANTS[0].size}, ${many.toFixed(2)} ms among ${TENANTS[1].size}: ${ratio.toFixed(2)} times`,
  );

  const [, { id }] = TENANTS;
  const [, credentials] = issued;
  const listIds = [...new Set(credentials.map(({ listId }) => listId))];
  const revoking = performance.now();
  await forAll(credentials.length, (n) => {
    const about = credentials[n];
    const data = { ...about, status: 'invalid', former: 'valid', changedAt: new Date().toISOString() };
    const events = [{ type: 'CredentialStatusChanged', data }];
    return append(issuedCredential, `credential-${id}+${about.credentialId}`, id, events);
  });
  const revokedAt = performance.now();
  // Each token from the last revocation on, until it changes no more for as long as three runs of the publisher.
  const last = new Map();
  let settledAt = revokedAt;
  while (performance.now() - settledAt < 3500 || last.size < listIds.length) {
    for (const listId of listIds) {
      const answer = await tokenOf(id, listId);
      const etag = answer?.headers.etag;
      if (answer && etag !== last.get(listId)?.etag) {
        last.set(listId, { etag, bytes: answer.body.length });
        settledAt = performance.now();
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const sizes = [...last.values()].map(({ bytes }) => bytes).sort((a, b) => a - b);
  const report = {
    ...{ samples: SAMPLES, sizes: TENANTS.map(({ size }) => size), fewMs: few, manyMs: many, ratio },
    revocationsPerSecond: credentials.length / ((revokedAt - revoking) / 1000),
    publishedAfterSeconds: (settledAt - revokedAt) / 1000,
    ...{ lists: last.size, tokenBytes: { median: median(sizes), most: percentile(sizes, 1) ?? sizes.at(-1) } },
  };
  say(
    `${credentials.length} random revocations, ${report.revocationsPerSecond.toFixed(0)}/s: the tokens of ${report.lists} lists have them ${report.publishedAfterSeconds.toFixed(1)} s after the last; ${report.tokenBytes.median} bytes each`,
  );
  if (json) console.log(JSON.stringify(report));
} finally {
  await services.close();
  await engines.close();
  rmSync(folder, { recursive: true });
}
process.exit(failed ? 1 : 0);
