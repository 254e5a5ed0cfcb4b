/** @engines embedded postgres */
import {
  AppError,
  compactRevocationLists,
  compactSemanticRevocationLists,
  jwtVcConfigurations,
  tenantPurged,
  type PageOf,
  type RevocationList,
} from '@attestry/contracts';
import { StaleEpoch } from '@attestry/event-store';
import { waitUntil } from '@attestry/testing';
import { refusal } from '@attestry/testing/services';
import { getListFromStatusListJWT } from '@sd-jwt/jwt-status-list';
import { decode, type Tag } from 'cbor2';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { changeStatus } from '../../sessions/issued-credential/issued-credential.decisions.js';
import { issuedCredential, issuedCredentialStream } from '../../sessions/issued-credential/issued-credential.state.js';
import { firstListId } from './first-list-id.js';
import { listSeries, seriesName } from './list-series.js';
import { PublishStatusLists } from './publish-status-lists.worker.js';
import { PublishedListsReadModel } from './published-lists.read-model.js';
import { shardOf } from './shard-of.js';
import {
  admin,
  body,
  call,
  change,
  claimsOfCwt,
  configure,
  cwtStatuses,
  DID,
  event,
  fetchToken,
  firstList,
  lists,
  newId,
  published,
  publishedInTime,
  publisher,
  record,
  replica,
  reserved,
  seriesOf,
  service,
  startService,
  tenantOf,
  tokens,
  urlOf,
  useList,
} from './status-lists.spec-fixture.js';

startService();

/** Undefined when it is refused. */
const ifServed = <T>(attempt: Promise<T>): Promise<T | undefined> =>
  attempt.catch((error: unknown) => {
    if (error instanceof AppError) return undefined;
    throw error;
  });

const statusIn = (token: string, index: number): number => getListFromStatusListJWT(token).getStatus(index);

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
    reserved.keyId = (await service.engines.vault.signingKeys.createSigningKey(tenantId, 'did', 'Ed25519')).keyId;
    await call(jwtVcConfigurations.create, tenantId, admin, { body: body() });
    const listId = firstListId(tenantId, `jwt ${DID}#k`);
    const token = await publishedInTime(tenantId, listId);
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'EdDSA', typ: 'statuslist+jwt', kid: `${DID}#k` });
    const signer = { kind: 'pinnedKey', keyId: reserved.keyId, verificationMethod: `${DID}#k` } as const;
    await useList(tenantId, listSeries({ kind: 'tokenStatusList', tokenType: 'jwt', size: 131_072 }, signer));
    const last = await publishedInTime(tenantId, listId, (current) => current !== token);
    // Without the key no other token can be signed, and the last one remains.
    await service.engines.vault.signingKeys.destroySigningKeys(tenantId, [reserved.keyId]);
    service.ahead = 200_000;
    const isDue = async () =>
      (await tokens().listDue(shardOf(listId), new Date(Date.now() + 10 * service.ahead), 1000)).some(
        (due) => due.listId === listId,
      );
    await waitUntil(async () => !(await isDue()), { what: 'the list not to be due' });
    expect((await fetchToken(tenantId, listId)).body).toBe(last);
  });

  it('of CWTs is stored and served as bytes', async () => {
    const tenantId = newId();
    const { keyId } = await service.engines.vault.signingKeys.createSigningKey(tenantId, 'did', 'P-256');
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
    const { keyId } = await service.engines.vault.signingKeys.createSigningKey(tenantId, 'did', 'P-256');
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
      await service.engines.streams.runDecision(
        issuedCredential,
        issuedCredentialStream(tenantId, credentialId),
        (state) =>
          changeStatus(state, { format: 'dc+sd-jwt', status, isReversible: true }, service.engines.clock.now()),
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
    service.ahead = 149_000 - (Date.now() - decodeJwt(first).iat! * 1000);
    const isDue = async (now: number) =>
      (await tokens().listDue(shardOf(listId), new Date(now), 1000)).some((due) => due.listId === listId);
    expect(await isDue(decodeJwt(first).iat! * 1000 + 149_000)).toBe(false);
    service.ahead += 4000;
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
    await service.engines.vault.destroyTenant(gone);
    // It holds up no other tenant.
    service.ahead = 400_000;
    await published(tenantId, firstList(tenantId), (token) => decodeJwt(token).iat! * 1000 > Date.now() + 300_000);
    await expect(replica().allocate(tenantOf(gone), seriesOf(gone), 1)).rejects.toThrow();
    await service.engines.bus.publish([
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
    service.ahead = 9.9 * DAY_MS;
    const before = await published(
      tenantId,
      key.listId,
      (token) => decodeJwt(token).iat! * 1000 > Date.now() + 9 * DAY_MS,
    );
    await change(tenantId, last, 'invalid');
    const token = await published(tenantId, key.listId, (current) => current !== before);
    expect(await isSignedAgain(key)).toBe(true);
    service.ahead = 11 * DAY_MS;
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
    service.ahead = 19 * DAY_MS;
    await published(tenantId, key.listId, (current) => decodeJwt(current).iat! * 1000 > Date.now() + 18 * DAY_MS);
    service.ahead = 21 * DAY_MS;
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
    service.ahead = 39 * DAY_MS;
    await published(unused, firstList(unused), isNewIn(39));
    service.ahead = 42 * DAY_MS;
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
      service.ahead = HOUR_MS - 60_000;
      expect((await fetchToken(tenantId, key.listId)).body).toBe(first);
      service.ahead = HOUR_MS + 60_000;
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
      const { keyId } = await service.engines.vault.signingKeys.createSigningKey(tenantId, 'did', 'P-256');
      const policy = { kind: 'tokenStatusList', tokenType: 'cose', size: 131_072, revocationLists: 'compact' } as const;
      const series = listSeries(policy, { kind: 'pinnedKey', keyId, verificationMethod: `${DID}#k` });
      await replica().openSeries(tenantOf(tenantId), series);
      const listId = firstListId(tenantId, seriesName(series));
      const fetchList = () => fetchToken(tenantId, listId, {}, compactRevocationLists.retrieve);
      await waitUntil(async () => (await fetchList()).base64 !== undefined, { what: 'the revocation list' });
      service.ahead = HOUR_MS + 60_000;
      expect((await refusal(fetchList())).message).toBe(unusedText);
      await useList(tenantId, series);
      await waitUntil(async () => (await ifServed(fetchList())) !== undefined, {
        what: 'the revocation list',
      });
    });
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

    const now = () => service.engines.clock.now();
    const dueAt = async (time: Date) =>
      (await tokens().listDue(shard, time, 10_000)).filter((due) => due.tenantId === broken).length;
    const dirty = async () => (await lists().listDirty(shard, 10_000)).filter((row) => row.tenantId === broken).length;
    await waitUntil(async () => (await dirty()) === 0, { what: 'all to be tried' });
    expect(await dueAt(new Date(now().getTime() + 61_000))).toBe(300);
    const check = () =>
      service.engines.health.report().checks.find(({ name }) => name === `issuance.status-list-publisher-${shard}`)!;
    expect(check()).toMatchObject({
      healthy: true,
      error: expect.stringMatching(/^status list not published \(300\), the last one: .*Invalid URL$/) as string,
    });
    // Each attempt is later than the one before.
    service.ahead += 400_000;
    await waitUntil(async () => (await dueAt(now())) === 0, { what: 'all to be tried again' });
    service.ahead += 400_000;
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
    service.ahead += 61_000;
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
