import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  hostFetch,
  PLATFORM_START_MS,
  sharedPlatform,
  verifyLdpVc,
  waitUntil,
  Wallet,
  type TenantUnderTest,
} from '@attestry/testing';

type Json = Record<string, unknown>;
type ProofType = 'Ed25519Signature2018' | 'eddsa-rdfc-2022' | 'ecdsa-rdfc-2019';

let tenant: TenantUnderTest;
let other: TenantUnderTest;
let types = 0;

beforeAll(async () => {
  const platform = await sharedPlatform();
  const management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'json-college');
  other = await createTenantUnderTest(platform, management, 'json-school');
}, PLATFORM_START_MS);

/** A revocable configuration with a DID of its own. */
const configure = async (proofType: ProofType, more: object = {}) => {
  const { api } = tenant;
  const keyType = proofType === 'ecdsa-rdfc-2019' ? 'P-256' : 'Ed25519';
  const { did } = expectStatus(await api.dids.create({ method: 'key', options: { keyType } }), 201);
  const request = {
    ...{
      type: `Revocable${++types}`,
      name: 'Course',
      issuer: { name: 'Example University' },
    },
    ...{ claimMappings: { given_name: { mapFrom: 'claims.given_name' } }, proofType, issuerDid: did, revocable: true },
    ...more,
  };
  return expectStatus(await api.webSemantic.create(request), 201).id;
};
/** A credential in a third-party wallet. */
const collect = async (configuration: string) => {
  const offered = { credentials: [configuration], claims: { given_name: 'Ada' } };
  const { uri } = expectStatus(await tenant.api.offers.create(offered), 200);
  const { credentials } = await new Wallet().collect(uri);
  const credential = credentials[0]!.credential as Json & { id: string; credentialStatus?: Record<string, string> };
  const status = credential.credentialStatus;
  const list = status?.['statusListCredential'] ?? status?.['revocationListCredential'];
  return { credential, list, id: credential.id.slice('urn:uuid:'.length) };
};
const published = async (uri: string, headers: Record<string, string> = {}): Promise<Response> => {
  await waitUntil(async () => (await hostFetch(uri)).ok, { what: 'the list' });
  return hostFetch(uri, { headers });
};

/** Longer than a change takes until a verifier that retrieves the list notices it. */
const within = { intervalMs: 200, what: 'the status in the list' };
const refused = (credential: Json) =>
  waitUntil(async () => {
    const error = await verifyLdpVc(credential).catch((caught: Error) => caught);
    if (error instanceof Error && error.message !== 'Status is not valid') throw error;
    return error instanceof Error;
  }, within);
const accepted = (credential: Json) =>
  waitUntil(
    () =>
      verifyLdpVc(credential).then(
        () => true,
        () => false,
      ),
    within,
  );

describe.each<[ProofType, string, string]>([
  ['Ed25519Signature2018', 'RevocationList2020Status', 'RevocationList2020Credential'],
  ['eddsa-rdfc-2022', 'BitstringStatusListEntry', 'BitstringStatusListCredential'],
  ['ecdsa-rdfc-2019', 'BitstringStatusListEntry', 'BitstringStatusListCredential'],
])('a revocable ldp_vc with %s', (proofType, statusType, listType) => {
  it('and its list are verified by independent libraries, with one issuer and one key [T185, T186]', async () => {
    const { credential, list } = await collect(await configure(proofType));
    expect(list).toMatch(new RegExp(`^${tenant.url}/v2/credentials/web-semantic/revocation-lists/[0-9a-f-]{36}$`));
    const index =
      credential.credentialStatus!['statusListIndex'] ?? credential.credentialStatus!['revocationListIndex'];
    expect(credential.credentialStatus).toMatchObject({ id: `${list}#${index}`, type: statusType });
    expect(index).toMatch(/^\d{1,6}$/);
    const document = (await (await published(list!)).json()) as Json & { proof: Json };
    await verifyLdpVc(credential);
    await verifyLdpVc(document);
    expect(document).toMatchObject({
      ...{ id: list, type: ['VerifiableCredential', listType], issuer: (credential['issuer'] as Json)['id'] },
    });
    const { type, cryptosuite, verificationMethod } = credential['proof'] as Json;
    expect(document.proof).toMatchObject({
      type,
      verificationMethod,
      ...(cryptosuite !== undefined && { cryptosuite }),
    });
  });

  it('is refused by them within 5 seconds after it was revoked, and accepted when that is undone [T189]', async () => {
    const configuration = await configure(proofType);
    const [{ credential, list, id }, kept] = [await collect(configuration), await collect(configuration)];
    await published(list!);
    await verifyLdpVc(credential);
    const { webSemantic } = tenant.api;
    await waitUntil(async () => (await webSemantic.revocationStatus(id)).status === 200, { what: 'the credential' });
    expect((await webSemantic.setRevocationStatus(id, { isRevoked: true })).status).toBe(200);
    await refused(credential);
    await verifyLdpVc(kept.credential);
    expect((await webSemantic.setRevocationStatus(id, { isRevoked: false })).status).toBe(200);
    await accepted(credential);
  });

  it('is revoked for good when its record is deleted, persisted or not [T188]', async () => {
    for (const persist of [true, false]) {
      const { credential, list, id } = await collect(await configure(proofType, { persist }));
      await published(list!);
      await verifyLdpVc(credential);
      const { webSemantic, webSemanticCredentials } = tenant.api;
      expect((await webSemanticCredentials.delete(id)).status).toBe(204);
      await refused(credential);
      expect((await webSemantic.setRevocationStatus(id, { isRevoked: false })).status).toBe(404);
      expect((await webSemanticCredentials.retrieve(id)).status).toBe(404);
      await waitUntil(
        async () => {
          const types = ['CREDENTIAL_WEB_SEMANTIC_DELETE_SUCCESS'];
          const { data } = expectStatus(await tenant.api.analytics.list({ types, limit: 100 }), 200);
          const recorded = data.find(({ object }) => (object as { id?: string } | undefined)?.id === id);
          if (recorded)
            expect(recorded.metadata).toMatchObject({
              credentialConfigurationId: expect.any(String),
              status: 'invalid',
            });
          return recorded;
        },
        { what: 'the event of the deletion' },
      );
    }
  });
});

