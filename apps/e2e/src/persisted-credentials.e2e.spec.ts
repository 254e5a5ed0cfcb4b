import {
  connectManagement,
  connectWithRoles,
  createTenantUnderTest,
  expectStatus,
  makeHolderKey,
  PLATFORM_START_MS,
  sharedPlatform,
  verifyLdpVc,
  waitUntil,
  Wallet,
  type TenantUnderTest,
} from '@attestry/testing';

let tenant: TenantUnderTest;
let other: TenantUnderTest;
/** Clients of the tenant. */
let managedIssuer: TenantUnderTest['api'];
let auditor: TenantUnderTest['api'];
/** Configurations. */
let persisting: string;
let plain: string;

const request = {
  name: 'Course credential',
  issuer: { name: 'Example University' },
  claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
};

beforeAll(async () => {
  const platform = await sharedPlatform();
  const management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'archive');
  other = await createTenantUnderTest(platform, management, 'archive-rival');
  managedIssuer = await connectWithRoles(platform, management, tenant, ['managed-issuer']);
  auditor = await connectWithRoles(platform, management, tenant, ['auditor']);
  expectStatus(await tenant.api.dids.create({ method: 'key', options: { keyType: 'Ed25519' } }), 201);
  const { webSemantic } = tenant.api;
  persisting = expectStatus(await webSemantic.create({ ...request, type: 'Kept', persist: true }), 201).id;
  plain = expectStatus(await webSemantic.create({ ...request, type: 'Plain' }), 201).id;
}, PLATFORM_START_MS);

/** A new user's credentials, which are listed at once. */
const issue = async (configurationId: string, count = 1) => {
  const offered = { credentials: [configurationId], claims: { given_name: 'Zoë' } };
  const { uri, userId } = expectStatus(await tenant.api.offers.create(offered), 200);
  const keys = await Promise.all(Array.from({ length: count }, () => makeHolderKey()));
  const { credentials } = await new Wallet().collect(uri, { keys });
  expect(expectStatus(await tenant.api.users.credentials(userId), 200).data).toHaveLength(count);
  const documents = credentials.map(({ credential }) => credential as Record<string, unknown> & { id: string });
  return { userId, documents, ids: documents.map(({ id }) => id.slice('urn:uuid:'.length)) };
};

describe('the record of issued JSON credentials', () => {
  it('returns a persisted credential, which an independent library verifies, and of others the metadata [T162]', async () => {
    const { userId, documents, ids } = await issue(persisting);
    const { credential, ...metadata } = expectStatus(await tenant.api.webSemanticCredentials.retrieve(ids[0]!), 200);
    expect(credential).toEqual(documents[0]);
    await verifyLdpVc(credential!);
    expect(metadata).toEqual({
      id: ids[0],
      type: 'Kept',
      credentialConfigurationId: persisting,
      userId,
      issuanceDate: expect.any(String) as string,
      validFrom: documents[0]!['validFrom'] ? expect.any(String) : undefined,
    });
    const unkept = await issue(plain);
    const found = expectStatus(await tenant.api.webSemanticCredentials.retrieve(unkept.ids[0]!), 200);
    expect(found).toMatchObject({ id: unkept.ids[0], type: 'Plain', userId: unkept.userId });
    expect(found).not.toHaveProperty('credential');
  });

  it('is listed in pages, by type, for the roles that read configurations and for no other tenant [T163]', async () => {
    const { ids } = await issue(plain, 3);
    await issue(persisting);
    const pages: string[] = [];
    let cursor: string | undefined;
    do {
      const query = { type: 'Plain', limit: 2, ...(cursor !== undefined && { cursor }) };
      const page = expectStatus(await managedIssuer.webSemanticCredentials.list(query), 200);
      expect(page.data.every(({ type }) => type === 'Plain')).toBe(true);
      pages.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(new Set(pages).size).toBe(pages.length);
    expect(pages).toEqual(expect.arrayContaining(ids));
    expect(expectStatus(await managedIssuer.webSemanticCredentials.list({ tag: 'x' }), 200)).toEqual({ data: [] });
    expect(expectStatus(await other.api.webSemanticCredentials.list(), 200)).toEqual({ data: [] });
    for (const id of ids) {
      expect((await other.api.webSemanticCredentials.retrieve(id)).status).toBe(404);
      expect((await other.api.webSemanticCredentials.delete(id)).status).toBe(404);
    }
    const { list, retrieve, delete: remove } = auditor.webSemanticCredentials;
    for (const answer of [await list(), await retrieve(ids[0]!), await remove(ids[0]!)])
      expect(answer.status).toBe(403);
  });

  it('ends with the deletion of the credential or of its user [T162] [T164]', async () => {
    const { userId, documents, ids } = await issue(persisting, 2);
    const [gone, kept] = ids as [string, string];
    const api = tenant.api.webSemanticCredentials;
    expect((await api.delete(gone)).status).toBe(204);
    for (const answer of [await api.retrieve(gone), await api.delete(gone)]) expect(answer.status).toBe(404);
    expect(expectStatus(await tenant.api.users.credentials(userId), 200).data.map(({ id }) => id)).toEqual([kept]);
    expect(expectStatus(await api.retrieve(kept), 200).credential).toEqual(documents[1]);
    // The credential in the wallet is not revoked.
    await verifyLdpVc(documents[0]!);
    expectStatus(await tenant.api.users.delete(userId), 204);
    for (const answer of [await api.retrieve(kept), await api.delete(kept)]) expect(answer.status).toBe(404);
  });

  it('is in the audit trail, without the credential', async () => {
    const { ids } = await issue(persisting);
    const api = tenant.api.webSemanticCredentials;
    await api.list();
    await api.retrieve(ids[0]!);
    await api.delete(ids[0]!);
    await api.retrieve(ids[0]!);
    const names = ['RETRIEVE_LIST', 'RETRIEVE', 'DELETE'].map((name) => `CREDENTIAL_WEB_SEMANTIC_${name}`);
    const types = [...names.map((name) => `${name}_SUCCESS`), 'CREDENTIAL_WEB_SEMANTIC_RETRIEVE_FAIL'];
    const found = await waitUntil(
      async () => {
        const { data } = expectStatus(await tenant.api.analytics.list({ types, limit: 100 }), 200);
        return types.every((type) => data.some((event) => event.type === type)) && data;
      },
      { what: 'the events of these calls' },
    );
    expect(found.find(({ type }) => type === 'CREDENTIAL_WEB_SEMANTIC_DELETE_SUCCESS')).toMatchObject({
      category: 'credential-web-semantic',
      object: { type: 'credential', id: ids[0] },
      metadata: { userId: expect.any(String) as string },
    });
    expect(JSON.stringify(found)).not.toContain('proofValue');
  });
});
