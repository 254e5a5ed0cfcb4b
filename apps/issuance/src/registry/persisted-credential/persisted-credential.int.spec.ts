/** @engines embedded postgres */
import {
  deleteUser,
  listUserCredentials,
  webSemanticConfigurations,
  webSemanticRegistry,
  type PageOf,
  type PersistedCredential,
  type PreAuthorizedOfferRequest,
  type RegisteredCredential,
  type UserCredential,
} from '@attestry/contracts';
import { chainEvent } from '@attestry/event-store';
import { isErased } from '@attestry/keys';
import { CredentialFlow, IssuanceUnderTest, makeWalletKey, refusal, refusalCode } from '@attestry/testing/services';
import { issuanceService } from '../../index.js';
import { issuanceSessionStream } from '../../sessions/issuance-session/issuance-session.state.js';
import { issuedCredentialStream } from '../../sessions/issued-credential/issued-credential.state.js';
import type { CredentialPersistedData } from './persisted-credential.events.js';
import { persistedCredentialStream } from './persisted-credential.state.js';
import { UsersReadModel } from '../../users/user/users.read-model.js';

const { TENANT, OTHER } = IssuanceUnderTest;

const service = new CredentialFlow(issuanceService);
const { admin, nonceFor, prove, collect, configureFormat: configure, begin: start } = service;
const { baseOf: issuerOf } = service;
let jwtVc: string;
let ldpVc: string;

beforeAll(async () => {
  await service.open();
  jwtVc = await configure('jwt_vc_json', 'Course');
  ldpVc = await configure('ldp_vc', 'Course');
});
beforeEach(() => {
  service.ahead = 0;
});
afterAll(() => service.remove());