describe('a list that is a credential [T187]', () => {
  it('is public, may be cached, and is not sent again while it is unchanged', async () => {
    const { list } = await collect(await configure('eddsa-rdfc-2022'));
    for (const accept of ['application/ld+json', 'application/vc', 'application/json']) {
      const answer = await published(list!, { accept, origin: 'https://verifier.example' });
      expect(answer.headers.get('content-type')!.split(';', 1)[0]).toBe(accept);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'cache-control': 'public, max-age=1',
        etag: expect.stringMatching(/^"[\w-]{43}(?:\.gzip)?"$/),
        'access-control-allow-origin': '*',
      });
    }
    const { headers } = await hostFetch(list!);
    const again = await hostFetch(list!, { headers: { 'if-none-match': headers.get('etag')! } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const unacceptable = await hostFetch(list!, { headers: { accept: 'text/html' } });
    expect(unacceptable.status).toBe(406);
    expect(await unacceptable.json()).toMatchObject({
      message: 'Accept must allow application/ld+json or application/vc or application/json',
    });
    const { pathname } = new URL(list!);
    expect((await new ApiClient(other.url).request('GET', pathname)).status).toBe(404);
    const api = new ApiClient(tenant.url);
    expect((await api.request('GET', pathname.replace(/[^/]+$/, 'x'))).status).toBe(400);
    const token = pathname.replace('web-semantic/revocation-lists', 'status-lists');
    expect((await api.request('GET', `${token}/token`)).status).toBe(404);
  });

  it('is chosen by the data model at the time of issuance; without revocable there is no status', async () => {
    const id = await configure('eddsa-rdfc-2022');
    const { webSemantic } = tenant.api;
    const { id: _id, ...configuration } = expectStatus(await webSemantic.retrieve(id), 200);
    const statusAfter = async (change: object, expected: string | undefined) => {
      expectStatus(await webSemantic.update(id, { ...configuration, ...change }), 200);
      const isApplied = async () => (await collect(id)).credential.credentialStatus?.['type'] === expected;
      await waitUntil(isApplied, { what: `a status of type ${expected}` });
    };
    await statusAfter({ proofType: 'Ed25519Signature2018' }, 'RevocationList2020Status');
    await statusAfter({}, 'BitstringStatusListEntry');
    await statusAfter({ revocable: false }, undefined);
    const plain = await configure('eddsa-rdfc-2022', { revocable: undefined });
    expect(expectStatus(await webSemantic.retrieve(plain), 200).revocable).toBe(false);
    expect((await collect(plain)).credential).not.toHaveProperty('credentialStatus');
  });
});

describe('a did:web', () => {
  it('proves with its Multikeys by the suites that know no other method, and with its earlier methods otherwise [T788, T789]', async () => {
    const url = `${tenant.host}/multikey`;
    const { did, localMetadata } = expectStatus(await tenant.api.dids.create({ method: 'web', options: { url } }), 201);
    const served = (await (await hostFetch(`${tenant.url}/multikey/did.json`)).json()) as Record<string, Json[]>;
    const multikeys = served['verificationMethod']!.filter(({ type }) => type === 'Multikey').map(({ id }) => id);
    expect(multikeys).toHaveLength(2);
    for (const relation of ['authentication', 'capabilityDelegation', 'capabilityInvocation'])
      expect(served[relation]!.filter((id) => multikeys.includes(id))).toEqual([]);
    expect(served['assertionMethod']).toEqual(expect.arrayContaining(multikeys));
    const earlier = localMetadata.keys.map(({ didDocumentKeyId }) => didDocumentKeyId);
    for (const proofType of ['eddsa-rdfc-2022', 'ecdsa-rdfc-2019', 'Ed25519Signature2018'] as const) {
      const { credential, list } = await collect(await configure(proofType, { issuerDid: did }));
      const document = (await (await published(list!)).json()) as Json & { proof: Json };
      const methods = [credential['proof'] as Json, document.proof].map(({ verificationMethod }) => verificationMethod);
      const expected = proofType === 'Ed25519Signature2018' ? earlier : multikeys;
      expect([methods[0] === methods[1], expected.includes(methods[0] as string)]).toEqual([true, true]);
      await verifyLdpVc(credential);
      await verifyLdpVc(document);
    }
  });

  it('gets its Multikeys again without a change, and a did:key never [T790]', async () => {
    const { dids } = tenant.api;
    const url = `${tenant.host}/again`;
    const made = expectStatus(await dids.create({ method: 'web', options: { url } }), 201);
    expect(expectStatus(await dids.updateDocument(made.did), 200)).toEqual(made);
    const key = expectStatus(await dids.create({ method: 'key', options: { keyType: 'P-256' } }), 201);
    const refused = await dids.updateDocument(key.did);
    expect([refused.status, refused.body]).toMatchObject([
      400,
      { details: [{ param: 'id', msg: 'must be a did:web: the document of a did:key follows from its name' }] },
    ]);
    expect((await dids.updateDocument('did:web:nowhere.example')).status).toBe(404);
    expect((await other.api.dids.updateDocument(made.did)).status).toBe(404);
  });
});
