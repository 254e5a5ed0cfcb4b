/** @engines embedded postgres */
import { retrieveListCredential, retrieveStatusListAggregation, webSemanticConfigurations } from '@attestry/contracts';
import { waitUntil } from '@attestry/testing';
import { refusal } from '@attestry/testing/services';
import * as bitstring from '@digitalbazaar/vc-bitstring-status-list';
import * as revocationList from '@digitalbazaar/vc-revocation-list';
import { firstListId } from './first-list-id.js';
import { listSeries } from './list-series.js';
import { bitstringStatus, revocationList2020Status } from './bitstring-status-list.js';
import {
  admin,
  body,
  call,
  change,
  configure,
  DID,
  fetchToken,
  firstList,
  newId,
  published,
  record,
  replica,
  reserved,
  service,
  startService,
  tenantOf,
  urlOf,
} from './status-lists.spec-fixture.js';

startService();

describe('a list that is a credential', () => {
  type ListCredential = { id: string; type: string[]; issuer: string; credentialSubject: { encodedList: string } };
  const fetchList = (tenantId: string, listId: string, headers?: Record<string, string>) =>
    fetchToken(tenantId, listId, headers, retrieveListCredential);
  /** A revocable configuration; the id of its list. */
  const configureJson = async (tenantId: string, proofType: string): Promise<string> => {
    reserved.keyId = (await service.engines.vault.signingKeys.createSigningKey(tenantId, 'did', 'Ed25519')).keyId;
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
    const series = listSeries(policy, { kind: 'pinnedKey', keyId: reserved.keyId, verificationMethod: `${DID}#k` });
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
