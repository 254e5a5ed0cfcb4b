/** @engines embedded postgres */
import { gunzipSync } from 'node:zlib';
import {
  compactRevocationLists,
  compactSemanticRevocationLists,
  retrieveListCredential,
  sdJwtConfigurations,
  jwtVcConfigurations,
  tenantPurged,
  webSemanticConfigurations,
} from '@attestry/contracts';
import { waitUntil } from '@attestry/testing';
import { getListFromStatusListJWT } from '@sd-jwt/jwt-status-list';
import { issuedCredential, issuedCredentialStream } from '../../sessions/issued-credential/issued-credential.state.js';
import { withdrawnDomains, withdrawnDomainsStream } from '../../settings/withdrawn-domains/withdrawn-domains.state.js';
import { firstListId } from './first-list-id.js';
import { listSeries, seriesName } from './list-series.js';
import {
  admin,
  body,
  call,
  change,
  configure,
  cwtLists,
  cwtStatuses,
  DID,
  domainChanged,
  fetchToken,
  firstList,
  lists,
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

describe('while the tenant has lost the domain of the issuer', () => {
  const statuses = (token: string) => getListFromStatusListJWT(token).statusList;
  const isMasked = (token: string) => statuses(token).every((status) => status === 1);
  const changesOf = async (tenantId: string, listId: string) => (await lists().find({ tenantId, listId }))?.changes;
  /** A series under the domain, with one credential of each status. */
  const under = async (tenantId: string, domain: string, signed: 'byDid' | 'byIssuer') => {
    reserved.did = `did:web:${domain}:issuers:x`;
    reserved.keyId = (await service.engines.vault.signingKeys.createSigningKey(tenantId, 'did', 'Ed25519')).keyId;
    const { create } = signed === 'byDid' ? jwtVcConfigurations : sdJwtConfigurations;
    await call(create, tenantId, admin, { body: body({ issuerDid: reserved.did }) });
    const series = listSeries(
      { kind: 'tokenStatusList', tokenType: 'jwt', size: 131_072 },
      signed === 'byDid'
        ? { kind: 'pinnedKey', keyId: reserved.keyId, verificationMethod: `${reserved.did}#k` }
        : { kind: 'issuerSigner', issuer: urlOf(tenantId), did: reserved.did },
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
      const { state } = await service.engines.streams.load(issuedCredential, issuedCredentialStream(tenantId, ids[2]!));
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
      const { keyId } = await service.engines.vault.signingKeys.createSigningKey(tenantId, 'did', 'P-256');
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
      const { state } = await service.engines.streams.load(
        issuedCredential,
        issuedCredentialStream(tenantId, credentialId),
      );
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
    reserved.did = 'did:web:lists.example';
    reserved.keyId = (await service.engines.vault.signingKeys.createSigningKey(tenantId, 'did', 'Ed25519')).keyId;
    await call(webSemanticConfigurations.create, tenantId, admin, {
      body: body({ issuerDid: reserved.did, proofType }),
    });
    const listId = firstListId(tenantId, `${tokenType} ${reserved.did}#k`);
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
    reserved.keyId = (await service.engines.vault.signingKeys.createSigningKey(tenantId, 'did', 'Ed25519')).keyId;
    reserved.did = 'did:web:early.example';
    const signer = { kind: 'pinnedKey', keyId: reserved.keyId, verificationMethod: `${reserved.did}#k` } as const;
    const series = listSeries({ kind: 'tokenStatusList', tokenType: 'jwt', size: 64 }, signer);
    await waitUntil(
      async () =>
        (await service.engines.streams.load(withdrawnDomains, withdrawnDomainsStream(tenantId))).state.domains.length >
        0,
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
    await service.engines.bus.publish([
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