describe('the record of issued credentials', () => {
  let persisting: string;
  beforeAll(async () => {
    persisting = await configure('ldp_vc', 'Kept', { persist: true });
  });

  /** Issues to one user, a request each. */
  const issueTo = async (configurationId: string, proofs = 1, body: Partial<PreAuthorizedOfferRequest> = {}) => {
    const { made, token } = await start(configurationId, body);
    const nonce = await nonceFor();
    const jwt = await Promise.all(Array.from({ length: proofs }, () => prove(makeWalletKey(), nonce)));
    const { credentials } = await collect(token, { credential_configuration_id: configurationId, proofs: { jwt } });
    await service.catchUp(UsersReadModel);
    const documents = credentials.map(({ credential }) => credential as unknown as { id: string });
    return { made, documents, ids: documents.map(({ id }) => id.slice('urn:uuid:'.length)) };
  };
  const retrieve = (id: string, tenantId = TENANT) =>
    admin(webSemanticRegistry.retrieve, { params: { id } }, tenantId) as Promise<PersistedCredential>;
  const remove = (id: string, tenantId = TENANT) => admin(webSemanticRegistry.delete, { params: { id } }, tenantId);
  const list = (query: object = {}, tenantId = TENANT) =>
    admin(webSemanticRegistry.list, { query }, tenantId) as Promise<PageOf<RegisteredCredential>>;
  const sealedDocument = async (id: string): Promise<string> => {
    const [stored] = await service.engines.events.readStream(persistedCredentialStream(TENANT, id), { limit: 1 });
    return (stored!.data as CredentialPersistedData).sealed;
  };
  const opened = async (sealed: string) => {
    const text = await service.engines.vault.sealing.openSealed(TENANT, 'user', sealed);
    return isErased(text) ? 'erased' : text;
  };

  it('has each credential of a batch when the configuration persists them, sealed under the key of the person [T162]', async () => {
    const { made, documents, ids } = await issueTo(persisting, 2);
    for (const [index, id] of ids.entries()) {
      expect(await retrieve(id)).toEqual({
        id,
        type: 'Kept',
        credentialConfigurationId: persisting,
        userId: made.userId,
        issuanceDate: expect.any(String) as string,
        validFrom: expect.any(String) as string,
        validUntil: expect.any(String) as string,
        credential: documents[index],
      });
      const sealed = await sealedDocument(id);
      // Under a key of its own, and inside under that of the user.
      expect(sealed.split('.')[1]).toBe(id);
      const inside = await opened(sealed);
      expect(inside.split('.')[1]).toBe(made.userId);
      expect(JSON.parse(await opened(inside))).toEqual(documents[index]);
    }
    expect(JSON.stringify(await service.events('persistedCredential'))).not.toContain('Ada');
  });

  it('has the metadata alone of other credentials, and of those issued before or after [T162]', async () => {
    const later = await configure('ldp_vc', 'KeptLater');
    const change = (more: object) =>
      admin(webSemanticConfigurations.update, {
        params: { id: later },
        body: { type: 'KeptLater', name: 'x', issuer: { name: 'Acme' }, claimMappings: {}, ...more },
      });
    const before = await issueTo(later);
    for (const persist of ['yes', 1])
      expect((await refusal(change({ persist }))).details).toEqual([
        { value: persist, msg: 'must be a boolean', param: 'persist', location: 'body' },
      ]);
    expect(await change({ persist: true })).toMatchObject({ persist: true });
    const during = await issueTo(later);
    expect(await change({})).toMatchObject({ persist: false });
    const after = await issueTo(later);
    expect(await retrieve(during.ids[0]!)).toMatchObject({ credential: during.documents[0] });
    for (const { ids } of [before, after]) {
      expect(await retrieve(ids[0]!)).toMatchObject({ id: ids[0], type: 'KeptLater' });
      expect(await retrieve(ids[0]!)).not.toHaveProperty('credential');
      expect(await service.engines.events.readStream(persistedCredentialStream(TENANT, ids[0]!), { limit: 1 })).toEqual(
        [],
      );
    }
  });

  it('does not have those of other tenants, other formats and unknown ids', async () => {
    const { ids } = await issueTo(persisting);
    const { made } = await start(ldpVc);
    const { token, made: ofJwt } = await start(jwtVc);
    const proofs = { jwt: [await prove(makeWalletKey(), await nonceFor())] };
    await collect(token, { credential_configuration_id: jwtVc, proofs });
    await service.catchUp(UsersReadModel);
    const listed = (await admin(listUserCredentials, { params: { userId: ofJwt.userId } })) as PageOf<UserCredential>;
    for (const call of [retrieve, remove]) {
      expect(await refusalCode(call(ids[0]!, OTHER))).toBe('NotFound');
      for (const id of [made.id, listed.data[0]!.id]) expect(await refusalCode(call(id))).toBe('NotFound');
    }
    expect((await list({}, OTHER)).data).toEqual([]);
    expect((await list()).data.map(({ id }) => id)).toContain(ids[0]);
  });

  it('is listed oldest first in pages, by type, whose cursor belongs to tenant and filters [T163]', async () => {
    const listed = await configure('ldp_vc', 'Listed');
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) {
      ids.push(...(await issueTo(listed)).ids);
      service.ahead += 1000;
    }
    await issueTo(persisting);
    const query = { type: 'Listed', limit: '2' };
    const first = await list(query);
    expect(first.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect(first.data[0]).toEqual(await retrieve(ids[0]!));
    const second = await list({ ...query, cursor: first.nextCursor });
    expect(second).toEqual({ data: [expect.objectContaining({ id: ids[2] })] });
    const types = new Set((await list()).data.map(({ type }) => type));
    expect([...types]).toEqual(expect.arrayContaining(['Listed', 'Kept']));
    // Metadata alone, whatever was kept.
    for (const one of (await list({ type: 'Kept' })).data) expect(one).not.toHaveProperty('credential');
    // Only credentials that are signed directly have a tag.
    expect(await list({ tag: 'x' })).toEqual({ data: [] });
    const { nextCursor: cursor } = first;
    for (const [other, tenantId] of [
      [{ ...query, cursor }, OTHER],
      [{ type: 'Kept', cursor }, TENANT],
      [{ ...query, tag: 'x', cursor }, TENANT],
      [{ ...query, cursor: 'x' }, TENANT],
    ] as const)
      expect((await refusal(list(other, tenantId))).details).toMatchObject([{ param: 'cursor', location: 'query' }]);
    expect((await refusal(list({ limit: '0' }))).details).toMatchObject([{ param: 'limit' }]);
  });

  it('ends with the deletion of a credential, which destroys its key and no other [T164]', async () => {
    const { made, documents, ids } = await issueTo(persisting, 2);
    const [gone, kept] = ids as [string, string];
    const sealed = await sealedDocument(gone);
    await remove(gone);
    for (const call of [retrieve, remove]) expect(await refusalCode(call(gone))).toBe('NotFound');
    expect((await list({ type: 'Kept' })).data.map(({ id }) => id)).not.toContain(gone);
    const ofUser = (await admin(listUserCredentials, { params: { userId: made.userId } })) as PageOf<UserCredential>;
    expect(ofUser.data.map(({ id }) => id)).toEqual([kept]);
    expect(await opened(sealed)).toBe('erased');
    expect(await retrieve(kept)).toMatchObject({ credential: documents[1] });
    const events = await service.engines.events.readStream(issuedCredentialStream(TENANT, gone));
    expect(events.map(({ type }) => type)).toEqual(['CredentialRecorded', 'CredentialDeleted']);
    const erased = await service.engines.events.readStream(persistedCredentialStream(TENANT, gone));
    expect(erased.at(-1)).toMatchObject({
      type: 'PersistedCredentialErased',
      data: { credentialId: gone, destroyedKeys: [gone] },
    });
  });

  it('of which a deletion was interrupted has the metadata, until it is deleted again', async () => {
    const { ids } = await issueTo(persisting);
    const id = ids[0]!;
    await service.engines.vault.sealing.destroyDataKeys(TENANT, [id]);
    expect(await retrieve(id)).not.toHaveProperty('credential');
    await remove(id);
    expect(await refusalCode(retrieve(id))).toBe('NotFound');
  });

  it('of a credential that was not kept can be deleted, too', async () => {
    const { ids } = await issueTo(ldpVc);
    await remove(ids[0]!);
    expect(await refusalCode(retrieve(ids[0]!))).toBe('NotFound');
    expect(await service.engines.events.readStream(persistedCredentialStream(TENANT, ids[0]!), { limit: 1 })).toEqual(
      [],
    );
  });

  it('ends with the deletion of the user, whose key is inside every document [T162]', async () => {
    const { made, ids } = await issueTo(persisting);
    const inside = await opened(await sealedDocument(ids[0]!));
    await admin(deleteUser, { params: { id: made.userId } });
    expect(await opened(inside)).toBe('erased');
    for (const call of [retrieve, remove]) expect(await refusalCode(call(ids[0]!))).toBe('NotFound');
    expect((await list({ type: 'Kept' })).data.map(({ id }) => id)).not.toContain(ids[0]);
  });

  it('is not written for a user who is being deleted', async () => {
    const { made, token } = await start(persisting);
    await service.engines.vault.sealing.createDataKey(TENANT, 'user', made.userId);
    await service.engines.vault.sealing.destroyDataKeys(TENANT, [made.userId]);
    const proofs = { jwt: [await prove(makeWalletKey(), await nonceFor())] };
    const error = await refusal(collect(token, { credential_configuration_id: persisting, proofs }));
    expect([error.code, error.message]).toEqual([
      'credential_request_denied',
      'the claims of this offer are no longer available',
    ]);
  });

  it('has the metadata of what a crash left without a stream of its own, which can be deleted', async () => {
    const { made } = await start(ldpVc);
    const stream = issuanceSessionStream(TENANT, made.id);
    const last = (await service.engines.events.readStream(stream)).at(-1)!;
    const id = '77777777-7777-4777-8777-777777777777';
    const issuedAt = '2026-01-01T00:00:00.000Z';
    const data = {
      ...{ credentialId: id, answerId: id, sessionId: made.id, offerId: made.id, userId: made.userId },
      ...{ issuer: issuerOf(TENANT), format: 'ldp_vc', profile: 'web-semantic', credentialType: 'Course' },
      ...{ credentialConfigurationId: ldpVc, holderKey: { kty: 'EC' }, issuedAt, validFrom: issuedAt },
    };
    const { record: _, ...metadata } = last.metadata;
    await service.engines.events.append(
      stream,
      [chainEvent(last.chain, { id, type: 'CredentialIssued', schemaVersion: 2, data, metadata })],
      last.revision,
    );
    await service.catchUp(UsersReadModel);
    expect(await retrieve(id)).toEqual({
      ...{ id, type: 'Course', credentialConfigurationId: ldpVc, userId: made.userId },
      ...{ issuanceDate: issuedAt, validFrom: issuedAt },
    });
    await remove(id);
    expect(await refusalCode(retrieve(id))).toBe('NotFound');
  });
});
