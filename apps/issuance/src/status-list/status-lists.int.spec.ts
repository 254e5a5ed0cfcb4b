/** @engines embedded postgres */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, inflateSync } from 'node:zlib';
import {
  AppError,
  compactRevocationLists,
  compactSemanticRevocationLists,
  releaseIssuerKey,
  reserveIssuerKey,
  retrieveStatusListToken,
  sdJwtConfigurations,
  jwtVcConfigurations,
  tenantPurged,
  type Caller,
  type CredentialStatus,
  type HttpAnswer,
  type PageOf,
  type RevocationList,
} from '@attestry/contracts';
import { EventStoreUnavailable, StaleEpoch, Streams, type EventStore } from '@attestry/event-store';
import {
  openEngines,
  parseConfig,
  ServiceClient,
  serviceContext,
  startServices,
  type Engines,
  type RequestOf,
  type RunningServices,
} from '@attestry/service-kit';
import { chosenEngines, TEST_SETTINGS, waitUntil } from '@attestry/testing';
import { getListFromStatusListJWT } from '@sd-jwt/jwt-status-list';
import { decode, type Tag } from 'cbor2';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { issuanceService } from '../index.js';
import { changeStatus, recordCredential } from '../issued-credential/issued-credential.decisions.js';
import type { CredentialRecordedData, StatusEntry } from '../issued-credential/issued-credential.events.js';
import { issuedCredential, issuedCredentialStream } from '../issued-credential/issued-credential.state.js';
import { firstListId } from './first-list-id.js';
import { listSeries, seriesName, type ListSeries } from './list-series.js';
import { PublishStatusLists } from './publish-status-lists.worker.js';
import { PublishedListsReadModel } from './published-lists.read-model.js';
import { shardOf } from './shard-of.js';
import { StatusIndexes } from './status-indexes.js';
import { StatusListsReadModel } from './status-lists.read-model.js';
import { statusList, statusListStream } from './status-list.state.js';

const DID = 'did:web:acme.example';
let dataDir: string;
let engines: Engines;
let services: RunningServices;
let client: ServiceClient;
/** Milliseconds the clock is ahead. */
let ahead = 0;
/** Of the DID. */
let didKeyId = '';

let ids = 0;
const newId = () => `5${String(++ids).padStart(7, '0')}-0000-4000-8000-000000000000`;
const urlOf = (tenantId: string) => `http://${tenantId.slice(0, 8)}.localhost:8080`;
const tenantOf = (tenantId: string) => ({
  id: tenantId,
  host: urlOf(tenantId).slice(7),
  baseUrl: urlOf(tenantId),
});
const call = (operation: Parameters<ServiceClient['call']>[0], tenantId: string, caller: Caller, request: object) =>
  client.call(
    operation,
    request as Partial<RequestOf<typeof operation>>,
    {
      tenant: tenantOf(tenantId),
      caller,
      requestId: 'request',
      operation: operation.name,
      deadline: Date.now() + 20_000,
    } as never,
  );
const admin: Caller = { kind: 'client', clientId: 'c' };
const body = (more: object = {}) => ({
  type: 'Course',
  name: 'Course',
  issuer: { name: 'Acme' },
  claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
  revocable: true,
  ...more,
});
const configure = (tenantId: string, more: object = {}) =>
  call(sdJwtConfigurations.create, tenantId, admin, { body: body(more) }) as Promise<{ id: string }>;
