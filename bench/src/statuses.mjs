// `npm run bench -- --statuses [--json] [--quick]`: a change of a status among 1,000 and among 1,000,000 credentials, and the publication of
// 16 lists in which as many entries, at random, became INVALID, embedded. The program ends with 1 when the change among many costs more than 1.5 times that among few.
import 'reflect-metadata';
import { randomInt, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import {
  createUser,
  listCredentials,
  retrieveStatusListToken,
  sdJwtConfigurations,
  sdJwtStatus,
} from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { issuanceService } from '@attestry/issuance';
import { openEngines, parseConfig, ServiceClient, serviceContext, startServices } from '@attestry/service-kit';
import { median } from './statistics.mjs';

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
const [INVALID, SUSPENDED] = [1, 2];
const CONFIGURATION = '33333333-3333-4333-8333-333333333333';

const say = (line) => {
  if (!json) console.log(line);
};
const aggregateOf = (category, types) => ({ category, initial: {}, types, evolve: (state) => state });
const issuedCredential = aggregateOf('credential', { CredentialRecorded: 1, CredentialStatusChanged: 1 });
const issuanceSession = aggregateOf('issuanceSession', { CredentialIssued: 2 });
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

/** Ids of lists, by tenant. */
const opened = new Map();
/** Lists of one issuer, as the service opens them. */
const openLists = async (id) => {
  const listIds = Array.from({ length: LISTS }, () => randomUUID());
  opened.set(id, listIds);
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

/** Leaves the lists as the projection would after that many changes. @returns how many entries are INVALID in each list */
const revokeAtRandom = (id, count) => {
  const db = new DatabaseSync(join(folder, 'read-models.db'), { timeout: 10_000 });
  const tables = db
    .prepare(`select name from sqlite_master where type = 'table' and name glob 'issuance_status_lists_v[0-9]*'`)
    .all();
  const [{ name }] = tables;
  const rows = db
    .prepare(`select list_id from ${name} where tenant_id = ? and list_id in (select value from json_each(?))`)
    .all(id, JSON.stringify(opened.get(id)));
  const listIds = rows.map((row) => row.list_id);
  const statuses = new Map(listIds.map((listId) => [listId, new Uint8Array(LIST_SIZE / 4)]));
  const revoked = new Map(listIds.map((listId) => [listId, 0]));
  const entryOf = randomEntries(listIds, count);
  for (let n = 0; n < count; n++) {
    const { listId, index } = entryOf(n);
    statuses.get(listId)[index >> 2] |= 1 << ((index & 3) * 2);
    revoked.set(listId, revoked.get(listId) + 1);
  }
  const update = db.prepare(
    `update ${name} set statuses = ?, changes = changes + 1, dirty = 1 where tenant_id = ? and list_id = ?`,
  );
  for (const [listId, packed] of statuses) update.run(Buffer.from(packed).toString('base64'), id, listId);
  db.close();
  return revoked;
};
const count = (status, token) => {
  const { status_list: list } = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
  let found = 0;
  for (const byte of inflateSync(Buffer.from(list.lst, 'base64url')))
    for (let shift = 0; shift < 8; shift += 2) if (((byte >> shift) & 3) === status) found += 1;
  return found;
};

/** Number of credentials for each session. */
const OF_SESSION = 100;

/** The events that the credential endpoint appends, with the credentials of several requests in one session. */
const recordAll = async ({ id, size }) => {
  const entryOf = randomEntries(await openLists(id), size);
  const credentials = [];
  const [userId, lastUserId] = await Promise.all(
    Array.from({ length: 2 }, async () => (await call(createUser, id, { body: {} })).id),
  );
  const record = async (session, ofUser) => {
    const at = new Date().toISOString();
    const facts = Array.from({ length: OF_SESSION }, (_, n) => ({
      ...{ credentialId: randomUUID(), userId: ofUser, credentialConfigurationId: CONFIGURATION },
      ...{ format: 'dc+sd-jwt', profile: 'sd-jwt', issuedAt: at, validFrom: at, issuer: urlOf(id), holderKey: {} },
      ...{ credentialType: 'Bench', status: entryOf(session * OF_SESSION + n) },
      ...{ answerId: CONFIGURATION, sessionId: CONFIGURATION },
    }));
    for (const data of facts) {
      const recorded = { ...data, configurationVersion: 1, tokenId: CONFIGURATION };
      const events = [{ type: 'CredentialRecorded', data: recorded }];
      await append(issuedCredential, `credential-${id}+${data.credentialId}`, id, events);
    }
    const issued = facts.map((data) => ({ type: 'CredentialIssued', data }));
    await append(issuanceSession, `issuanceSession-${id}+${randomUUID()}`, id, issued);
    credentials.push(...facts.map(({ credentialId }) => credentialId));
  };
  const last = size / OF_SESSION - 1;
  await forAll(last, (session) => record(session, userId));
  await record(last, lastUserId);
  // The lists have followed.
  while ((await call(listCredentials, id, { query: { userId: lastUserId } })).data.length === 0)
    await new Promise((resolve) => setTimeout(resolve, 100));
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
    say(`${tenant.size} credentials recorded and listed in ${((performance.now() - begun) / 1000).toFixed(0)} s`);
  }

  // In turn, so that other load of the machine affects both.
  const times = TENANTS.map(() => []);
  for (let n = 0; n < SAMPLES; n++)
    for (const [which, { id }] of TENANTS.entries()) {
      const credentialId = issued[which].pop();
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

  const [, { id, size }] = TENANTS;
  // The projection has followed: nothing else changes the rows.
  const suspended = async () => {
    const bodies = await Promise.all(opened.get(id).map(async (listId) => (await tokenOf(id, listId))?.body));
    return bodies.reduce((sum, token) => sum + (token ? count(SUSPENDED, token) : 0), 0);
  };
  while ((await suspended()) < SAMPLES) await new Promise((resolve) => setTimeout(resolve, 500));
  const revoked = revokeAtRandom(id, size);
  const revokedAt = performance.now();
  const cpu = process.cpuUsage();
  const tokens = new Map();
  while (tokens.size < LISTS) {
    for (const [listId, expected] of revoked)
      if (!tokens.has(listId)) {
        const token = (await tokenOf(id, listId))?.body;
        if (token && count(INVALID, token) === expected) tokens.set(listId, token.length);
      }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { user, system } = process.cpuUsage(cpu);
  const sizes = [...tokens.values()].sort((a, b) => a - b);
  const report = {
    ...{ samples: SAMPLES, sizes: TENANTS.map((tenant) => tenant.size), fewMs: few, manyMs: many, ratio },
    publishing: {
      ...{ revocations: size, lists: LISTS, seconds: (performance.now() - revokedAt) / 1000 },
      ...{ cpuMs: (user + system) / 1000, tokenBytes: median(sizes) },
    },
  };
  say(
    `${size} random revocations: the tokens of ${LISTS} lists have them after ${report.publishing.seconds.toFixed(1)} s and ${report.publishing.cpuMs.toFixed(0)} ms of CPU, reading them included; ${median(sizes)} bytes each`,
  );
  if (json) console.log(JSON.stringify(report));
} finally {
  await services.close();
  await engines.close();
  rmSync(folder, { recursive: true });
}
process.exit(failed ? 1 : 0);
