/** @engines embedded postgres */
import { verify, X509Certificate } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { gunzipSync, inflateSync } from 'node:zlib';
import {
  AppError,
  compactRevocationLists,
  compactSemanticRevocationLists,
  createDocumentSigner,
  createIaca,
  createStatusListConfiguration,
  createStatusListSigner,
  customDomainVerified,
  customDomainWithdrawn,
  deleteIaca,
  deleteStatusListConfiguration,
  deleteStatusListSigner,
  listDocumentSigners,
  listMobileStatusLists,
  listStatusListSigners,
  mobileConfigurations,
  releaseIssuerKey,
  reserveIssuerKey,
  retrieveBrand,
  retrieveIdentifierListToken,
  retrieveListCredential,
  retrieveMobileStatusList,
  retrieveMobileStatusListToken,
  retrieveStatusListAggregation,
  retrieveStatusListDistribution,
  retrieveStatusListSigner,
  retrieveStatusListToken,
  sdJwtConfigurations,
  jwtVcConfigurations,
  tenantPurged,
  updateDocumentSigner,
  updateIaca,
  updateIacaCrl,
  updateStatusListConfiguration,
  updateStatusListSigner,
  webSemanticConfigurations,
  type Caller,
  type CredentialFormat,
  type CredentialStatus,
  type HttpAnswer,
  type Iaca,
  type MobileStatusList,
  type PageOf,
  type RevocationList,
  type StatusListConfiguration,
  type StatusListDistribution,
  type StatusListSigner,
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
import { CustomerIaca, TEST_SETTINGS, waitUntil } from '@attestry/testing';
import { chosenEngines } from '@attestry/testing/services';
import * as bitstring from '@digitalbazaar/vc-bitstring-status-list';
import * as revocationList from '@digitalbazaar/vc-revocation-list';
import { getListFromStatusListJWT } from '@sd-jwt/jwt-status-list';
import { cdeEncodeOptions, decode, encode, type Tag } from 'cbor2';
import fc from 'fast-check';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { DocumentSigners } from '../../certificates/document-signers/document-signers.js';
import { DueCertificates } from '../../certificates/renew-certificates/due-certificates.read-model.js';
import { statusSeriesOf } from '../../formats/status-series.js';
import { issuanceService } from '../../index.js';
import { IssuerSigners } from '../../certificates/issuer-certificates/issuer-signers.js';
import { ListMobileStatusLists } from '../list-mobile-status-lists/list-mobile-status-lists.js';
import { changeStatus, recordCredential } from '../../sessions/issued-credential/issued-credential.decisions.js';
import type { CredentialRecordedData, StatusEntry } from '../../sessions/issued-credential/issued-credential.events.js';
import { issuedCredential, issuedCredentialStream } from '../../sessions/issued-credential/issued-credential.state.js';
import { withdrawnDomains, withdrawnDomainsStream } from '../../settings/withdrawn-domains/withdrawn-domains.state.js';
import { IDENTIFIER_LIST_SIZE, listIdentifier } from './identifier-list.js';
import { firstListId } from './first-list-id.js';
import { listSeries, seriesName, type ListSeries } from './list-series.js';
import { bitstringStatus, revocationList2020Status } from './bitstring-status-list.js';
import { statusAt } from './packed-statuses.js';
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
/** Id of the DID's key. */
let didKeyId = '';
/** DID that dids reserves. */
let did = DID;

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
type ListRetrieval =
  | typeof retrieveStatusListToken
  | typeof retrieveListCredential
  | (typeof compactRevocationLists | typeof compactSemanticRevocationLists)['retrieve'];
const fetchToken = async (
  tenantId: string,
  listId: string,
  headers: Record<string, string> = {},
  operation: ListRetrieval = retrieveStatusListToken,
) => {
  const raw = { method: 'GET', url: '/', headers, text: '' };
  const request = { params: { id: listId }, raw };
  return ((await call(operation, tenantId, { kind: 'public' }, request)) as HttpAnswer).$http as {
    status?: number;
    headers: Record<string, string>;
    body: string;
    base64?: string;
  };
};
/** Undefined when it is refused. */
const ifServed = <T>(attempt: Promise<T>): Promise<T | undefined> =>
  attempt.catch((error: unknown) => {
    if (error instanceof AppError) return undefined;
    throw error;
  });
const refusal = async (promise: Promise<unknown>): Promise<AppError> => {
  try {
    await promise;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('it was not refused');
};
/** Waits for the projection and the next run of the publisher. */
const publishedInTime = async (
  tenantId: string,
  listId: string,
  when: (token: string) => boolean = () => true,
  beforehand?: () => Promise<unknown>,
) => {
  let token = '';
  const isPublished = async () => {
    await beforehand?.();
    token = (await fetchToken(tenantId, listId)).body;
    return when(token);
  };
  await waitUntil(isPublished, { what: 'the token of the list' });
  return token;
};
/** The same, without the pause before the run. */
const published = (tenantId: string, listId: string, when?: (token: string) => boolean) =>
  publishedInTime(tenantId, listId, when, () => publishNow(listId));
const claimsOfCwt = (base64: string) => {
  const { contents } = decode<Tag>(Buffer.from(base64, 'base64'), { ignoreGlobalTags: true });
  return decode<Map<number, unknown>>((contents as Uint8Array[])[2]!, { preferMap: true });
};
/** The bytes of a status list with 1 bit for each credential, and of its revocation list. */
const cwtLists = (token: string, revocationList: string): [Buffer, Buffer] => {
  const { lst, bits } = Object.fromEntries(claimsOfCwt(token).get(65533) as Map<string, unknown>);
  expect(bits).toBe(1);
  return [inflateSync(lst as Uint8Array), gunzipSync(claimsOfCwt(revocationList).get(-65538) as Uint8Array)];
};
const cwtStatuses = (token: string, revocationList: string, index: number): [number, number] => {
  const [statuses, bitstring] = cwtLists(token, revocationList);
  return [(statuses[index >> 3]! >> (index & 7)) & 1, (bitstring[index >> 3]! >> (7 - (index & 7))) & 1];
};
const statusIn = (token: string, index: number): number => getListFromStatusListJWT(token).getStatus(index);

const seriesOf = (tenantId: string, size = 131_072): ListSeries =>
  listSeries({ kind: 'tokenStatusList', tokenType: 'jwt', size }, { kind: 'issuerSigner', issuer: urlOf(tenantId) });
const firstList = (tenantId: string) => firstListId(tenantId, seriesName(seriesOf(tenantId)));
const lists = () => services.app.get(StatusListsReadModel, { strict: false });
const tokens = () => services.app.get(PublishedListsReadModel, { strict: false });
const publisher = () => services.app.get(PublishStatusLists, { strict: false });
const event = (tenantId: string) => serviceContext('issuance.spec', tenantId);

/** The holder of the shard's lease does this each second; it may be doing so. */
const publishNow = (listId: string): Promise<unknown> =>
  publisher()
    .publishShard(shardOf(listId), { isHeld: true })
    .catch((error: unknown) => {
      if (!(error instanceof StaleEpoch)) throw error;
    });

/** Another process: it shares the stores alone. */
const replica = (events: EventStore = engines.events) =>
  new StatusIndexes(
    new Streams(events, engines.clock, engines.ids),
    engines.vault.sealing,
    lists(),
    tokens(),
    engines.clock,
    engines.ids,
    engines.logger,
  );
const record = async (
  tenantId: string,
  { listId, index }: StatusEntry,
  { format = 'dc+sd-jwt', validUntil }: { format?: CredentialFormat; validUntil?: Date } = {},
): Promise<string> => {
  const credentialId = newId();
  const facts = {
    ...{ credentialId, userId: newId(), credentialConfigurationId: newId(), format },
    status: { listId, index },
    ...(validUntil && { validUntil: validUntil.toISOString() }),
  };
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
/** A credential, so that the list is signed again. */
const useList = async (tenantId: string, series: ListSeries = seriesOf(tenantId), validUntil?: Date) => {
  const [status] = await replica().allocate(tenantOf(tenantId), series, 1);
  await record(tenantId, status!, validUntil && { validUntil });
  await waitUntil(async () => (await lists().find({ tenantId, listId: status!.listId }))?.isUnused === false, {
    what: 'the first credential',
  });
};
const change = (
  tenantId: string,
  credentialId: string,
  status: CredentialStatus,
  format: CredentialFormat = 'dc+sd-jwt',
) =>
  engines.streams.runDecision(
    issuedCredential,
    issuedCredentialStream(tenantId, credentialId),
    (state) => changeStatus(state, { format, status, isReversible: true }, engines.clock.now()),
    event(tenantId),
  );

let revision = 0;
const domainChanged = (tenantId: string, domain: string, isVerified: boolean) =>
  engines.bus.publish([
    {
      id: `domain-${++revision}`,
      subject: (isVerified ? customDomainVerified : customDomainWithdrawn).subject,
      headers: { tenantId, requestId: 'domain', occurredAt: new Date().toISOString() },
      data: { tenantId, domain, revision },
    },
  ]);

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'status-lists-'));
  const config = parseConfig({ ...TEST_SETTINGS, DATA_DIR: dataDir, BASE_DOMAIN: 'localhost:8080' });
  engines = await chosenEngines(await openEngines(config, { clock: { now: () => new Date(Date.now() + ahead) } }));
  engines.bus.serve(reserveIssuerKey.subject, async () => ({
    ok: true,
    data: { did, verificationMethod: `${did}#k`, kmsKeyId: didKeyId, algorithm: 'Ed25519' },
  }));
  engines.bus.serve(retrieveBrand.subject, async () => ({ ok: true, data: {} }));
  engines.bus.serve(releaseIssuerKey.subject, async () => ({ ok: true, data: undefined }));
  services = await startServices([issuanceService], engines);
  client = new ServiceClient(engines.bus, 'gateway');
});
beforeEach(() => {
  ahead = 0;
  did = DID;
});
afterAll(async () => {
  await services?.close();
  await engines?.close();
  await rm(dataDir, { recursive: true, force: true });
});

