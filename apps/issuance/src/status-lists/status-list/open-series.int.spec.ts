/** @engines embedded postgres */
import { mobileConfigurations, retrieveStatusListAggregation, sdJwtConfigurations } from '@attestry/contracts';
import { EventStoreUnavailable } from '@attestry/event-store';
import { refusal } from '@attestry/testing/services';
import { IssuerSigners } from '../../certificates/issuer-certificates/issuer-signers.js';
import { statusList, statusListStream } from './status-list.state.js';
import {
  admin,
  body,
  call,
  configure,
  DID,
  firstList,
  lists,
  newId,
  reserved,
  service,
  startService,
  tokens,
  urlOf,
} from './status-lists.spec-fixture.js';

startService();

describe('a status list', () => {
  const DAY_MS = 24 * 3_600_000;

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
      reserved.did = issuerDid;
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
      reserved.did = DID;
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
      (await service.engines.streams.load(statusList, statusListStream(tenantId, firstList(tenantId)))).state.status ===
      'open';
    // It is deleted while it is replaced.
    const signers = service.get(IssuerSigners);
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
    const append = service.engines.events.append.bind(service.engines.events);
    service.engines.events.append = async (...given) => {
      if (JSON.stringify(given[0]).includes('credentialConfiguration-')) throw new EventStoreUnavailable('it is away');
      return append(...given);
    };
    try {
      await expect(configure(tenantId)).rejects.toThrow();
    } finally {
      service.engines.events.append = append;
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
});
