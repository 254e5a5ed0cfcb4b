/** @engines embedded postgres */
import { verify, X509Certificate } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import {
  createDocumentSigner,
  createIaca,
  createStatusListConfiguration,
  createStatusListSigner,
  deleteIaca,
  deleteStatusListConfiguration,
  deleteStatusListSigner,
  listDocumentSigners,
  listMobileStatusLists,
  listStatusListSigners,
  retrieveIdentifierListToken,
  retrieveMobileStatusList,
  retrieveMobileStatusListToken,
  retrieveStatusListAggregation,
  retrieveStatusListDistribution,
  retrieveStatusListSigner,
  updateDocumentSigner,
  updateIaca,
  updateIacaCrl,
  updateStatusListConfiguration,
  updateStatusListSigner,
  type Caller,
  type HttpAnswer,
  type Iaca,
  type MobileStatusList,
  type PageOf,
  type StatusListConfiguration,
  type StatusListDistribution,
  type StatusListSigner,
} from '@attestry/contracts';
import { CustomerIaca, waitUntil } from '@attestry/testing';
import { refusal } from '@attestry/testing/services';
import { cdeEncodeOptions, decode, encode, type Tag } from 'cbor2';
import { DocumentSigners } from '../../certificates/document-signers/document-signers.js';
import { RenewCertificates } from '../../certificates/renew-certificates/renew-certificates.worker.js';
import { statusSeriesOf } from '../../formats/status-series.js';
import { ListMobileStatusLists } from './list-mobile-status-lists.js';
import type { StatusEntry } from '../../sessions/issued-credential/issued-credential.events.js';
import { withdrawnDomains, withdrawnDomainsStream } from '../../settings/withdrawn-domains/withdrawn-domains.state.js';
import { IDENTIFIER_LIST_SIZE, listIdentifier } from '../status-list/identifier-list.js';
import { firstListId } from '../status-list/first-list-id.js';
import { listSeries, seriesName, type ListSeries } from '../status-list/list-series.js';
import { statusAt } from '../status-list/packed-statuses.js';
import { PublishedListsReadModel } from '../status-list/published-lists.read-model.js';
import { shardOf } from '../status-list/shard-of.js';
import {
  admin,
  call,
  change,
  configure,
  domainChanged,
  event,
  fetchToken,
  firstList,
  lists,
  newId,
  published,
  record,
  replica,
  service,
  startService,
  tenantOf,
  tokens,
  urlOf,
  useList,
} from '../status-list/status-lists.spec-fixture.js';

startService();

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
        await service.services.app
          .get(RenewCertificates, { strict: false })
          .due(new Date(Date.now() + days * 86_400_000), 100_000)
      )
        .filter((row) => row.tenant_id === tenantId)
        .map(({ kind }) => kind);
    // The CRL of the IACA is due too.
    await waitUntil(async () => (await dueOf(427)).includes('statusList'), { what: 'the row of the signer' });
    expect(await dueOf(425)).not.toContain('statusList');
    service.ahead = 426.5 * 86_400_000;
    const signers = service.get(DocumentSigners);
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
    service.ahead = 3_660_000;
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
    const handler = new ListMobileStatusLists(service.engines.streams, model, service.engines.clock);
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
    service.ahead = 1_801_000;
    const gone = await refusal(get(tenantId, listId));
    expect([gone.kind, gone.message]).toEqual(['gone', `The status list ended at ${iaca.certificateData.notAfter}`]);
    const isDue = async () =>
      (await tokens().listDue(shardOf(listId), new Date(Date.now() + 10 * service.ahead), 1000)).some(
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
      !(await tokens().listDue(shardOf(listId), new Date(Date.now() + service.ahead), 1000)).some(
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
    service.ahead = 61_000;
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
    service.ahead = 61_000;
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
    service.ahead = Date.parse(new X509Certificate(first.certificatePem).validTo) - Date.now() - 100_000;
    const last = await publishedMobile(tenantId, listId, iaca, ({ claims }) => (claims.get(65534) as number) <= 100);
    expect(claimsEnd(last)).toBe(Date.parse(new X509Certificate(first.certificatePem).validTo));
    const due = await tokens().listDue(shardOf(listId), new Date(Date.now() + service.ahead + 51_000), 10_000);
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
    const signers = service.get(DocumentSigners);
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
          const { state } = await service.engines.streams.load(withdrawnDomains, withdrawnDomainsStream(tenantId));
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
      service.ahead = 1_801_000;
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