const fetchToken = async (tenantId: string, listId: string, headers: Record<string, string> = {}) => {
  const raw = { method: 'GET', url: '/', headers, text: '' };
  const request = { params: { id: listId }, raw };
  return ((await call(retrieveStatusListToken, tenantId, { kind: 'public' }, request)) as HttpAnswer).$http as {
    status?: number;
    headers: Record<string, string>;
    body: string;
    base64?: string;
  };
};
const refusal = async (promise: Promise<unknown>): Promise<AppError> => {
  try {
    await promise;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('it was not refused');
};
/** Waits for the projection and the publisher. */
const published = async (tenantId: string, listId: string, when: (token: string) => boolean = () => true) => {
  let token = '';
  const isPublished = async () => {
    token = (await fetchToken(tenantId, listId)).body;
    return when(token);
  };
  await waitUntil(isPublished, { what: 'the token of the list' });
  return token;
};
const statusIn = (token: string, index: number): number => getListFromStatusListJWT(token).getStatus(index);

const seriesOf = (tenantId: string, size = 131_072): ListSeries =>
  listSeries({ kind: 'tokenStatusList', tokenType: 'jwt', size }, { kind: 'issuerSigner', issuer: urlOf(tenantId) });
const firstList = (tenantId: string) => firstListId(tenantId, seriesName(seriesOf(tenantId)));
const lists = () => services.app.get(StatusListsReadModel, { strict: false });
const tokens = () => services.app.get(PublishedListsReadModel, { strict: false });
const publisher = () => services.app.get(PublishStatusLists, { strict: false });
const event = (tenantId: string) => serviceContext('issuance.spec', tenantId);

/** Another process: it shares the stores alone. */
const replica = (events: EventStore = engines.events) =>
  new StatusIndexes(
    new Streams(events, engines.clock, engines.ids),
    engines.vault.sealing,
    lists(),
    engines.clock,
    engines.ids,
    engines.logger,
  );
const record = async (tenantId: string, status: StatusEntry): Promise<string> => {
  const credentialId = newId();
  const facts = { credentialId, userId: newId(), credentialConfigurationId: newId(), format: 'dc+sd-jwt', status };
  const data = facts as unknown as CredentialRecordedData;
  const stream = issuedCredentialStream(tenantId, credentialId);
  await engines.streams.runDecision(
    issuedCredential,
    stream,
    (state) => recordCredential(state, data),
    event(tenantId),
  );
  return credentialId;
};
const change = (tenantId: string, credentialId: string, status: CredentialStatus) =>
  engines.streams.runDecision(
    issuedCredential,
    issuedCredentialStream(tenantId, credentialId),
    (state) => changeStatus(state, { format: 'dc+sd-jwt', status }, engines.clock.now()),
    event(tenantId),
  );

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'status-lists-'));
  const config = parseConfig({ ...TEST_SETTINGS, DATA_DIR: dataDir, BASE_DOMAIN: 'localhost:8080' });
  engines = await chosenEngines(await openEngines(config, { clock: { now: () => new Date(Date.now() + ahead) } }));
  engines.bus.serve(reserveIssuerKey.subject, async () => ({
    ok: true,
    data: { did: DID, verificationMethod: `${DID}#k`, kmsKeyId: didKeyId, algorithm: 'Ed25519' },
  }));
  engines.bus.serve(releaseIssuerKey.subject, async () => ({ ok: true, data: undefined }));
  services = await startServices([issuanceService], engines);
  client = new ServiceClient(engines.bus, 'gateway');
});
beforeEach(() => {
  ahead = 0;
});
afterAll(async () => {
  await services?.close();
  await engines?.close();
  await rm(dataDir, { recursive: true, force: true });
});