describe('indexes', () => {
  it('are given out once, by all processes together, also when requests come at once and processes end [T144]', async () => {
    const tenantId = newId();
    const series = seriesOf(tenantId, 5000);
    const seen = new Set<string>();
    const listIds = new Set<string>();
    let given = 0;
    for (let round = 0; round < 4; round++) {
      // Indexes that processes of an earlier round have claimed and not used are wasted.
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
    await replica().openSeries(tenantOf(tenantId), series);
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

  it('that are returned are given out again, each to one request, and those that were used never', async () => {
    const step = fc.record({ count: fc.integer({ min: 1, max: 10 }), isUsed: fc.boolean(), others: fc.nat(3) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 60, maxLength: 120 }), async (steps) => {
        const tenantId = newId();
        const process = replica();
        const used = new Set<string>();
        const held = new Set<string>();
        const request = async ({ count, isUsed, others }: (typeof steps)[number]) => {
          const statuses = await process.allocate(tenantOf(tenantId), seriesOf(tenantId, 5000), count);
          const names = statuses.map(({ listId, index }) => `${listId} ${index}`);
          for (const name of names) {
            expect(used.has(name) || held.has(name)).toBe(false);
            held.add(name);
          }
          for (let n = 0; n < others; n++) await setImmediate();
          for (const name of names) {
            held.delete(name);
            if (isUsed) used.add(name);
          }
          if (isUsed) return;
          process.giveBack(statuses);
          // There is nothing left to return twice.
          expect(statuses).toEqual([]);
          process.giveBack(statuses);
        };
        for (let at = 0; at < steps.length; at += 4) await Promise.all(steps.slice(at, at + 4).map(request));
      }),
      { numRuns: 10 },
    );
  });

  it('of which some were taken are returned when the claim of the others fails', async () => {
    const tenantId = newId();
    const series = seriesOf(tenantId);
    let isFailing = false;
    const failing = new Proxy(engines.events, {
      get(store, name) {
        const value: unknown = Reflect.get(store, name, store);
        if (name === 'append' && isFailing) throw new EventStoreUnavailable('it is away');
        return typeof value === 'function' ? (value.bind(store) as unknown) : value;
      },
    });
    const process = replica(failing);
    const first = await process.allocate(tenantOf(tenantId), series, 20);
    isFailing = true;
    for (let n = 0; n < 3; n++)
      await expect(process.allocate(tenantOf(tenantId), series, 50)).rejects.toThrow(EventStoreUnavailable);
    const rest = await process.allocate(tenantOf(tenantId), series, 44);
    expect(new Set([...first, ...rest].map(({ index }) => index)).size).toBe(64);
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
    const token = await publishedInTime(tenantId, listId);
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'EdDSA', typ: 'statuslist+jwt', kid: `${DID}#k` });
    const signer = { kind: 'pinnedKey', keyId: didKeyId, verificationMethod: `${DID}#k` } as const;
    await useList(tenantId, listSeries({ kind: 'tokenStatusList', tokenType: 'jwt', size: 131_072 }, signer));
    const last = await publishedInTime(tenantId, listId, (current) => current !== token);
    // Without the key no other token can be signed, and the last one remains.
    await engines.vault.signingKeys.destroySigningKeys(tenantId, [didKeyId]);
    ahead = 200_000;
    const isDue = async () =>
      (await tokens().listDue(shardOf(listId), new Date(Date.now() + 10 * ahead), 1000)).some(
        (due) => due.listId === listId,
      );
    await waitUntil(async () => !(await isDue()), { what: 'the list not to be due' });
    expect((await fetchToken(tenantId, listId)).body).toBe(last);
  });

  it('of CWTs is stored and served as bytes', async () => {
    const tenantId = newId();
    const { keyId } = await engines.vault.signingKeys.createSigningKey(tenantId, 'did', 'P-256');
    const series = listSeries(
      { kind: 'tokenStatusList', tokenType: 'cose', size: 131_072 },
      { kind: 'pinnedKey', keyId, verificationMethod: `${DID}#k` },
    );
    await replica().openSeries(tenantOf(tenantId), series);
    const listId = firstListId(tenantId, seriesName(series));
    const accept = 'application/statuslist+cwt';
    await published(tenantId, listId);
    const { headers, base64, body: text } = await fetchToken(tenantId, listId, { accept });
    expect([headers['content-type'], text]).toEqual([accept, undefined]);
    expect(decode<Tag>(Buffer.from(base64!, 'base64'), { ignoreGlobalTags: true }).tag).toBe(18);
    expect(claimsOfCwt(base64!).get(2)).toBe(`${urlOf(tenantId)}/v2/credentials/status-lists/${listId}/token`);
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
    await replica().openSeries(tenantOf(tenantId), series);
    await replica().openSeries(tenantOf(tenantId), seriesAs('compact-semantic'));
    const listId = firstListId(tenantId, seriesName(series));
    const fetchList = (id = listId, { retrieve } = compactRevocationLists, headers = {}, of = tenantId) =>
      fetchToken(of, id, headers, retrieve);
    await waitUntil(() => fetchList(), { what: 'the revocation list' });

    const [allocated] = await replica().allocate(tenantOf(tenantId), series, 1);
    const { index, uri, revocationUri } = allocated!;
    expect(uri).toBe(`${urlOf(tenantId)}/v2/credentials/status-lists/${listId}/token`);
    expect(revocationUri).toBe(`${urlOf(tenantId)}/v2/credentials/compact/revocation-lists/${listId}`);
    const statuses = async () =>
      cwtStatuses((await fetchToken(tenantId, listId)).base64!, (await fetchList()).base64!, index);
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
    const unused = await published(tenantId, listId);
    await useList(tenantId);
    const first = await published(tenantId, listId, (token) => token !== unused);
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
    await Promise.all([useList(tenantId), useList(gone)]);
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

  const HOUR_MS = 3_600_000;
  const DAY_MS = 24 * HOUR_MS;
  const isSignedAgain = async ({ listId }: { listId: string }) =>
    (await tokens().listDue(shardOf(listId), new Date('9000-01-01'), 10_000)).some((due) => due.listId === listId);

  it('is not signed again after the last of its credentials has ended, when it is full [T149]', async () => {
    const tenantId = newId();
    const series = seriesOf(tenantId, 2100);
    const process = replica();
    await process.openSeries(tenantOf(tenantId), series);
    await configure(tenantId);
    const key = { tenantId, listId: firstList(tenantId) };
    const allocated = await process.allocate(tenantOf(tenantId), series, 2100);
    expect(new Set(allocated.map(({ listId }) => listId))).toEqual(new Set([key.listId]));
    await record(tenantId, allocated[0]!, { validUntil: new Date(Date.now() + HOUR_MS) });
    const last = await record(tenantId, allocated[1]!, { validUntil: new Date(Date.now() + 10 * DAY_MS) });
    await waitUntil(async () => (await lists().find(key))!.isFull, { what: 'the claims' });
    ahead = 9.9 * DAY_MS;
    const before = await published(
      tenantId,
      key.listId,
      (token) => decodeJwt(token).iat! * 1000 > Date.now() + 9 * DAY_MS,
    );
    await change(tenantId, last, 'invalid');
    const token = await published(tenantId, key.listId, (current) => current !== before);
    expect(await isSignedAgain(key)).toBe(true);
    ahead = 11 * DAY_MS;
    await waitUntil(async () => !(await isSignedAgain(key)), { what: 'the end of the list' });
    expect((await fetchToken(tenantId, key.listId)).body).toBe(token);
    // Its other lists are signed.
    const [next] = await process.allocate(tenantOf(tenantId), series, 1);
    expect(next!.listId).not.toBe(key.listId);
    await record(tenantId, next!, { validUntil: new Date(Date.now() + 20 * DAY_MS) });
    await waitUntil(() => isSignedAgain(next!), { what: 'the first credential of the next list' });
    // A process gives out one of the indexes that it claimed before.
    await record(tenantId, allocated[2]!, { validUntil: new Date(Date.now() + 20 * DAY_MS) });
    await published(tenantId, key.listId, (current) => current !== token);
    ahead = 19 * DAY_MS;
    await published(tenantId, key.listId, (current) => decodeJwt(current).iat! * 1000 > Date.now() + 18 * DAY_MS);
    ahead = 21 * DAY_MS;
    await waitUntil(async () => !(await isSignedAgain(key)), { what: 'the end of the list' });
    // The same after a rebuild, which signs it once more at most.
    const row = await lists().find(key);
    await lists().running.rebuild();
    expect(await lists().find(key)).toEqual(row);
    await waitUntil(async () => (await lists().listDirty(shardOf(key.listId), 1000)).length === 0, {
      what: 'no changes',
    });
    expect(await isSignedAgain(key)).toBe(false);
  });

  it('is signed for ever when a credential has no end, otherwise until a month after its last use [T149]', async () => {
    const [endless, unused] = [newId(), newId()];
    for (const tenantId of [endless, unused]) {
      await configure(tenantId);
      const [allocated] = await replica().allocate(tenantOf(tenantId), seriesOf(tenantId), 1);
      const validUntil = tenantId === unused ? new Date(Date.now() + 10 * DAY_MS) : undefined;
      await record(tenantId, allocated!, validUntil && { validUntil });
      const endsAt = tenantId === unused ? '2' : '9999';
      const isProjected = async () => {
        const list = await lists().find({ tenantId, listId: firstList(tenantId) });
        return list!.endsAt.startsWith(endsAt) && Date.parse(list!.endsAt) > Date.now() + 9 * DAY_MS;
      };
      await waitUntil(isProjected, { what: 'the credential' });
    }
    const isNewIn = (days: number) => (token: string) =>
      decodeJwt(token).iat! * 1000 > Date.now() + (days - 1) * DAY_MS;
    ahead = 39 * DAY_MS;
    await published(unused, firstList(unused), isNewIn(39));
    ahead = 42 * DAY_MS;
    await waitUntil(async () => !(await isSignedAgain({ listId: firstList(unused) })), { what: 'the end of the list' });
    await published(endless, firstList(endless), isNewIn(42));
    // The configuration is used again.
    const [allocated] = await replica().allocate(tenantOf(unused), seriesOf(unused), 1);
    expect(allocated!.listId).toBe(firstList(unused));
    await published(unused, firstList(unused), isNewIn(42));
    expect(await isSignedAgain(allocated!)).toBe(true);
  });

  describe('without credentials', () => {
    const unusedText = 'No credential refers to the status list yet: its token is signed with the first one';

    it('is signed when it is opened, and again with its first credential [T196]', async () => {
      const [tenantId, other] = [newId(), newId()];
      for (const one of [tenantId, other]) await configure(one);
      const key = { tenantId, listId: firstList(tenantId) };
      const first = await published(tenantId, key.listId);
      await published(other, firstList(other));
      await useList(other);
      await waitUntil(() => isSignedAgain({ listId: firstList(other) }), { what: 'the list with a credential' });
      expect(await isSignedAgain(key)).toBe(false);
      ahead = HOUR_MS - 60_000;
      expect((await fetchToken(tenantId, key.listId)).body).toBe(first);
      ahead = HOUR_MS + 60_000;
      const stale = await refusal(fetchToken(tenantId, key.listId));
      expect([stale.kind, stale.message, stale.headers]).toEqual(['unavailable', unusedText, { 'retry-after': '1' }]);
      // Claimed indexes that are in no credential change nothing.
      const process = replica();
      const [allocated] = await process.allocate(tenantOf(tenantId), seriesOf(tenantId), 1);
      await lists().running.ownWrites();
      expect((await lists().find(key))!.isUnused).toBe(true);
      expect((await refusal(fetchToken(tenantId, key.listId))).kind).toBe('unavailable');
      await record(tenantId, allocated!);
      const isServed = async () => {
        const served = await ifServed(fetchToken(tenantId, key.listId));
        return served !== undefined && served.body !== first;
      };
      await waitUntil(isServed, { what: 'the token' });
      expect(await isSignedAgain(key)).toBe(true);
      const row = await lists().find(key);
      await lists().running.rebuild();
      expect(await lists().find(key)).toEqual(row);
    });

    it('is signed once more when its statuses were built again, and served as before', async () => {
      const tenantId = newId();
      await configure(tenantId);
      const key = { tenantId, listId: firstList(tenantId) };
      const token = await published(tenantId, key.listId);
      await lists().running.rebuild();
      expect((await lists().find(key))!.isUnused).toBe(true);
      expect((await fetchToken(tenantId, key.listId)).body).toBe(token);
    });

    it('stays dirty when the first one is recorded while it is signed', async () => {
      const tenantId = newId();
      await configure(tenantId);
      const key = { tenantId, listId: firstList(tenantId) };
      const first = await published(tenantId, key.listId);
      const read = (await lists().find(key))!;
      await useList(tenantId);
      await published(tenantId, key.listId, (token) => token !== first);
      // The list is of no shard, so that only the test publishes it.
      const { db } = lists().running;
      const row = { tenant_id: tenantId, list_id: key.listId };
      const update = db.updateTable('issuance_status_lists').where((column) => column.and(row));
      await update.set({ dirty: 1, shard: -1 }).execute();
      const isDirty = async () => (await lists().listDirty(-1, 1000)).some(({ listId }) => listId === key.listId);
      const now = (await lists().find(key))!;
      // The credential may end before the list would.
      await lists().markPublished({ ...read, endsAt: now.endsAt });
      expect(await isDirty()).toBe(true);
      await lists().markPublished(now);
      expect(await isDirty()).toBe(false);
    });

    it('is signed with its first credential, also when all of its indexes were claimed before', async () => {
      const tenantId = newId();
      const series = seriesOf(tenantId, 2100);
      await replica().openSeries(tenantOf(tenantId), series);
      await configure(tenantId);
      const key = { tenantId, listId: firstList(tenantId) };
      await published(tenantId, key.listId);
      expect(await isSignedAgain(key)).toBe(false);
      await replica().allocate(tenantOf(tenantId), series, 2100);
      await waitUntil(async () => (await lists().find(key))!.isFull, { what: 'the claims' });
      await waitUntil(() => isSignedAgain(key), { what: 'the next token' });
    });

    it('is a revocation list whose bytes end, too [T196]', async () => {
      const tenantId = newId();
      const { keyId } = await engines.vault.signingKeys.createSigningKey(tenantId, 'did', 'P-256');
      const policy = { kind: 'tokenStatusList', tokenType: 'cose', size: 131_072, revocationLists: 'compact' } as const;
      const series = listSeries(policy, { kind: 'pinnedKey', keyId, verificationMethod: `${DID}#k` });
      await replica().openSeries(tenantOf(tenantId), series);
      const listId = firstListId(tenantId, seriesName(series));
      const fetchList = () => fetchToken(tenantId, listId, {}, compactRevocationLists.retrieve);
      await waitUntil(async () => (await fetchList()).base64 !== undefined, { what: 'the revocation list' });
      ahead = HOUR_MS + 60_000;
      expect((await refusal(fetchList())).message).toBe(unusedText);
      await useList(tenantId, series);
      await waitUntil(async () => (await ifServed(fetchList())) !== undefined, {
        what: 'the revocation list',
      });
    });
  });

  describe('that is one too many', () => {
    const limitText = 'A tenant can have at most 1000 open status lists, and this configuration needs another one';
    /** Inserts lists of other series of the tenant. */
    const insertLists = (tenantId: string, count: number, more: object = {}) =>
      lists()
        .running.db.insertInto('issuance_status_lists')
        .values(
          Array.from({ length: count }, () => ({
            ...{ tenant_id: tenantId, list_id: newId(), shard: -1, list: '{}', ends_at: '9999', changed_at: '2000' },
            ...{ allocation: 'open' as const, statuses: '', changes: 0, dirty: 0, masked: 0, ...more },
          })),
        )
        .execute();

    it('is not opened: the configuration is refused [T197]', async () => {
      const tenantId = newId();
      await insertLists(tenantId, 999);
      await configure(tenantId, { type: 'First' });
      expect(await lists().countOpen(tenantId, 2000)).toBe(1000);
      const issuerDid = 'did:web:brand.example:issuers:x';
      did = issuerDid;
      const another = { type: 'Second', issuerDid };
      const refused = await refusal(configure(tenantId, another));
      expect([refused.kind, refused.message]).toEqual(['conflict', limitText]);
      // It has left nothing: its type is free.
      const { id } = await configure(tenantId, { ...another, revocable: false });
      const update = (revocable: boolean) =>
        call(sdJwtConfigurations.update, tenantId, admin, {
          params: { id },
          body: body({ ...another, revocable }),
        });
      expect((await refusal(update(true))).message).toBe(limitText);
      await update(false);
      expect(await lists().countOpen(tenantId, 2000)).toBe(1000);
      // Lists of the series that is open, and of other tenants, are not affected.
      did = DID;
      await configure(tenantId, { type: 'Third' });
      await configure(newId());
    });

    it('is one of those that are neither full nor ended', async () => {
      const tenantId = newId();
      await insertLists(tenantId, 990, { ends_at: new Date(Date.now() - 31 * DAY_MS).toISOString() });
      await insertLists(tenantId, 990, { allocation: 'full' });
      await insertLists(tenantId, 990, { ends_at: new Date(Date.now() - 29 * DAY_MS).toISOString() });
      await insertLists(tenantId, 5, { allocation: 'unused' });
      expect(await lists().countOpen(tenantId, 2000)).toBe(995);
      expect(await lists().countOpen(tenantId, 100)).toBe(100);
      await configure(tenantId);
    });

    it('is counted for mobile documents, too, whose lists are opened by credentials [T197]', async () => {
      const tenantId = newId();
      const mobile = (includeStatus: boolean) => ({
        type: 'org.example.card',
        expiresIn: { years: 1 },
        claimMappings: { 'org.example.card.1': { name: { mapFrom: 'claims.name' } } },
        includeStatus,
      });
      const create = (includeStatus: boolean) =>
        call(mobileConfigurations.create, tenantId, admin, { body: mobile(includeStatus) }) as Promise<{ id: string }>;
      await insertLists(tenantId, 999);
      const { id } = await create(true);
      await insertLists(tenantId, 1);
      const params = { id };
      const update = (includeStatus: boolean) =>
        call(mobileConfigurations.update, tenantId, admin, { params, body: mobile(includeStatus) });
      // Its credentials refer to lists already.
      await update(true);
      await update(false);
      expect((await refusal(update(true))).message).toBe(limitText);
      await call(mobileConfigurations.delete, tenantId, admin, { params });
      expect((await refusal(create(true))).message).toBe(limitText);
      await create(false);
    });
  });

  it('is not opened for a configuration that is refused [T197]', async () => {
    const tenantId = newId();
    const { id } = await configure(tenantId, { revocable: false });
    const isOpen = async () =>
      (await engines.streams.load(statusList, statusListStream(tenantId, firstList(tenantId)))).state.status === 'open';
    // It is deleted while it is replaced.
    const signers = services.app.get(IssuerSigners, { strict: false });
    const ensure = signers.ensure.bind(signers);
    const params = { id };
    signers.ensure = async (...given) => {
      signers.ensure = ensure;
      await call(sdJwtConfigurations.delete, tenantId, admin, { params });
      return ensure(...given);
    };
    const replaced = call(sdJwtConfigurations.update, tenantId, admin, { params, body: body() });
    expect((await refusal(replaced)).kind).toBe('notFound');
    expect(await isOpen()).toBe(false);
    // The store fails when it is created.
    const append = engines.events.append.bind(engines.events);
    engines.events.append = async (...given) => {
      if (JSON.stringify(given[0]).includes('credentialConfiguration-')) throw new EventStoreUnavailable('it is away');
      return append(...given);
    };
    try {
      await expect(configure(tenantId)).rejects.toThrow();
    } finally {
      engines.events.append = append;
    }
    expect(await isOpen()).toBe(false);
  });

  it('is in the aggregation, however many lists are credentials [T199]', async () => {
    const tenantId = newId();
    await configure(tenantId);
    const token = {
      ...{ token_type: 'bitstring' as const, signer: '{}', iaca_id: null, uri: 'https://list.example', shard: -1 },
      ...{ size: 131_072, due_at: '9999', token: null, etag: null, expires_at: null, revision: 0, opened_at: '2000' },
      ...{ revocation_profile: '', revocation_uri: '', issuer: '', revocation_list: null, revocation_etag: null },
    };
    const rows = Array.from({ length: 1001 }, (_, n) => ({ tenant_id: tenantId, list_id: `0 ${n}`, ...token }));
    const { db } = tokens().running;
    for (let at = 0; at < rows.length; at += 100)
      await db
        .insertInto('issuance_status_list_tokens')
        .values(rows.slice(at, at + 100))
        .execute();
    const aggregation = await call(retrieveStatusListAggregation, tenantId, { kind: 'public' }, {});
    const uri = `${urlOf(tenantId)}/v2/credentials/status-lists/${firstList(tenantId)}/token`;
    expect(aggregation).toEqual({ status_lists: [uri] });
  });

  it('that cannot be signed is tried again later, and holds up no other [T147]', async () => {
    const tenantId = newId();
    await configure(tenantId);
    const key = { tenantId, listId: firstList(tenantId) };
    const [shard, broken] = [shardOf(key.listId), newId()];
    await publishedInTime(tenantId, key.listId);
    // More than one run publishes, with changes, and due before the other one.
    const listIds = Array.from({ length: 300 }, newId);
    const described = JSON.stringify({ ...seriesOf(broken), uri: 'no address' });
    const rows = listIds.map((list_id) => ({ tenant_id: broken, list_id, shard }));
    const statuses = {
      list: described,
      ends_at: '9999',
      allocation: 'open' as const,
      changed_at: '2000',
      statuses: '',
      changes: 1,
      dirty: 1,
      masked: 0,
    };
    const token = {
      ...{
        token_type: 'jwt' as const,
        signer: JSON.stringify(seriesOf(broken).signer),
        iaca_id: null,
        uri: 'no address',
      },
      ...{ size: 131_072, due_at: '2000', token: null, etag: null, expires_at: null, revision: 0, opened_at: '2000' },
      ...{ revocation_profile: '', revocation_uri: '', issuer: '', revocation_list: null, revocation_etag: null },
    };
    const { db } = lists().running;
    const tokenRows = tokens().running.db;
    await tokenRows
      .insertInto('issuance_status_list_tokens')
      .values(rows.map((row) => ({ ...row, ...token })))
      .execute();
    await db
      .insertInto('issuance_status_lists')
      .values(rows.map((row) => ({ ...row, ...statuses })))
      .execute();
    const [allocated] = await replica().allocate(tenantOf(tenantId), seriesOf(tenantId), 1);
    await change(tenantId, await record(tenantId, allocated!), 'invalid');
    // 300 lists fail first.
    await publishedInTime(tenantId, key.listId, (current) => statusIn(current, allocated!.index) === 1);

    const now = () => engines.clock.now();
    const dueAt = async (time: Date) =>
      (await tokens().listDue(shard, time, 10_000)).filter((due) => due.tenantId === broken).length;
    const dirty = async () => (await lists().listDirty(shard, 10_000)).filter((row) => row.tenantId === broken).length;
    await waitUntil(async () => (await dirty()) === 0, { what: 'all to be tried' });
    expect(await dueAt(new Date(now().getTime() + 61_000))).toBe(300);
    const check = () =>
      engines.health.report().checks.find(({ name }) => name === `issuance.status-list-publisher-${shard}`)!;
    expect(check()).toMatchObject({
      healthy: true,
      error: expect.stringMatching(/^status list not published \(300\), the last one: .*Invalid URL$/) as string,
    });
    // Each attempt is later than the one before.
    ahead += 400_000;
    await waitUntil(async () => (await dueAt(now())) === 0, { what: 'all to be tried again' });
    ahead += 400_000;
    await waitUntil(async () => (await dueAt(now())) === 0, { what: 'all to be tried again' });
    expect(await dueAt(new Date(now().getTime() + 500))).toBe(0);
    await publishedInTime(tenantId, key.listId, (current) => decodeJwt(current).iat! * 1000 > Date.now() + 700_000);
    // A change is tried at once.
    const ofBroken = (list_id: string) => db.updateTable('issuance_status_lists').where('list_id', '=', list_id);
    const uri = `${urlOf(tenantId)}/v2/credentials/status-lists/x/token`;
    const repaired = JSON.stringify({ ...seriesOf(tenantId), uri });
    await ofBroken(listIds[0]!).set({ list: repaired, dirty: 1, changes: 2 }).execute();
    const isSigned = async (listId: string) => (await tokens().find({ tenantId: broken, listId }))!.token !== null;
    await waitUntil(() => isSigned(listIds[0]!), { what: 'the repaired list' });
    await waitUntil(() => check().error?.startsWith('status list not published (299)'), { what: 'one failure fewer' });
    // The others later.
    await ofBroken(listIds[1]!).set({ list: repaired }).execute();
    ahead += 61_000;
    await waitUntil(() => isSigned(listIds[1]!), { what: 'the other repaired list' });
    await tokenRows.deleteFrom('issuance_status_list_tokens').where('tenant_id', '=', broken).execute();
    await db.deleteFrom('issuance_status_lists').where('tenant_id', '=', broken).execute();
  }, 60_000);

  it('is replaced only by one that was made after it, whatever the leases are [T145]', async () => {
    const tenantId = newId();
    await configure(tenantId);
    const key = { tenantId, listId: firstList(tenantId) };
    const token = await published(tenantId, key.listId);
    // Two processes at once, also while a former holder of the lease was paused: the first one is stored.
    const { promise: paused, resolve: resume } = Promise.withResolvers<void>();
    const { promise: reached, resolve: reach } = Promise.withResolvers<string>();
    const model = tokens();
    const pausing = Object.assign(Object.create(model) as PublishedListsReadModel, {
      store: async (...given: Parameters<typeof model.store>) => {
        reach(given[1].token);
        await paused;
        return model.store(...given);
      },
    });
    const former = Object.create(publisher(), { published: { value: pausing } }) as PublishStatusLists;
    const late = former.publish(key);
    const lateToken = await reached;
    // The worker may publish it, too.
    await waitUntil(
      () =>
        publisher()
          .publish(key)
          .then(() => true),
      { what: 'a newer token' },
    );
    resume();
    await expect(late).rejects.toThrow(StaleEpoch);
    const now = (await fetchToken(tenantId, key.listId)).body;
    expect(now).not.toBe(lateToken);
    expect(decodeJwt(now).sub).toBe(decodeJwt(token).sub);
    // One that is paused before it begins publishes nothing.
    expect(await publisher().publishShard(shardOf(key.listId), { isHeld: false })).toBe(0);
  });
});

describe('a list that is a credential', () => {
  type ListCredential = { id: string; type: string[]; issuer: string; credentialSubject: { encodedList: string } };
  const fetchList = (tenantId: string, listId: string, headers?: Record<string, string>) =>
    fetchToken(tenantId, listId, headers, retrieveListCredential);
  /** A revocable configuration; the id of its list. */
  const configureJson = async (tenantId: string, proofType: string): Promise<string> => {
    didKeyId = (await engines.vault.signingKeys.createSigningKey(tenantId, 'did', 'Ed25519')).keyId;
    await call(webSemanticConfigurations.create, tenantId, admin, { body: body({ proofType, issuerDid: DID }) });
    const name = proofType === 'Ed25519Signature2018' ? 'revocationList2020' : 'bitstring';
    return firstListId(tenantId, `${name} ${DID}#k`);
  };
  const publishedCredential = async (tenantId: string, listId: string) => {
    await waitUntil(async () => (await fetchList(tenantId, listId)).body !== '', { what: 'the list' });
    return JSON.parse((await fetchList(tenantId, listId)).body) as ListCredential;
  };
  /** With the libraries of Digital Bazaar, without the proof. */
  const isRevoked = async (list: ListCredential, index: number): Promise<boolean> => {
    const reference = { uri: list.id, index };
    const documentLoader = (url: string) =>
      Promise.resolve({ contextUrl: null, documentUrl: url, document: list } as const);
    const options = {
      documentLoader,
      verifyRevocationListCredential: false,
      verifyBitstringStatusListCredential: false,
    };
    if (list.type.includes('RevocationList2020Credential')) {
      const contexts = ['https://www.w3.org/2018/credentials/v1', 'https://w3id.org/vc-revocation-list-2020/v1'];
      const entry = { '@context': contexts, issuer: DID, credentialStatus: revocationList2020Status(reference) };
      const checked = await revocationList.checkStatus({ credential: entry, ...options });
      if (checked.error) throw checked.error;
      return !checked.verified;
    }
    const contexts = ['https://www.w3.org/ns/credentials/v2'];
    const entry = { '@context': contexts, issuer: DID, credentialStatus: bitstringStatus(reference) };
    const checked = await bitstring.checkStatus({ credential: entry, ...options });
    if (checked.error) throw checked.error;
    return checked.results[0]!.status;
  };

  it.each([
    ['Ed25519Signature2018', 'RevocationList2020Credential', { type: 'Ed25519Signature2018' }],
    ['eddsa-rdfc-2022', 'BitstringStatusListCredential', { cryptosuite: 'eddsa-rdfc-2022' }],
  ])('has the proof of its credentials and shows each change: %s [T186, T187]', async (proofType, type, proof) => {
    const tenantId = newId();
    const listId = await configureJson(tenantId, proofType);
    const uri = `${urlOf(tenantId)}/v2/credentials/web-semantic/revocation-lists/${listId}`;
    const list = await publishedCredential(tenantId, listId);
    expect(list).toMatchObject({ id: uri, type: ['VerifiableCredential', type], issuer: DID, proof });
    const tokenType = proofType === 'Ed25519Signature2018' ? 'revocationList2020' : 'bitstring';
    const policy = { kind: 'listCredential', tokenType, size: 131_072 } as const;
    const series = listSeries(policy, { kind: 'pinnedKey', keyId: didKeyId, verificationMethod: `${DID}#k` });
    const allocated = await replica().allocate(tenantOf(tenantId), series, 2);
    expect(allocated.map((one) => one.uri)).toEqual([uri, uri]);
    const [first, second] = allocated.map(({ index }) => index) as [number, number];
    const credentialId = await record(tenantId, { listId, index: first }, { format: 'ldp_vc' });
    for (const [status, revoked] of [
      ['invalid', true],
      ['valid', false],
    ] as const) {
      await change(tenantId, credentialId, status, 'ldp_vc');
      const isShown = async () => (await isRevoked(await publishedCredential(tenantId, listId), first)) === revoked;
      await waitUntil(isShown, { what: `the status ${status}` });
      expect(await isRevoked(await publishedCredential(tenantId, listId), second)).toBe(false);
    }
  });

  it('is served by its media types and with ETag, only at its own address and under its tenant [T187]', async () => {
    const [tenantId, other] = [newId(), newId()];
    const listId = await configureJson(tenantId, 'eddsa-rdfc-2022');
    await configureJson(other, 'eddsa-rdfc-2022');
    const [list] = [await publishedCredential(tenantId, listId)];
    for (const [accept, mediaType] of [
      [undefined, 'application/ld+json'],
      ['*/*', 'application/ld+json'],
      ['application/vc', 'application/vc'],
      ['application/json', 'application/json'],
      ['application/ld+json, application/json', 'application/ld+json'],
    ] as const) {
      const { headers, body: text } = await fetchList(tenantId, listId, accept ? { accept } : {});
      expect(headers).toMatchObject({ 'content-type': mediaType, vary: 'Accept' });
      expect((JSON.parse(text) as ListCredential).id).toBe(list.id);
    }
    const refused = await refusal(fetchList(tenantId, listId, { accept: 'application/statuslist+jwt' }));
    const allowed = 'application/ld+json or application/vc or application/json';
    expect([refused.kind, refused.message]).toEqual(['notAcceptable', `Accept must allow ${allowed}`]);
    for (const missing of [fetchToken(tenantId, listId), fetchList(other, listId), fetchList(tenantId, newId())])
      expect((await refusal(missing)).kind).toBe('notFound');
    await configure(tenantId);
    await published(tenantId, firstList(tenantId));
    expect((await refusal(fetchList(tenantId, firstList(tenantId)))).kind).toBe('notFound');
    const aggregation = await call(retrieveStatusListAggregation, tenantId, { kind: 'public' }, {});
    const uri = `${urlOf(tenantId)}/v2/credentials/status-lists/${firstList(tenantId)}/token`;
    expect(aggregation).toEqual({ status_lists: [uri] });
  });
});

describe('while the tenant has lost the domain of the issuer', () => {
  const statuses = (token: string) => getListFromStatusListJWT(token).statusList;
  const isMasked = (token: string) => statuses(token).every((status) => status === 1);
  const changesOf = async (tenantId: string, listId: string) => (await lists().find({ tenantId, listId }))?.changes;
  /** A series under the domain, with one credential of each status. */
  const under = async (tenantId: string, domain: string, signed: 'byDid' | 'byIssuer') => {
    did = `did:web:${domain}:issuers:x`;
    didKeyId = (await engines.vault.signingKeys.createSigningKey(tenantId, 'did', 'Ed25519')).keyId;
    const { create } = signed === 'byDid' ? jwtVcConfigurations : sdJwtConfigurations;
    await call(create, tenantId, admin, { body: body({ issuerDid: did }) });
    const series = listSeries(
      { kind: 'tokenStatusList', tokenType: 'jwt', size: 131_072 },
      signed === 'byDid'
        ? { kind: 'pinnedKey', keyId: didKeyId, verificationMethod: `${did}#k` }
        : { kind: 'issuerSigner', issuer: urlOf(tenantId), did },
    );
    const listId = firstListId(tenantId, seriesName(series));
    const indexes = (await replica().allocate(tenantOf(tenantId), series, 3)).map(({ index }) => index);
    const ids = await Promise.all(indexes.map((index) => record(tenantId, { listId, index })));
    await change(tenantId, ids[1]!, 'invalid');
    await change(tenantId, ids[2]!, 'suspended');
    const shown = (token: string) => String(indexes.map((index) => statuses(token)[index]));
    await published(tenantId, listId, (token) => shown(token) === '0,1,2');
    return { listId, ids, shown };
  };

  it.each(['byDid', 'byIssuer'] as const)(
    'every entry of its lists is INVALID, and no status changes: signed %s',
    async (signed) => {
      const tenantId = newId();
      await configure(tenantId, { type: 'Elsewhere' });
      const { listId, ids, shown } = await under(tenantId, 'brand.example', signed);
      await domainChanged(tenantId, 'brand.example', true);
      await domainChanged(tenantId, 'another.example', false);
      await domainChanged(tenantId, 'brand.example', false);
      await published(tenantId, listId, isMasked);
      const { state } = await engines.streams.load(issuedCredential, issuedCredentialStream(tenantId, ids[2]!));
      expect(state).toMatchObject({ listed: { status: 'suspended' } });
      // Tokens that are signed under the tenant's own address do not depend on the domain.
      expect(statuses(await published(tenantId, firstList(tenantId))).some((status) => status !== 0)).toBe(false);

      // A status may change, and is published once the domain is verified again.
      await change(tenantId, ids[2]!, 'invalid');
      await waitUntil(async () => (await changesOf(tenantId, listId)) === 4, { what: 'the change' });
      await published(tenantId, listId, isMasked);
      await domainChanged(tenantId, 'brand.example', true);
      await published(tenantId, listId, (token) => shown(token) === '0,1,1');
    },
  );

  it.each([
    ['compact', 'cwt', compactRevocationLists],
    ['compact-semantic', 'cwt_vc', compactSemanticRevocationLists],
  ] as const)(
    'every entry of both of its lists is revoked, and no status changes: %s',
    async (revocationLists, format, { retrieve }) => {
      const tenantId = newId();
      const { keyId } = await engines.vault.signingKeys.createSigningKey(tenantId, 'did', 'P-256');
      const series = (issuer: string) =>
        listSeries(
          { kind: 'tokenStatusList', tokenType: 'cose', size: 131_072, revocationLists },
          { kind: 'pinnedKey', keyId, verificationMethod: `${issuer}#k` },
        );
      const [first, second] = await replica().allocate(tenantOf(tenantId), series('did:web:cwt.example'), 2);
      const { listId, index: own } = first!;
      const [elsewhere] = await replica().allocate(tenantOf(tenantId), series(DID), 1);
      const credentialId = await record(tenantId, { listId, index: own }, { format });
      const bothOf = async (id: string) =>
        [(await fetchToken(tenantId, id)).base64!, (await fetchToken(tenantId, id, {}, retrieve)).base64!] as const;
      const shows = (statuses: [number, number]) =>
        waitUntil(
          async () => {
            const [token, list] = await bothOf(listId);
            const shown = [own, second!.index].flatMap((index) => cwtStatuses(token, list, index));
            return String(shown) === String(statuses.flatMap((status) => [status, status]));
          },
          { what: `the statuses ${statuses.join(', ')}` },
        );
      const bytesOf = async (id: string) => {
        const bytes = cwtLists(...(await bothOf(id)));
        expect(bytes.map(({ length }) => length)).toEqual([16_384, 16_384]);
        return bytes;
      };
      const isMaskedList = async () => (await bytesOf(listId)).every((bytes) => bytes.every((byte) => byte === 0xff));
      await shows([0, 0]);
      await change(tenantId, credentialId, 'invalid', format);
      await shows([1, 0]);

      await domainChanged(tenantId, 'cwt.example', false);
      await waitUntil(isMaskedList, { what: 'the mask in both lists' });
      for (const bytes of await bytesOf(elsewhere!.listId)) expect(bytes.every((byte) => byte === 0)).toBe(true);
      const { state } = await engines.streams.load(issuedCredential, issuedCredentialStream(tenantId, credentialId));
      expect(state).toMatchObject({ listed: { status: 'invalid' } });
      const before = (await changesOf(tenantId, listId))!;
      await change(tenantId, credentialId, 'valid', format);
      await change(tenantId, credentialId, 'invalid', format);
      await waitUntil(async () => (await changesOf(tenantId, listId)) === before + 2, { what: 'the changes' });
      await waitUntil(isMaskedList, { what: 'the mask in both lists' });
      await domainChanged(tenantId, 'cwt.example', true);
      await shows([1, 0]);
    },
  );

  it.each([
    ['bitstring', 'eddsa-rdfc-2022', 'u'],
    ['revocationList2020', 'Ed25519Signature2018', ''],
  ])('every entry of its lists that are credentials is revoked: %s', async (tokenType, proofType, multibase) => {
    const tenantId = newId();
    did = 'did:web:lists.example';
    didKeyId = (await engines.vault.signingKeys.createSigningKey(tenantId, 'did', 'Ed25519')).keyId;
    await call(webSemanticConfigurations.create, tenantId, admin, { body: body({ issuerDid: did, proofType }) });
    const listId = firstListId(tenantId, `${tokenType} ${did}#k`);
    const shown = async () => {
      const text = (await fetchToken(tenantId, listId, {}, retrieveListCredential)).body;
      const { credentialSubject } = JSON.parse(text) as { credentialSubject: { encodedList: string } };
      const { encodedList } = credentialSubject;
      expect(encodedList.startsWith(multibase)).toBe(true);
      const bits = gunzipSync(Buffer.from(encodedList.slice(multibase.length), 'base64url'));
      return [bits.length, bits.every((byte) => byte === 0xff), bits.every((byte) => byte === 0)];
    };
    const is = (masked: boolean) =>
      waitUntil(async () => String(await shown()) === String([16_384, masked, !masked]), { what: `masked: ${masked}` });
    await is(false);
    await domainChanged(tenantId, 'lists.example', false);
    await is(true);
    await domainChanged(tenantId, 'lists.example', true);
    await is(false);
  });

  it('a list that is opened meanwhile is masked from its first token, also after a rebuild', async () => {
    const tenantId = newId();
    await domainChanged(tenantId, 'early.example', false);
    didKeyId = (await engines.vault.signingKeys.createSigningKey(tenantId, 'did', 'Ed25519')).keyId;
    did = 'did:web:early.example';
    const signer = { kind: 'pinnedKey', keyId: didKeyId, verificationMethod: `${did}#k` } as const;
    const series = listSeries({ kind: 'tokenStatusList', tokenType: 'jwt', size: 64 }, signer);
    await waitUntil(
      async () =>
        (await engines.streams.load(withdrawnDomains, withdrawnDomainsStream(tenantId))).state.domains.length > 0,
      { what: 'the withdrawal' },
    );
    await replica().openSeries(tenantOf(tenantId), series);
    const listId = firstListId(tenantId, seriesName(series));
    expect(isMasked(await published(tenantId, listId))).toBe(true);
    const before = await lists().find({ tenantId, listId });
    expect(before!.statuses).toEqual(new Uint8Array(16).fill(0x55));
    await lists().running.rebuild();
    expect(await lists().find({ tenantId, listId })).toEqual(before);
    await domainChanged(tenantId, 'early.example', true);
    await published(tenantId, listId, (token) => statuses(token).every((status) => status === 0));
    expect(await changesOf(tenantId, listId)).toBe(1);
    await lists().running.rebuild();
    expect(await changesOf(tenantId, listId)).toBe(1);
  });

  it('the lists of another tenant under the same domain are its own', async () => {
    const [first, second] = [newId(), newId()];
    const theirs = await under(first, 'handed.example', 'byDid');
    await domainChanged(first, 'handed.example', true);
    await domainChanged(first, 'handed.example', false);
    await domainChanged(second, 'handed.example', true);
    await published(first, theirs.listId, isMasked);
    const ours = await under(second, 'handed.example', 'byDid');
    expect(isMasked(await published(first, theirs.listId))).toBe(true);
    await domainChanged(second, 'handed.example', false);
    await published(second, ours.listId, isMasked);
    await domainChanged(first, 'handed.example', true);
    await published(first, theirs.listId, (token) => theirs.shown(token) === '0,1,2');
    expect(isMasked(await published(second, ours.listId))).toBe(true);
  });

  it('the rows of a purged tenant end', async () => {
    const tenantId = newId();
    await domainChanged(tenantId, 'purged.example', false);
    const rows = () =>
      lists()
        .running.db.selectFrom('issuance_withdrawn_domains')
        .select('domain')
        .where('tenant_id', '=', tenantId)
        .execute();
    await waitUntil(async () => (await rows()).length === 1, { what: 'the row' });
    await engines.bus.publish([
      {
        id: `purged-${tenantId}`,
        subject: tenantPurged.subject,
        headers: { tenantId, requestId: 'purge', occurredAt: new Date().toISOString() },
        data: { tenantId },
      },
    ]);
    await waitUntil(async () => (await rows()).length === 0, { what: 'the end of the row' });
  });
});

describe('a status list of mobile documents', () => {
  const CARD = 'org.example.card';
  const NO_SUCH = '99999999-9999-4999-8999-999999999999';
  const verifier: Caller = { kind: 'public' };
  const of = <T>(
    operation: Parameters<typeof call>[0],
    tenantId: string,
    request: object = {},
    caller: Caller = admin,
  ) => call(operation, tenantId, caller, request) as Promise<T>;
  const createAuthority = async (tenantId: string, body: object = {}) => {
    const { id } = await of<Iaca>(createIaca, tenantId, { body });
    return of<Iaca>(updateIaca, tenantId, { params: { id }, body: { active: true } });
  };
  const mobileSeries = (tenantId: string, iacaId: string, size = 100_000, docType = CARD): ListSeries =>
    listSeries(
      { kind: 'tokenStatusList', tokenType: 'cose', size },
      { kind: 'statusListSigner', issuer: urlOf(tenantId), iacaId, docType },
    );
  const open = async (tenantId: string, iacaId: string, docType?: string): Promise<string> => {
    const series = mobileSeries(tenantId, iacaId, undefined, docType);
    await replica().openSeries(tenantOf(tenantId), series);
    return firstListId(tenantId, seriesName(series));
  };
  const get = async (tenantId: string, listId: string, headers: Record<string, string> = {}) => {
    const raw = { method: 'GET', url: '/', headers, text: '' };
    const request = { params: { id: listId }, raw };
    return (await of<HttpAnswer>(retrieveMobileStatusListToken, tenantId, request, verifier)).$http;
  };
  interface Read {
    x5chain: X509Certificate;
    claims: Map<number, unknown>;
    statusOf: (index: number) => number;
  }
  /** With cbor2; the signature with the key of the certificate, which the IACA certified. */
  const read = (base64: string, iacaPem: string): Read => {
    const options = { ignoreGlobalTags: true, preferMap: true };
    const { tag, contents } = decode<Tag>(new Uint8Array(Buffer.from(base64, 'base64')), options);
    const [header, , payload, signature] = contents as [Uint8Array, unknown, Uint8Array, Uint8Array];
    const x5chain = new X509Certificate(decode<Map<number, Uint8Array>>(header, options).get(33)!);
    const signed = encode(['Signature1', header, new Uint8Array(), payload], cdeEncodeOptions);
    const key = { key: x5chain.publicKey, dsaEncoding: 'ieee-p1363' as const };
    expect(tag).toBe(18);
    expect(verify('sha256', signed, key, signature)).toBe(true);
    expect(x5chain.verify(new X509Certificate(iacaPem).publicKey)).toBe(true);
    const claims = decode<Map<number, unknown>>(payload, options);
    const inflated = inflateSync((claims.get(65533) as Map<string, Uint8Array>).get('lst')!);
    expect(inflated).toHaveLength(25_000);
    return { x5chain, claims, statusOf: (index) => statusAt(inflated, 2, index) };
  };
  const publishedMobile = async (
    tenantId: string,
    listId: string,
    { certificatePem }: Pick<Iaca, 'certificatePem'>,
    when: (token: Read) => boolean = () => true,
  ) => {
    let token: Read | undefined;
    const isPublished = async () => {
      token = read((await get(tenantId, listId)).base64!, certificatePem);
      return when(token);
    };
    await waitUntil(isPublished, { what: 'the token of the list' });
    return token!;
  };
  const claimsEnd = ({ claims }: Read) => 1000 * (claims.get(4) as number);
  const lifetimes = ({ claims }: Read) => [claims.get(65534), (claims.get(4) as number) - (claims.get(6) as number)];

  it('is signed by a status list signer of the IACA, which is made for it', async () => {
    const tenantId = newId();
    const iaca = await createAuthority(tenantId);
    const listId = await open(tenantId, iaca.id);
    const token = await publishedMobile(tenantId, listId, iaca);
    expect(token.claims.get(2)).toBe(`${urlOf(tenantId)}/v2/credentials/mobile/status-lists/${listId}/token`);
    expect(lifetimes(token)).toEqual([300, 3600]);
    const { data: signers } = await of<PageOf<StatusListSigner>>(listStatusListSigners, tenantId);
    expect(signers).toMatchObject([{ iacaId: iaca.id, active: true, isManaged: true }]);
    expect(signers[0]!.certificateFingerprint).toBe(token.x5chain.fingerprint256.replaceAll(':', '').toLowerCase());
    expect(token.x5chain.keyUsage).toBeUndefined();
    expect((await of<PageOf<unknown>>(listDocumentSigners, tenantId)).data).toEqual([]);
    const signer = await of<StatusListSigner>(retrieveStatusListSigner, tenantId, { params: { id: signers[0]!.id } });
    expect(signer).toEqual(signers[0]);
    // Signers of managed IACAs are automatic.
    const managed = of(createStatusListSigner, tenantId, { body: { iacaId: iaca.id } });
    expect((await refusal(managed)).details).toMatchObject([{ param: 'iacaId' }]);
    const deleted = of(deleteStatusListSigner, tenantId, { params: { id: signer.id } });
    expect((await refusal(deleted)).details).toMatchObject([{ param: 'id' }]);
  });

  it('is signed by another signer in time, which is made while the last one is valid', async () => {
    const tenantId = newId();
    const iaca = await createAuthority(tenantId);
    const [status] = await replica().allocate(tenantOf(tenantId), mobileSeries(tenantId, iaca.id), 1);
    const { listId } = status!;
    // Without an end, so that the list has none.
    await record(tenantId, status!, { format: 'mso_mdoc' });
    const { x5chain } = await publishedMobile(tenantId, listId, iaca);
    const dueOf = async (days: number) =>
      (
        await services.app
          .get(DueCertificates, { strict: false })
          .due(new Date(Date.now() + days * 86_400_000), 100_000)
      )
        .filter((row) => row.tenant_id === tenantId)
        .map(({ kind }) => kind);
    // The CRL of the IACA is due too.
    await waitUntil(async () => (await dueOf(427)).includes('statusList'), { what: 'the row of the signer' });
    expect(await dueOf(425)).not.toContain('statusList');
    ahead = 426.5 * 86_400_000;
    const signers = services.app.get(DocumentSigners, { strict: false });
    await signers.renew(tenantId, { iacaId: iaca.id, documents: 'statusList' }, event(tenantId));
    const replaced = await publishedMobile(
      tenantId,
      listId,
      iaca,
      (token) => token.x5chain.serialNumber !== x5chain.serialNumber,
    );
    expect(Date.parse(replaced.x5chain.validFrom)).toBeLessThan(Date.parse(x5chain.validTo));
  });

  it('shows each change, also while its IACA is inactive', async () => {
    const tenantId = newId();
    const iaca = await createAuthority(tenantId);
    const series = mobileSeries(tenantId, iaca.id);
    const [one, two] = await replica().allocate(tenantOf(tenantId), series, 2);
    const { listId } = one!;
    const credentialId = await record(tenantId, { listId, index: one!.index });
    await change(tenantId, credentialId, 'suspended');
    await publishedMobile(tenantId, listId, iaca, ({ statusOf }) => statusOf(one!.index) === 2);
    await of(updateIaca, tenantId, { params: { id: iaca.id }, body: { active: false } });
    await change(tenantId, credentialId, 'invalid');
    const token = await publishedMobile(tenantId, listId, iaca, ({ statusOf }) => statusOf(one!.index) === 1);
    expect(token.statusOf(two!.index)).toBe(0);
  });

  it('has a path and media types of its own', async () => {
    const tenantId = newId();
    const iaca = await createAuthority(tenantId);
    const listId = await open(tenantId, iaca.id);
    await publishedMobile(tenantId, listId, iaca);
    const { headers, base64 } = await get(tenantId, listId);
    expect(headers).toEqual({ 'content-type': 'application/statuslist+cwt', vary: 'Accept' });
    for (const accept of ['*/*', 'application/*', 'application/cwt;q=0.9, application/*', 'application/statuslist+cwt'])
      expect((await get(tenantId, listId, { accept })).headers).toEqual(headers);
    for (const accept of ['application/cwt', 'application/cwt, */*;q=0.5', 'application/statuslist+cwt;q=0, */*'])
      expect(await get(tenantId, listId, { accept })).toEqual({
        headers: { ...headers, 'content-type': 'application/cwt' },
        base64,
      });
    const refused = await refusal(get(tenantId, listId, { accept: 'application/json' }));
    expect(refused.message).toBe('Accept must allow application/statuslist+cwt or application/cwt');
    expect((await refusal(fetchToken(tenantId, listId))).kind).toBe('notFound');
    await configure(tenantId);
    await published(tenantId, firstList(tenantId));
    expect((await refusal(get(tenantId, firstList(tenantId)))).kind).toBe('notFound');
    expect((await refusal(get(tenantId, NO_SUCH))).kind).toBe('notFound');
    expect((await refusal(get(newId(), listId))).kind).toBe('notFound');
  });

  it('is listed with its IACA and the configuration of its document type, and distributed', async () => {
    const tenantId = newId();
    const iaca = await createAuthority(tenantId);
    const configuration = await of<StatusListConfiguration>(createStatusListConfiguration, tenantId, {
      body: { docType: CARD, timeToLiveDuration: { hours: 1 }, expiryDuration: { hours: 2 } },
    });
    const listId = await open(tenantId, iaca.id);
    const otherId = await open(tenantId, iaca.id, 'org.example.pass');
    const token = await publishedMobile(tenantId, listId, iaca);
    await publishedMobile(tenantId, otherId, iaca);
    expect(lifetimes(token)).toEqual([3600, 7200]);
    await configure(tenantId);
    const page = (query: object) => of<PageOf<MobileStatusList>>(listMobileStatusLists, tenantId, { query });
    const all = await page({});
    const ids = [listId, otherId].sort();
    expect(all.nextCursor).toBeUndefined();
    expect(all.data.map(({ id }) => id)).toEqual(ids);
    const [first, second] = [await page({ limit: 1 }), await page({ limit: 1, cursor: ids[0] })];
    expect(first).toEqual({ data: [all.data[0]], nextCursor: ids[0] });
    expect(second).toEqual({ data: [all.data[1]] });
    expect((await refusal(page({ cursor: NO_SUCH }))).details).toMatchObject([{ param: 'cursor' }]);
    const view = await of<MobileStatusList>(retrieveMobileStatusList, tenantId, { params: { id: listId } });
    expect(view).toEqual({
      id: listId,
      iacaId: iaca.id,
      statusListConfigurationId: configuration.id,
      listSize: 100_000,
      list: (await get(tenantId, listId)).base64,
    });
    expect(all.data.find(({ id }) => id === otherId)).not.toHaveProperty('statusListConfigurationId');
    const unknown = of(retrieveMobileStatusList, tenantId, { params: { id: firstList(tenantId) } });
    expect((await refusal(unknown)).kind).toBe('notFound');
    const distribution = () => of<StatusListDistribution>(retrieveStatusListDistribution, tenantId, {}, verifier);
    const uri = (id: string) => `${urlOf(tenantId)}/v2/credentials/mobile/status-lists/${id}/token`;
    // The newest first; these may have been opened in the same millisecond.
    const distributed = (await distribution()).data.map(({ status_lists: list }) => list.uri);
    expect(distributed.sort()).toEqual(ids.map(uri));
    // The durations apply to the next token.
    const [params, durations] = [
      { id: configuration.id },
      { timeToLiveDuration: { days: 1 }, expiryDuration: { days: 2 } },
    ];
    await of(updateStatusListConfiguration, tenantId, { params, body: durations });
    await of(deleteIaca, tenantId, { params: { id: iaca.id } });
    expect(await distribution()).toEqual({ data: [] });
    await of(deleteStatusListConfiguration, tenantId, { params });
  });

  it('has no token after the last one has expired, nor a stale one before its first credential [T196]', async () => {
    const tenantId = newId();
    const iaca = await createAuthority(tenantId);
    const listId = await open(tenantId, iaca.id);
    await publishedMobile(tenantId, listId, iaca);
    const view = () => of<MobileStatusList>(retrieveMobileStatusList, tenantId, { params: { id: listId } });
    expect(await view()).toHaveProperty('list');
    ahead = 3_660_000;
    expect((await refusal(get(tenantId, listId))).kind).toBe('unavailable');
    expect(await view()).not.toHaveProperty('list');
    await useList(tenantId, mobileSeries(tenantId, iaca.id));
    await waitUntil(async () => 'list' in (await view()), { what: 'the token' });
    await publishedMobile(tenantId, listId, iaca);
  });

  it('is listed in pages of 512 KB, for which no other token is read [T198]', async () => {
    const tenantId = newId();
    const signer = JSON.stringify(mobileSeries(tenantId, NO_SUCH).signer);
    const token = {
      ...{ token_type: 'cose' as const, signer, iaca_id: NO_SUCH, uri: '', shard: -1, etag: '', revision: 0 },
      ...{ size: 100_000, due_at: '9999', expires_at: '9999', opened_at: '2000', issuer: '' },
      ...{ revocation_profile: '', revocation_uri: '', revocation_list: null, revocation_etag: null },
    };
    const sizes = [200, 200, 200, 600, 100, 0].map((kib) => kib * 1024);
    const rows = sizes.map((size, n) => ({
      ...{ tenant_id: tenantId, list_id: `0000000${n}-0000-4000-8000-000000000000`, ...token },
      token: size ? 'A'.repeat(size) : null,
    }));
    const { db } = tokens().running;
    await db.insertInto('issuance_status_list_tokens').values(rows).execute();
    let read = 0;
    const measured = db.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: ({ result }) => {
        read += JSON.stringify(result.rows).length;
        return Promise.resolve(result);
      },
    });
    const model = Object.assign(Object.create(PublishedListsReadModel.prototype) as PublishedListsReadModel, {
      running: { db: measured },
    });
    const handler = new ListMobileStatusLists(engines.streams, model, engines.clock);
    const page = async (query: { cursor?: string; limit?: number }) => {
      read = 0;
      const { data, nextCursor } = await handler.execute({ query } as never, { tenant: tenantOf(tenantId) } as never);
      const returned = data.reduce((sum, { list = '' }) => sum + list.length, 0);
      expect(read).toBeLessThan(returned + 10_000);
      return [data.map(({ id }) => Number(id[7])), nextCursor && Number(nextCursor[7])];
    };
    const after = (n: number) => ({ cursor: rows[n]!.list_id });
    expect(await page({})).toEqual([[0, 1], 1]);
    expect(await page(after(1))).toEqual([[2], 2]);
    // One alone, however large it is.
    expect(await page(after(2))).toEqual([[3], 3]);
    expect(await page(after(3))).toEqual([[4, 5], undefined]);
    expect(await page({ ...after(3), limit: 1 })).toEqual([[4], 4]);
    expect(await page(after(5))).toEqual([[], undefined]);
  });

  it('expires with its IACA, and is gone then [T172, T177]', async () => {
    const tenantId = newId();
    const notAfter = new Date(Date.now() + 1_800_000).toISOString();
    const iaca = await createAuthority(tenantId, { notAfter });
    const listId = await open(tenantId, iaca.id);
    const token = await publishedMobile(tenantId, listId, iaca);
    const end = Date.parse(iaca.certificateData.notAfter) / 1000;
    expect(token.claims.get(4)).toBe(end);
    await useList(tenantId, mobileSeries(tenantId, iaca.id));
    ahead = 1_801_000;
    const gone = await refusal(get(tenantId, listId));
    expect([gone.kind, gone.message]).toEqual(['gone', `The status list ended at ${iaca.certificateData.notAfter}`]);
    const isDue = async () =>
      (await tokens().listDue(shardOf(listId), new Date(Date.now() + 10 * ahead), 1000)).some(
        (due) => due.listId === listId,
      );
    await waitUntil(async () => !(await isDue()), { what: 'the list not to be due' });
    expect(await of(retrieveStatusListAggregation, tenantId, {}, verifier)).toEqual({ status_lists: [] });
  });

  it('of an unmanaged IACA is signed once its owner has certified a signer [T175]', async () => {
    const tenantId = newId();
    const customer = await CustomerIaca.create();
    const iaca = await createAuthority(tenantId, { certificatePem: customer.certificatePem });
    const listId = await open(tenantId, iaca.id);
    const postponed = async () =>
      !(await tokens().listDue(shardOf(listId), new Date(Date.now() + ahead), 1000)).some(
        (due) => due.listId === listId,
      );
    await waitUntil(postponed, { what: 'the list to be postponed' });
    expect(await refusal(get(tenantId, listId))).toMatchObject({
      kind: 'unavailable',
      message: 'The first token of the status list is not signed yet',
    });
    const make = () => of<StatusListSigner>(createStatusListSigner, tenantId, { body: { iacaId: iaca.id } });
    const signer = await make();
    expect(signer).toEqual({
      id: expect.any(String) as string,
      iacaId: iaca.id,
      active: false,
      isManaged: false,
      csrPem: expect.stringMatching(/^-----BEGIN CERTIFICATE REQUEST-----/) as string,
    });
    const document = await of<StatusListSigner>(createDocumentSigner, tenantId, { body: { iacaId: iaca.id } });
    const update = (id: string, body: object) =>
      of<StatusListSigner>(updateStatusListSigner, tenantId, { params: { id }, body });
    const wrong = await refusal(update(document.id, { active: false }));
    expect(wrong.kind).toBe('notFound');
    const ofDocuments = await customer.issue(document.csrPem!);
    expect((await refusal(update(signer.id, { active: true, certificatePem: ofDocuments }))).details).toMatchObject([
      { msg: 'must contain the public key of csrPem' },
      { msg: 'must not have the extended key usage 1.0.18013.5.1.2 of document signers' },
    ]);
    await update(signer.id, { active: true, certificatePem: await customer.issue(signer.csrPem!) });
    ahead = 61_000;
    await publishedMobile(tenantId, listId, iaca);
    await make();
    await make();
    expect((await refusal(make())).message).toBe('A tenant can have at most 3 status list signers of unmanaged IACAs');
    await of(deleteStatusListSigner, tenantId, { params: { id: signer.id } });
  });

  it('is signed by another signer at once when one is certified, listed by the CRL, deactivated or deleted, and before its own ends [T525]', async () => {
    const tenantId = newId();
    const customer = await CustomerIaca.create();
    const iaca = await createAuthority(tenantId, { certificatePem: customer.certificatePem });
    const listId = await open(tenantId, iaca.id);
    await useList(tenantId, mobileSeries(tenantId, iaca.id));
    const update = (id: string, body: object) =>
      of<StatusListSigner>(updateStatusListSigner, tenantId, { params: { id }, body });
    const certify = async (days: number) => {
      const { id, csrPem } = await of<StatusListSigner>(createStatusListSigner, tenantId, {
        body: { iacaId: iaca.id },
      });
      const certificatePem = await customer.issue(csrPem!, days);
      await update(id, { active: true, certificatePem });
      return { id, certificatePem };
    };
    const signedBy = ({ certificatePem }: { certificatePem: string }) => {
      const { serialNumber } = new X509Certificate(certificatePem);
      return publishedMobile(tenantId, listId, iaca, ({ x5chain }) => x5chain.serialNumber === serialNumber);
    };
    const first = await certify(5);
    ahead = 61_000;
    await signedBy(first);
    const second = await certify(6);
    await signedBy(second);
    await update(second.id, { active: false });
    await signedBy(first);
    await update(second.id, { active: true });
    await signedBy(second);
    customer.revoke(second.certificatePem);
    await of(updateIacaCrl, tenantId, { params: { id: iaca.id }, body: { crlPem: await customer.signCrl() } });
    await signedBy(first);
    const third = await certify(300);
    await signedBy(third);
    await of(deleteStatusListSigner, tenantId, { params: { id: third.id } });
    await signedBy(first);
    // Half of the time to live would be after its end.
    ahead = Date.parse(new X509Certificate(first.certificatePem).validTo) - Date.now() - 100_000;
    const last = await publishedMobile(tenantId, listId, iaca, ({ claims }) => (claims.get(65534) as number) <= 100);
    expect(claimsEnd(last)).toBe(Date.parse(new X509Certificate(first.certificatePem).validTo));
    const due = await tokens().listDue(shardOf(listId), new Date(Date.now() + ahead + 51_000), 10_000);
    expect(due.some((one) => one.listId === listId)).toBe(true);
  });

  it('is masked while the tenant has lost any name of the IACA or of the document signer', async () => {
    const tenantId = newId();
    const customer = await CustomerIaca.create(3650, [
      { type: 'email', value: 'pki@corp.example' },
      { type: 'email', value: 'pki@no domain\0' },
      { type: 'url', value: 'https://brand.example' },
    ]);
    const iaca = await createAuthority(tenantId, { certificatePem: customer.certificatePem });
    const certify = async (use: 'document' | 'status list', name: string) => {
      const [create, update] =
        use === 'document'
          ? [createDocumentSigner, updateDocumentSigner]
          : [createStatusListSigner, updateStatusListSigner];
      const { id, csrPem } = await of<StatusListSigner>(create, tenantId, { body: { iacaId: iaca.id } });
      const certificatePem = await customer.issue(csrPem!, 300, [{ type: 'url', value: `https://${name}` }]);
      await of(update, tenantId, { params: { id }, body: { active: true, certificatePem } });
    };
    await certify('status list', 'lists.example');
    await certify('document', 'brand.example');
    const signers = services.app.get(DocumentSigners, { strict: false });
    const issue = async () => {
      const signer = await signers.loadSigner(tenantId, { docType: CARD, hasStatus: true }, event(tenantId));
      const series = statusSeriesOf(
        {
          signer: { kind: 'documentSigner' },
          status: { kind: 'tokenStatusList', tokenType: 'cose', size: 100_000 },
        },
        { type: CARD, content: { revocable: true } },
        urlOf(tenantId),
        signer,
      )!;
      const [status] = await replica().allocate(tenantOf(tenantId), series, 1);
      return { ...status!, domains: (series.signer as { domains?: readonly string[] }).domains };
    };
    const plain = await issue();
    expect(plain.domains).toEqual(['brand.example', 'corp.example']);
    await certify('document', 'signer.example');
    const named = await issue();
    expect(named.domains).toEqual(['brand.example', 'corp.example', 'signer.example']);
    const shows = ({ listId, index }: StatusEntry, masked: boolean) =>
      publishedMobile(tenantId, listId, iaca, ({ statusOf }) => statusOf(index) === Number(masked));
    const changeTo = async (domain: string, isVerified: boolean, ...masked: [plain: boolean, named: boolean]) => {
      await domainChanged(tenantId, domain, isVerified);
      await waitUntil(
        async () => {
          const { state } = await engines.streams.load(withdrawnDomains, withdrawnDomainsStream(tenantId));
          return state.domains.includes(domain) !== isVerified;
        },
        { what: 'the domain' },
      );
      expect(await lists().running.waitForHead(5000)).toBe(true);
      const isMasked = async ({ listId }: StatusEntry) =>
        (await lists().find({ tenantId, listId }))!.statuses.every((byte) => byte === 0x55);
      expect([domain, await isMasked(plain), await isMasked(named)]).toEqual([domain, ...masked]);
    };
    await changeTo('lists.example', false, false, false);
    await changeTo('signer.example', false, false, true);
    await shows(named, true);
    await shows(plain, false);
    await changeTo('corp.example', false, true, true);
    await changeTo('brand.example', false, true, true);
    await shows(plain, true);
    expect((await refusal(issue())).message).toBe('the domain of the issuer has been withdrawn');
    // Another is still lost.
    await changeTo('brand.example', true, true, true);
    await lists().running.rebuild();
    await changeTo('signer.example', true, true, true);
    await changeTo('corp.example', true, false, false);
    await shows(named, false);
    await shows(plain, false);
  });

  describe('that is an identifier list', () => {
    const identifiedSeries = (tenantId: string, iacaId: string): ListSeries =>
      listSeries(
        { kind: 'tokenStatusList', tokenType: 'identifierList', size: IDENTIFIER_LIST_SIZE },
        { kind: 'statusListSigner', issuer: urlOf(tenantId), iacaId, docType: CARD },
      );
    const fetchList = async (tenantId: string, listId: string, headers: Record<string, string> = {}) => {
      const raw = { method: 'GET', url: '/', headers, text: '' };
      return (await of<HttpAnswer>(retrieveIdentifierListToken, tenantId, { params: { id: listId }, raw }, verifier))
        .$http;
    };
    const hex = (id: Uint8Array) => Buffer.from(id).toString('hex');
    /** The identifiers in a token whose signature and certificate are verified. */
    const readIds = (base64: string, iacaPem: string): string[] => {
      const options = { ignoreGlobalTags: true, preferMap: true };
      const { contents } = decode<Tag>(new Uint8Array(Buffer.from(base64, 'base64')), options);
      const [header, , payload, signature] = contents as [Uint8Array, unknown, Uint8Array, Uint8Array];
      const parameters = decode<Map<number, Uint8Array>>(header, options);
      const certificate = new X509Certificate(parameters.get(33)!);
      const signed = encode(['Signature1', header, new Uint8Array(), payload], cdeEncodeOptions);
      const key = { key: certificate.publicKey, dsaEncoding: 'ieee-p1363' as const };
      expect(parameters.get(16)).toBe('application/identifierlist+cwt');
      expect(verify('sha256', signed, key, signature)).toBe(true);
      expect(certificate.verify(new X509Certificate(iacaPem).publicKey)).toBe(true);
      const claims = decode<Map<number, Map<string, Map<Uint8Array, unknown>>>>(payload, options);
      return [...claims.get(65530)!.get('identifiers')!.keys()].map(hex);
    };
    const shows = (tenantId: string, listId: string, { certificatePem }: Iaca, ids: readonly string[]) =>
      waitUntil(
        async () => {
          const { base64 } = await fetchList(tenantId, listId);
          return JSON.stringify(readIds(base64!, certificatePem)) === JSON.stringify([...ids].sort());
        },
        { what: `the identifiers ${ids.join()}` },
      );
    const issued = async (tenantId: string, iaca: Iaca, count: number) => {
      const statuses = await replica().allocate(tenantOf(tenantId), identifiedSeries(tenantId, iaca.id), count);
      const made = [];
      for (const { listId, index, uri } of statuses) {
        const id = await record(tenantId, { listId, index }, { format: 'mso_mdoc' });
        made.push({ id, listId, uri, identifier: hex(listIdentifier(uri, index)) });
      }
      return made;
    };

    it('has the identifiers of suspended and revoked documents, also after its statuses were rebuilt [T203]', async () => {
      const tenantId = newId();
      const iaca = await createAuthority(tenantId);
      const [one, two, three] = await issued(tenantId, iaca, 3);
      const { listId } = one!;
      expect(one!.uri).toBe(`${urlOf(tenantId)}/v2/credentials/mobile/identifier-lists/${listId}/token`);
      await shows(tenantId, listId, iaca, []);
      await change(tenantId, one!.id, 'suspended', 'mso_mdoc');
      await change(tenantId, two!.id, 'invalid', 'mso_mdoc');
      await shows(tenantId, listId, iaca, [one!.identifier, two!.identifier]);
      await change(tenantId, one!.id, 'valid', 'mso_mdoc');
      await shows(tenantId, listId, iaca, [two!.identifier]);
      await lists().running.rebuild();
      await change(tenantId, three!.id, 'invalid', 'mso_mdoc');
      await shows(tenantId, listId, iaca, [two!.identifier, three!.identifier]);
    });

    it('has an address and media types of its own, and expires with its IACA [T204]', async () => {
      const tenantId = newId();
      const iaca = await createAuthority(tenantId, { notAfter: new Date(Date.now() + 1_800_000).toISOString() });
      const [{ listId } = { listId: '' }] = await issued(tenantId, iaca, 1);
      await shows(tenantId, listId, iaca, []);
      const { headers, base64 } = await fetchList(tenantId, listId);
      expect(headers).toMatchObject({ 'content-type': 'application/identifierlist+cwt', vary: 'Accept' });
      const named = await fetchList(tenantId, listId, { accept: 'application/cwt' });
      expect(named).toEqual({ headers: { ...headers, 'content-type': 'application/cwt' }, base64 });
      expect((await refusal(fetchList(tenantId, listId, { accept: 'application/statuslist+cwt' }))).message).toBe(
        'Accept must allow application/identifierlist+cwt or application/cwt',
      );
      for (const refused of [get(tenantId, listId), fetchToken(tenantId, listId), fetchList(newId(), listId)])
        expect((await refusal(refused)).kind).toBe('notFound');
      const ofStatuses = await open(tenantId, iaca.id);
      await publishedMobile(tenantId, ofStatuses, iaca);
      expect((await refusal(fetchList(tenantId, ofStatuses))).kind).toBe('notFound');
      ahead = 1_801_000;
      const gone = await refusal(fetchList(tenantId, listId));
      expect([gone.kind, gone.message]).toEqual(['gone', `The status list ended at ${iaca.certificateData.notAfter}`]);
    });

    it('is distributed, and is among no status lists [T205]', async () => {
      const tenantId = newId();
      const iaca = await createAuthority(tenantId);
      const distribution = () => of<StatusListDistribution>(retrieveStatusListDistribution, tenantId, {}, verifier);
      expect(await distribution()).toEqual({ data: [] });
      const [{ listId, uri } = { listId: '', uri: '' }] = await issued(tenantId, iaca, 1);
      await shows(tenantId, listId, iaca, []);
      expect(await distribution()).toEqual({ data: [], identifier_lists: [{ uri }] });
      expect(await of(listMobileStatusLists, tenantId, { query: {} })).toEqual({ data: [] });
      const one = of(retrieveMobileStatusList, tenantId, { params: { id: listId } });
      expect((await refusal(one)).kind).toBe('notFound');
      expect(await of(retrieveStatusListAggregation, tenantId, {}, verifier)).toEqual({ status_lists: [] });
    });

    it('has the identifiers of all documents while the tenant has lost their domain [T206]', async () => {
      const tenantId = newId();
      const iaca = await createAuthority(tenantId);
      const domain = `${tenantId}.example`;
      const signer = { kind: 'statusListSigner' as const, issuer: urlOf(tenantId), iacaId: iaca.id, docType: CARD };
      const series = { ...identifiedSeries(tenantId, iaca.id), signer: { ...signer, domains: [domain] } };
      const [status] = await replica().allocate(tenantOf(tenantId), series, 1);
      const { listId, index, uri } = status!;
      await record(tenantId, { listId, index }, { format: 'mso_mdoc' });
      await shows(tenantId, listId, iaca, []);
      await domainChanged(tenantId, domain, false);
      const all = Array.from({ length: IDENTIFIER_LIST_SIZE }, (_, n) => hex(listIdentifier(uri, n)));
      expect(all).toContain(hex(listIdentifier(uri, index)));
      await shows(tenantId, listId, iaca, all);
      await domainChanged(tenantId, domain, true);
      await shows(tenantId, listId, iaca, []);
    });
  });
});