describe('indexes', () => {
  it('are given out once, by all processes together, also when requests come at once and processes end', async () => {
    const tenantId = newId();
    const series = seriesOf(tenantId, 5000);
    const seen = new Set<string>();
    const listIds = new Set<string>();
    let given = 0;
    for (let round = 0; round < 4; round++) {
      // What processes of an earlier round have claimed and not used is wasted.
      const processes = [replica(), replica(), replica()];
      const wanted = processes.flatMap((process) =>
        Array.from({ length: 60 }, (_, n) => process.allocate(tenantOf(tenantId), series, 1 + (n % 10))),
      );
      for (const { listId, uri, index } of (await Promise.all(wanted)).flat()) {
        given += 1;
        seen.add(`${listId} ${index}`);
        listIds.add(listId);
        expect(uri).toBe(`${urlOf(tenantId)}/v2/credentials/status-lists/${listId}/token`);
        expect(index).toBeLessThan(5000);
      }
    }
    expect(given).toBe(4 * 3 * 330);
    expect(seen.size).toBe(given);
    expect(listIds).toContain(firstListId(tenantId, seriesName(series)));
  }, 60_000);

  it('continue in the next list, which is opened before the last one is used up', async () => {
    const tenantId = newId();
    const series = seriesOf(tenantId, 2100);
    const first = firstListId(tenantId, seriesName(series));
    const process = replica();
    const [one] = await process.allocate(tenantOf(tenantId), series, 1);
    expect(one!.listId).toBe(first);
    const { state } = await engines.streams.load(statusList, statusListStream(tenantId, first));
    if (state.status !== 'open' || state.successorId === undefined) throw new Error('no successor is named');
    const next = await engines.streams.load(statusList, statusListStream(tenantId, state.successorId));
    expect(next.state).toMatchObject({ status: 'open', next: 0, size: 2100 });
    const rest = await process.allocate(tenantOf(tenantId), series, 2100);
    expect(rest.slice(0, -1).every(({ listId }) => listId === first)).toBe(true);
    expect(rest.at(-1)!.listId).toBe(state.successorId);
    expect(new Set([one!, ...rest].filter(({ listId }) => listId === first).map(({ index }) => index)).size).toBe(2100);
    // A process that starts later follows the lists.
    const [later] = await replica().allocate(tenantOf(tenantId), series, 1);
    expect(later!.listId).not.toBe(first);
  });

  it('of a claim with an unknown outcome are wasted', async () => {
    const tenantId = newId();
    const series = seriesOf(tenantId);
    await replica().ensureSeries(tenantOf(tenantId), series);
    // The first append is stored, but its answer is lost.
    let isLost = false;
    const failing = new Proxy(engines.events, {
      get(store, name) {
        const value: unknown = Reflect.get(store, name, store);
        if (name !== 'append') return typeof value === 'function' ? value.bind(store) : value;
        return async (...given: Parameters<EventStore['append']>) => {
          const result = await store.append(...given);
          if (isLost) return result;
          isLost = true;
          throw new EventStoreUnavailable('the answer is lost');
        };
      },
    });
    const process = replica(failing);
    await expect(process.allocate(tenantOf(tenantId), series, 1)).rejects.toThrow(EventStoreUnavailable);
    const got = await process.allocate(tenantOf(tenantId), series, 10);
    expect(new Set(got.map(({ index }) => index)).size).toBe(10);
    const { state } = await engines.streams.load(statusList, statusListStream(tenantId, firstList(tenantId)));
    expect(state).toMatchObject({ next: 128 });
  });

  it('are claimed ahead, so that later requests append nothing', async () => {
    const tenantId = newId();
    const series = seriesOf(tenantId);
    const process = replica();
    const revision = async () =>
      (await engines.streams.load(statusList, statusListStream(tenantId, firstList(tenantId)))).revision;
    await process.allocate(tenantOf(tenantId), series, 31);
    // Opened, and one block claimed.
    expect(await revision()).toBe(1);
    await process.allocate(tenantOf(tenantId), series, 1);
    await waitUntil(async () => (await revision()) === 2, { what: 'the next block' });
    await process.allocate(tenantOf(tenantId), series, 32);
    expect(await revision()).toBe(2);
  });
});

describe('a status list', () => {
  it('is opened and published with the first revocable configuration', async () => {
    const tenantId = newId();
    await configure(tenantId, { revocable: false });
    expect((await refusal(fetchToken(tenantId, firstList(tenantId)))).kind).toBe('notFound');
    await configure(tenantId, { type: 'Revocable' });
    const listId = firstList(tenantId);
    const token = await published(tenantId, listId);
    const header = decodeProtectedHeader(token);
    expect(header).toMatchObject({ alg: 'ES256', typ: 'statuslist+jwt', x5c: [expect.any(String)] });
    const { iat, exp, ...claims } = decodeJwt(token);
    expect(claims).toEqual({
      sub: `${urlOf(tenantId)}/v2/credentials/status-lists/${listId}/token`,
      ttl: 300,
      status_list: {
        bits: 2,
        lst: expect.any(String) as string,
        aggregation_uri: `${urlOf(tenantId)}/v2/credentials/status-lists/aggregation`,
      },
    });
    expect(exp! - iat!).toBe(3600);
    expect(getListFromStatusListJWT(token).statusList).toHaveLength(131_072);
  });

  it('of a key of a DID is signed by that key', async () => {
    const tenantId = newId();
    didKeyId = (await engines.vault.signingKeys.createSigningKey(tenantId, 'did', 'Ed25519')).keyId;
    await call(jwtVcConfigurations.create, tenantId, admin, { body: body() });
    const listId = firstListId(tenantId, `jwt ${DID}#k`);
    const token = await published(tenantId, listId);
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'EdDSA', typ: 'statuslist+jwt', kid: `${DID}#k` });
    // Without the key no other token can be signed, and the last one remains.
    await engines.vault.signingKeys.destroySigningKeys(tenantId, [didKeyId]);
    ahead = 200_000;
    const isDue = async () =>
      (await tokens().listDue(shardOf(listId), new Date(Date.now() + 10 * ahead), 1000)).some(
        (due) => due.listId === listId,
      );
    await waitUntil(async () => !(await isDue()), { what: 'the list not to be due' });
    expect((await fetchToken(tenantId, listId)).body).toBe(token);
  });

  it('of CWTs is stored and served as bytes', async () => {
    const tenantId = newId();
    const { keyId } = await engines.vault.signingKeys.createSigningKey(tenantId, 'did', 'P-256');
    const series = listSeries(
      { kind: 'tokenStatusList', tokenType: 'cose', size: 131_072 },
      { kind: 'pinnedKey', keyId, verificationMethod: `${DID}#k` },
    );
    await replica().ensureSeries(tenantOf(tenantId), series);
    const listId = firstListId(tenantId, seriesName(series));
    const accept = 'application/statuslist+cwt';
    await published(tenantId, listId);
    const { headers, base64, body: text } = await fetchToken(tenantId, listId, { accept });
    expect([headers['content-type'], text]).toEqual([accept, undefined]);
    const { tag, contents } = decode<Tag>(Buffer.from(base64!, 'base64'), { ignoreGlobalTags: true });
    expect(tag).toBe(18);
    const claims = decode<Map<number, unknown>>((contents as Uint8Array[])[2]!, { preferMap: true });
    expect(claims.get(2)).toBe(`${urlOf(tenantId)}/v2/credentials/status-lists/${listId}/token`);
    const again = await fetchToken(tenantId, listId, { 'if-none-match': headers['etag']! });
    expect(again).toEqual({ status: 304, headers: { etag: headers['etag'], vary: 'Accept' } });
    const error = await refusal(fetchToken(tenantId, listId, { accept: 'application/statuslist+jwt' }));
    expect(error.message).toBe('Accept must allow application/statuslist+cwt');
  });

  it('is a revocation list, too, published at the same time with the same statuses', async () => {
    const tenantId = newId();
    const { keyId } = await engines.vault.signingKeys.createSigningKey(tenantId, 'did', 'P-256');
    const seriesAs = (revocationLists: 'compact' | 'compact-semantic') =>
      listSeries(
        { kind: 'tokenStatusList', tokenType: 'cose', size: 131_072, revocationLists },
        { kind: 'pinnedKey', keyId, verificationMethod: `${DID}#k` },
      );
    const series = seriesAs('compact');
    await replica().ensureSeries(tenantOf(tenantId), series);
    await replica().ensureSeries(tenantOf(tenantId), seriesAs('compact-semantic'));
    const listId = firstListId(tenantId, seriesName(series));
    const raw = { method: 'GET', url: '/', headers: {}, text: '' };
    const fetchList = async (id = listId, { retrieve } = compactRevocationLists, headers = {}, of = tenantId) => {
      const request = { params: { id }, raw: { ...raw, headers } };
      return ((await call(retrieve as typeof retrieveStatusListToken, of, { kind: 'public' }, request)) as HttpAnswer)
        .$http as { status?: number; headers: Record<string, string>; base64: string };
    };
    await waitUntil(() => fetchList(), { what: 'the revocation list' });

    const [allocated] = await replica().allocate(tenantOf(tenantId), series, 1);
    const { index, uri, revocationUri } = allocated!;
    expect(uri).toBe(`${urlOf(tenantId)}/v2/credentials/status-lists/${listId}/token`);
    expect(revocationUri).toBe(`${urlOf(tenantId)}/v2/credentials/compact/revocation-lists/${listId}`);
    const claimsOf = (base64: string) => {
      const { contents } = decode<Tag>(Buffer.from(base64, 'base64'), { ignoreGlobalTags: true });
      return decode<Map<number, unknown>>((contents as Uint8Array[])[2]!, { preferMap: true });
    };
    const statuses = async () => {
      const [token, list] = [await fetchToken(tenantId, listId), await fetchList()];
      const { lst, bits } = Object.fromEntries(claimsOf(token.base64!).get(65533) as Map<string, unknown>);
      expect(bits).toBe(1);
      const ofToken = inflateSync(lst as Uint8Array)[index >> 3]! >> (index & 7);
      const ofList = gunzipSync(claimsOf(list.base64).get(-65538) as Uint8Array)[index >> 3]! >> (7 - (index & 7));
      return [ofToken & 1, ofList & 1];
    };
    expect(await statuses()).toEqual([0, 0]);
    const { headers } = await fetchList();
    expect(headers).toEqual({ etag: expect.any(String) as string, 'content-type': 'application/cwt' });
    const unchanged = { 'if-none-match': headers['etag']! };
    expect(await fetchList(listId, compactRevocationLists, unchanged)).toEqual({
      status: 304,
      headers: { etag: headers['etag'] },
    });

    const credentialId = await record(tenantId, { listId, index });
    for (const [status, bit] of [
      ['invalid', 1],
      ['valid', 0],
    ] as const) {
      await engines.streams.runDecision(
        issuedCredential,
        issuedCredentialStream(tenantId, credentialId),
        (state) => changeStatus(state, { format: 'dc+sd-jwt', status, isReversible: true }, engines.clock.now()),
        event(tenantId),
      );
      await waitUntil(async () => (await statuses())[0] === bit, { what: 'the change' });
      expect(await statuses()).toEqual([bit, bit]);
      expect((await fetchList(listId, compactRevocationLists, unchanged)).status).toBeUndefined();
    }

    const { data } = (await call(compactRevocationLists.list, tenantId, admin, {
      query: {},
    })) as PageOf<RevocationList>;
    expect(data).toEqual([{ id: listId, issuer: DID, url: revocationUri }]);
    const others = await call(compactSemanticRevocationLists.list, tenantId, admin, { query: {} });
    expect((others as PageOf<RevocationList>).data).toEqual([
      expect.objectContaining({ url: expect.stringContaining('/compact-semantic/revocation-lists/') as string }),
    ]);
    const refused = [
      fetchList(listId, compactSemanticRevocationLists as never),
      fetchList(listId, compactRevocationLists, {}, newId()),
      fetchList(newId()),
    ];
    for (const { kind } of await Promise.all(refused.map(refusal))) expect(kind).toBe('notFound');
  });

  it('is no revocation list unless its series says so', async () => {
    const tenantId = newId();
    await configure(tenantId);
    await published(tenantId, firstList(tenantId));
    const request = { params: { id: firstList(tenantId) }, raw: { method: 'GET', url: '/', headers: {}, text: '' } };
    const { kind } = await refusal(call(compactRevocationLists.retrieve, tenantId, { kind: 'public' }, request));
    expect(kind).toBe('notFound');
    const none = await call(compactRevocationLists.list, tenantId, admin, { query: {} });
    expect(none).toEqual({ data: [] });
  });

  it('is served with ETag to those who accept its media type, and only under its tenant', async () => {
    const [tenantId, other] = [newId(), newId()];
    await configure(tenantId);
    await configure(other);
    const listId = firstList(tenantId);
    await published(tenantId, listId);
    const { headers, body: token } = await fetchToken(tenantId, listId, { accept: 'application/statuslist+jwt' });
    expect(headers).toMatchObject({ 'content-type': 'application/statuslist+jwt', vary: 'Accept' });
    const again = await fetchToken(tenantId, listId, { 'if-none-match': headers['etag']! });
    expect(again).toEqual({ status: 304, headers: { etag: headers['etag'], vary: 'Accept' } });
    expect((await fetchToken(tenantId, listId, { 'if-none-match': '"other"' })).body).toBe(token);
    const error = await refusal(fetchToken(tenantId, listId, { accept: 'application/statuslist+cwt' }));
    expect([error.kind, error.message]).toEqual(['notAcceptable', 'Accept must allow application/statuslist+jwt']);
    expect((await refusal(fetchToken(other, listId))).kind).toBe('notFound');
    expect((await refusal(fetchToken(tenantId, newId()))).kind).toBe('notFound');
  });

  it('shows each change of a status, and of no other credential', async () => {
    const tenantId = newId();
    await configure(tenantId);
    const listId = firstList(tenantId);
    const allocated = await replica().allocate(tenantOf(tenantId), seriesOf(tenantId), 3);
    const [lost, kept, paused] = await Promise.all(allocated.map(({ index }) => record(tenantId, { listId, index })));
    const statuses = (token: string) => allocated.map(({ index }) => statusIn(token, index));
    const first = await published(tenantId, listId);
    expect(statuses(first)).toEqual([0, 0, 0]);
    await Promise.all([change(tenantId, lost!, 'invalid'), change(tenantId, paused!, 'suspended')]);
    const second = await published(
      tenantId,
      listId,
      (token) => token !== first && statusIn(token, allocated[2]!.index) > 0,
    );
    expect(statuses(await published(tenantId, listId, (token) => statuses(token)[0] === 1))).toEqual([1, 0, 2]);
    expect(getListFromStatusListJWT(second).statusList.filter((status) => status !== 0).length).toBeLessThanOrEqual(2);
    await change(tenantId, paused!, 'valid');
    await change(tenantId, kept!, 'suspended');
    await published(tenantId, listId, (token) => String(statuses(token)) === '1,2,0');
  });

  it('is signed again at half of its time to live', async () => {
    const tenantId = newId();
    await configure(tenantId);
    const listId = firstList(tenantId);
    const first = await published(tenantId, listId);
    ahead = 149_000 - (Date.now() - decodeJwt(first).iat! * 1000);
    const isDue = async (now: number) =>
      (await tokens().listDue(shardOf(listId), new Date(now), 1000)).some((due) => due.listId === listId);
    expect(await isDue(decodeJwt(first).iat! * 1000 + 149_000)).toBe(false);
    ahead += 4000;
    const second = await published(tenantId, listId, (token) => token !== first);
    expect(decodeJwt(second).iat! - decodeJwt(first).iat!).toBeGreaterThanOrEqual(150);
    // Another instance of the same statuses.
    expect(decodeJwt(second)['status_list']).toEqual(decodeJwt(first)['status_list']);
  });

  it('stays dirty when a status changes while it is signed', async () => {
    const tenantId = newId();
    await configure(tenantId);
    const key = { tenantId, listId: firstList(tenantId) };
    await published(tenantId, key.listId);
    const read = (await lists().find(key))!;
    const [allocated] = await replica().allocate(tenantOf(tenantId), seriesOf(tenantId), 1);
    const { index } = allocated!;
    await change(tenantId, await record(tenantId, { listId: key.listId, index }), 'invalid');
    await waitUntil(async () => (await lists().find(key))!.changes === 1, { what: 'the change' });
    await lists().markPublished(read);
    await published(tenantId, key.listId, (token) => statusIn(token, index) === 1);
    const isDirty = async () =>
      (await lists().listDirty(shardOf(key.listId), 1000)).some(({ listId }) => listId === key.listId);
    await waitUntil(async () => !(await isDirty()), { what: 'the list to be published' });
  });

  it('is the same after a rebuild, during which its token is served', async () => {
    const tenantId = newId();
    await configure(tenantId);
    const key = { tenantId, listId: firstList(tenantId) };
    const allocated = await replica().allocate(tenantOf(tenantId), seriesOf(tenantId), 4);
    for (const { index } of allocated.slice(1)) {
      const credentialId = await record(tenantId, { listId: key.listId, index });
      await change(tenantId, credentialId, 'suspended');
      await change(tenantId, credentialId, index % 2 ? 'valid' : 'invalid');
    }
    const expected = allocated.map(({ index }, n) => (n === 0 || index % 2 ? 0 : 1));
    const statuses = (token: string) => allocated.map(({ index }) => statusIn(token, index));
    await waitUntil(async () => (await lists().find(key))?.changes === 6, { what: 'the changes' });
    await published(tenantId, key.listId, (token) => String(statuses(token)) === String(expected));
    const before = await lists().find(key);
    const rebuilt = lists().running.rebuild();
    expect(statuses((await fetchToken(tenantId, key.listId)).body)).toEqual(expected);
    await rebuilt;
    expect(await lists().find(key)).toEqual(before);
    expect(statuses((await fetchToken(tenantId, key.listId)).body)).toEqual(expected);
  });

  it('ends with its tenant', async () => {
    const [tenantId, gone] = [newId(), newId()];
    await configure(tenantId);
    await configure(gone);
    await Promise.all([published(tenantId, firstList(tenantId)), published(gone, firstList(gone))]);
    await engines.vault.destroyTenant(gone);
    // It holds up no other tenant.
    ahead = 400_000;
    await published(tenantId, firstList(tenantId), (token) => decodeJwt(token).iat! * 1000 > Date.now() + 300_000);
    await expect(replica().allocate(tenantOf(gone), seriesOf(gone), 1)).rejects.toThrow();
    await engines.bus.publish([
      {
        id: `purged-${gone}`,
        subject: tenantPurged.subject,
        headers: { tenantId: gone, requestId: 'purge', occurredAt: new Date().toISOString() },
        data: { tenantId: gone },
      },
    ]);
    const rows = async () => [
      await lists().find({ tenantId: gone, listId: firstList(gone) }),
      await tokens().find({ tenantId: gone, listId: firstList(gone) }),
    ];
    await waitUntil(async () => (await rows()).every((row) => row === undefined), { what: 'the rows to be deleted' });
    await published(tenantId, firstList(tenantId));
  });

  it('is not written by a process that lost the lease', async () => {
    const tenantId = newId();
    await configure(tenantId);
    const key = { tenantId, listId: firstList(tenantId) };
    const token = await published(tenantId, key.listId);
    const late = { token: 'late', etag: '"late"', dueAt: new Date(Date.now() + 1000) };
    expect(await tokens().store(key, late, 1_000_000)).toBe(true);
    await expect(publisher().publish(key, 999_999)).rejects.toThrow(StaleEpoch);
    expect((await fetchToken(tenantId, key.listId)).body).toBe('late');
    expect(await publisher().publish(key, 1_000_000)).toBe(true);
    expect((await fetchToken(tenantId, key.listId)).body).not.toBe('late');
    expect(decodeJwt((await fetchToken(tenantId, key.listId)).body).sub).toBe(decodeJwt(token).sub);
    // One that is paused before it begins publishes nothing.
    expect(await publisher().publishShard(shardOf(key.listId), { epoch: 1_000_001, isHeld: false })).toBe(0);
  });
});
