import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  cwtStatusOf,
  decodeCwt,
  expectStatus,
  fetchCwtStatus,
  hostFetch,
  makeHolderKey,
  OpenIdProvider,
  PLATFORM_START_MS,
  RedirectBrowser,
  registerWallet,
  resolveDid,
  sharedPlatform,
  TENANT_CLIENT,
  verifyCwt,
  waitUntil,
  Wallet,
  type DecodedCwt,
  type HolderKey,
  type TenantUnderTest,
} from '@attestry/testing';

let provider: OpenIdProvider;
let tenant: TenantUnderTest;
let other: TenantUnderTest;
let did: string;
/** Credential configurations. */
let cwt: string;
let cwtVc: string;

const request = {
  type: 'Course',
  claimMappings: {
    given_name: { mapFrom: 'claims.given_name', required: true },
    country: { mapFrom: 'claims.address.country', defaultValue: 'NZ' },
    level: { defaultValue: 1.5 },
    passed: { defaultValue: true },
    nickname: { mapFrom: 'claims.nickname' },
  },
  expiresIn: { months: 6 },
};
const semantic = {
  ...request,
  type: 'Award',
  contexts: ['https://university.example/award/v1'],
  claimMappings: { ...request.claimMappings, address: { mapFrom: 'claims.address' } },
};
const claims = { given_name: 'Zoë', address: { country: 'FR', lines: ['a', 'b'] }, unused: 'never shown' };

beforeAll(async () => {
  provider = await OpenIdProvider.start('https://management.example');
  const platform = await sharedPlatform();
  const management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'cwt-college');
  other = await createTenantUnderTest(platform, management, 'cwt-other');
  const { api } = tenant;
  const forwarded = { forwardedRequestParameters: ['login_hint'] };
  expectStatus(await api.authenticationProviders.create({ url: provider.issuer, ...TENANT_CLIENT, ...forwarded }), 201);
  // Older, and with a P-256 key, but no did:web.
  expectStatus(await api.dids.create({ method: 'key', options: { keyType: 'P-256' } }), 201);
  did = expectStatus(await api.dids.create({ method: 'web', options: { url: tenant.host } }), 201).did;
  cwt = expectStatus(await api.compact.create(request), 201).id;
  cwtVc = expectStatus(await api.compactSemantic.create({ ...semantic, issuer: did }), 201).id;
}, PLATFORM_START_MS);
afterAll(async () => {
  await provider?.stop();
});

const offer = async (credentials: string[], more: object = {}) =>
  expectStatus(await tenant.api.offers.create({ credentials, claims, ...more }), 200);
const collect = async (configurationId: string, ...keys: HolderKey[]) => {
  const { credentials } = await new Wallet().collect((await offer([configurationId])).uri, { keys });
  return credentials.map(({ credential }) => credential as string);
};
/** Verifies a credential that was just issued: the first lists of an issuer are published about a second later. */
const verify = async (credential: string) => {
  const decoded = await decodeCwt(credential);
  if (decoded.claims.has(65535))
    await waitUntil(async () => (await hostFetch(cwtStatusOf(decoded).uri)).ok, { what: 'the lists' });
  return verifyCwt(credential);
};
const didKey = () => makeHolderKey('ES256', 'did:key');
/** Registered claims by name, RFC 8392 §4. */
const registered = (all: ReadonlyMap<number | string, unknown>) => ({
  iss: all.get(1),
  sub: all.get(2),
  exp: all.get(4) as number,
  nbf: all.get(5) as number,
  iat: all.get(6) as number,
});
const own = (all: ReadonlyMap<number | string, unknown>) =>
  Object.fromEntries([...all].filter(([key]) => typeof key === 'string'));

describe('a third-party wallet obtains', () => {
  it('a cwt, signed by the first did:web of the tenant, bound to its did:key [T130, T132, T133]', async () => {
    const key = await didKey();
    const [credential] = await collect(cwt, key);
    const { prefix, claims: all, kid } = await verify(credential!);
    expect([prefix, all.get(-65539)]).toEqual(['CSC:/1/', 'Course']);
    expect(own(all)).toEqual({ given_name: 'Zoë', country: 'FR', level: 1.5, passed: true });
    const { iss, sub, exp, nbf, iat } = registered(all);
    expect([iss, sub, iat]).toEqual([did, key.did, nbf]);
    // Rounded, so that they link no credentials.
    expect([nbf % 3600, exp % 86_400]).toEqual([0, 0]);
    const days = (exp - nbf) / 86_400;
    expect(days).toBeGreaterThanOrEqual(179);
    expect(days).toBeLessThanOrEqual(184);
    const { assertionMethod } = await resolveDid(did);
    expect(assertionMethod).toContain(`${did}#${kid}`);
  });

  it('a cwt_vc with the data model, its contexts and its type [T131]', async () => {
    const key = await didKey();
    const [credential] = await collect(cwtVc, key);
    const { prefix, claims: all } = await verify(credential!);
    expect(prefix).toBe('CSS:/1/');
    expect(registered(all)).toMatchObject({ iss: did, sub: key.did });
    const { given_name, address } = claims;
    expect(own(all)).toEqual({
      vc: {
        version: '1.0.0',
        '@context': ['https://www.w3.org/2018/credentials/v1', 'https://university.example/award/v1'],
        type: ['VerifiableCredential', 'Award'],
        credentialSubject: { id: key.did, given_name, country: 'FR', level: 1.5, passed: true, address },
      },
    });
  });

  it('both from one offer, by value and by reference', async () => {
    const [first, second] = [await offer([cwt, cwtVc]), await offer([cwt, cwtVc])];
    for (const address of [first.uri, second.uriByReference]) {
      const { credentials } = await new Wallet().collect(address, { keys: [await didKey()] });
      const decoded = await Promise.all(credentials.map(({ credential }) => verify(credential as string)));
      expect(decoded.map(({ prefix }) => prefix)).toEqual(['CSC:/1/', 'CSS:/1/']);
    }
  });

  it('in a batch, in which nothing but issuer, type, claims and times is alike', async () => {
    const keys = [await didKey(), await makeHolderKey('EdDSA', 'did:key'), await makeHolderKey('ES256', 'did:jwk')];
    for (const configuration of [cwt, cwtVc]) {
      const batch = await Promise.all((await collect(configuration, ...keys)).map(verify));
      expect(batch.map((one) => one.claims.get(2))).toEqual(keys.map((key) => key.did));
      const ids = batch.map((one) => Buffer.from(one.claims.get(7) as Uint8Array).toString('hex'));
      expect(new Set(ids).size).toBe(3);
      expect(new Set(batch.map((one) => JSON.stringify([one.claims.get(5), one.claims.get(4)]))).size).toBe(1);
    }
  });

  it('through the authorization code flow', async () => {
    provider.accounts.set('zoe', { sub: 'zoe', given_name: 'Zoë' });
    const { uri } = expectStatus(await tenant.api.offers.createOpen({ credentials: [cwt] }), 200);
    await registerWallet(tenant.api, 'wallet.example', 'https://wallet.example/back');
    const wallet = new Wallet('wallet.example');
    const resolved = await wallet.resolveOffer(uri);
    const metadata = await wallet.metadata(resolved.credential_issuer);
    const token = await wallet.authorizedToken(resolved, metadata, {
      browser: new RedirectBrowser(),
      redirectUri: 'https://wallet.example/back',
      scope: 'cwt:Course',
      parameters: { login_hint: 'zoe' },
    });
    const [credential] = await wallet.credentials(metadata, token.access_token, cwt, [await didKey()]);
    expect(own((await verify(credential as string)).claims)).toMatchObject({ given_name: 'Zoë', country: 'NZ' });
  });

  it('and a change of one character is noticed', async () => {
    const [credential] = await collect(cwt, await didKey());
    const at = credential!.length - 20;
    const changed = `${credential!.slice(0, at)}${credential![at] === 'A' ? 'B' : 'A'}${credential!.slice(at + 1)}`;
    await expect(verifyCwt(changed)).rejects.toThrow('the signature is invalid');
  });
});

describe('a revocable credential', () => {
  const issue = async (configurationId: string) => {
    const made = await offer([configurationId]);
    const { credentials } = await new Wallet().collect(made.uri, { keys: [await didKey()] });
    const credential = credentials[0]!.credential as string;
    const decoded = await verify(credential);
    const id = await waitUntil(
      async () => expectStatus(await tenant.api.users.credentials(made.userId), 200).data[0]?.id,
      { what: 'the record of the credential' },
    );
    return { credential, decoded, id };
  };
  /** The time within which a verifier that retrieves the lists notices a change. */
  const becomes = async ({ credential, decoded }: { credential: string; decoded: DecodedCwt }, isRevoked: boolean) => {
    const is = async () => {
      const { invalid, revoked } = await fetchCwtStatus(decoded);
      return invalid === isRevoked && revoked === isRevoked;
    };
    await waitUntil(is, { intervalMs: 200, what: `isRevoked ${isRevoked} in both lists` });
    if (isRevoked) await expect(verifyCwt(credential)).rejects.toThrow('Status is not valid');
    else await verifyCwt(credential);
  };

  describe.each([
    ['cwt', 'compact', 'compact', () => cwt],
    ['cwt_vc', 'compactSemantic', 'compact-semantic', () => cwtVc],
  ] as const)('of %s', (_format, thing, profile, configuration) => {
    const api = () => tenant.api[thing];

    it('names one entry of one list in both claims, and is revoked and restored in both lists [T180, T182, T183]', async () => {
      const [issued, kept] = [await issue(configuration()), await issue(configuration())];
      const { decoded, id } = issued;
      const { index, uri, revocation } = cwtStatusOf(decoded);
      const listId = uri.split('/').at(-2)!;
      expect(uri).toBe(`${tenant.url}/v2/credentials/status-lists/${listId}/token`);
      expect(revocation).toEqual({
        index,
        uri: `${tenant.url}/v2/credentials/${profile}/revocation-lists/${listId}`,
      });
      expect(index).toBeLessThan(131_072);
      expect(expectStatus(await api().revocationLists(), 200)).toEqual({
        data: [{ id: listId, issuer: did, url: revocation.uri }],
      });

      await becomes(issued, false);
      expect(expectStatus(await api().revocationStatus(id), 200)).toEqual({ isRevoked: false });
      for (const isRevoked of [true, false, true]) {
        expect(expectStatus(await api().setRevocationStatus(id, { isRevoked }), 200)).toEqual({ id, isRevoked });
        await becomes(issued, isRevoked);
        expect(expectStatus(await api().revocationStatus(id), 200)).toEqual({ isRevoked });
      }
      expect(await fetchCwtStatus(kept.decoded)).toEqual({ invalid: false, revoked: false });
      await verifyCwt(kept.credential);
    });

    it('is revoked for good when it is deleted [T184]', async () => {
      const issued = await issue(configuration());
      const { id } = issued;
      expect((await api().deleteCredential(id)).status).toBe(204);
      await becomes(issued, true);
      for (const { status } of [
        await api().setRevocationStatus(id, { isRevoked: false }),
        await api().revocationStatus(id),
        await api().deleteCredential(id),
      ])
        expect(status).toBe(404);
    });

    it('has a public revocation list with ETag, under its tenant and profile only [T183]', async () => {
      const { uri } = cwtStatusOf((await issue(configuration())).decoded).revocation;
      const answer = await hostFetch(uri, { headers: { origin: 'https://verifier.example' } });
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'application/cwt',
        'cache-control': 'public, max-age=1',
        etag: expect.stringMatching(/^"[\w-]{43}"$/) as string,
        'access-control-allow-origin': '*',
      });
      const etag = answer.headers.get('etag')!;
      const again = await hostFetch(uri, { headers: { 'if-none-match': etag } });
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
      const { pathname } = new URL(uri);
      const elsewhere = profile === 'compact' ? 'compact-semantic' : 'compact';
      for (const [base, path, status] of [
        [other.url, pathname, 404],
        [tenant.url, pathname.replace(`/${profile}/`, `/${elsewhere}/`), 404],
        [tenant.url, pathname.replace(/[0-9a-f-]{36}$/, 'no-uuid'), 400],
      ] as const)
        expect((await new ApiClient(base).request('GET', path)).status).toBe(status);
    });

    it('is issued only while the configuration is revocable, which is the default [T182]', async () => {
      const { revocable, ...created } = expectStatus(
        await api().create({ ...request, type: `Default-${profile}` }),
        201,
      );
      expect(revocable).toBe(true);
      const { id, ...body } = created;
      expect(expectStatus(await api().update(id, { ...body, revocable: false }), 200).revocable).toBe(false);
      await waitUntil(
        async () => {
          const { claims: all } = await verify((await collect(id, await didKey()))[0]!);
          return !all.has(65535) && !all.has(-65537);
        },
        { what: 'a credential without status' },
      );
      expect((await api().delete(id)).status).toBe(204);
    });
  });

  it('is revoked under its own profile and by its tenant only [T180]', async () => {
    const { id } = await issue(cwt);
    const isRevoked = true;
    for (const { status } of [
      await tenant.api.compactSemantic.setRevocationStatus(id, { isRevoked }),
      await tenant.api.compactSemantic.deleteCredential(id),
      await other.api.compact.setRevocationStatus(id, { isRevoked }),
      await other.api.compact.deleteCredential(id),
    ])
      expect(status).toBe(404);
    expect(expectStatus(await tenant.api.compact.revocationStatus(id), 200)).toEqual({ isRevoked: false });
  });
});

describe('the issuer metadata', () => {
  it('have type and types, ES256 and did:key [T134]', async () => {
    const { body } = await tenant.api.metadata();
    const supported = body['credential_configurations_supported'] as Record<string, Record<string, unknown>>;
    const shared = {
      cryptographic_binding_methods_supported: ['did:key'],
      credential_signing_alg_values_supported: ['ES256'],
      proof_types_supported: { jwt: { proof_signing_alg_values_supported: ['ES256', 'EdDSA'] } },
    };
    expect(supported[cwt]).toEqual({
      ...{ format: 'cwt', id: cwt, scope: 'cwt:Course', type: 'Course', ...shared },
      credential_metadata: {
        display: [{ name: 'Course' }],
        claims: [
          { path: ['given_name'], mandatory: true },
          ...['country', 'level', 'passed', 'nickname'].map((name) => ({ path: [name], mandatory: false })),
        ],
      },
    });
    const types = ['VerifiableCredential', 'Award'];
    expect(supported[cwtVc]).toMatchObject({ format: 'cwt_vc', scope: 'cwt_vc:Award', types, ...shared });
    const { claims: paths } = supported[cwtVc]!['credential_metadata'] as { claims: object[] };
    expect(paths[0]).toEqual({ path: ['vc', 'credentialSubject', 'given_name'], mandatory: true });
    const legacy = {
      cryptographic_binding_methods_supported: ['did:key'],
      cryptographic_suites_supported: ['ES256'],
    };
    expect(body['credentials_supported']).toEqual([
      { format: 'cwt', id: cwt, scope: 'cwt:Course', type: 'Course', ...legacy, display: [{ name: 'Course' }] },
      { format: 'cwt_vc', id: cwtVc, scope: 'cwt_vc:Award', types, ...legacy, display: [{ name: 'Award' }] },
    ]);
  });
});

describe('a configuration', () => {
  const detailsOf = (answer: { status: number; body: unknown }) => {
    expect(answer.status).toBe(400);
    return (answer.body as { details: unknown }).details;
  };
  const detail = (param: string, msg: string, value?: unknown) => ({
    ...(value !== undefined && { value }),
    ...{ msg, param, location: 'body' },
  });

  it('is refused with faults, each with its reason', async () => {
    const faulty = {
      type: 'Faults',
      issuer: 'did:key:z6Mk',
      claimMappings: { iss: { defaultValue: 'x' }, address: { defaultValue: {} } },
      expiresIn: { minutes: 90 },
    };
    expect(detailsOf(await tenant.api.compact.create(faulty as never))).toEqual([
      detail('issuer', 'must be a did:web of this tenant', 'did:key:z6Mk'),
      detail('claimMappings.iss', 'is a reserved name: decoders of CWTs return iss as a claim that the platform sets'),
      detail('claimMappings.address', 'must have a boolean, a well-formed string or a number as defaultValue'),
      detail('expiresIn', 'must be at least 2 hours', { minutes: 90 }),
    ]);
    const contexts = ['https://www.w3.org/2018/credentials/v1', 'no-url'];
    expect(detailsOf(await tenant.api.compactSemantic.create({ ...semantic, type: 'Faults', contexts }))).toEqual([
      detail('contexts.0', 'must not be listed, because it is part of every credential', contexts[0]),
      detail('contexts.1', 'must be an https or http URL', 'no-url'),
    ]);
    expect(detailsOf(await tenant.api.compact.create({ ...request, name: 'Course' } as never))).toEqual([
      expect.objectContaining({ param: 'name' }),
    ]);
  });

  it('has a type that no other one has, of either format [T135]', async () => {
    const taken = (type: string) => [detail('type', 'is used by another credential configuration', type)];
    expect(detailsOf(await tenant.api.compactSemantic.create({ ...semantic, type: 'Course' }))).toEqual(
      taken('Course'),
    );
    expect(detailsOf(await tenant.api.compact.create({ ...request, type: 'Award' }))).toEqual(taken('Award'));
    const race = await Promise.all([
      ...Array.from({ length: 4 }, () => tenant.api.compact.create({ ...request, type: 'Race' })),
      ...Array.from({ length: 4 }, () => tenant.api.compactSemantic.create({ ...semantic, type: 'Race' })),
    ]);
    expect(race.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 7 }, () => 400)]);
  });

  it('issues with a did:web of the tenant only, and never changes it [T136]', async () => {
    const foreignAt = async (url: string) =>
      expectStatus(await other.api.dids.create({ method: 'web', options: { url } }), 201).did;
    const [hosted, foreign] = [await foreignAt(other.host), await foreignAt('cwt-other.example')];
    const more = { ...request, type: 'Foreign' };
    for (const [issuer, msg] of [
      [hosted, "must not be under a host of the platform other than the tenant's own"],
      [foreign, 'must be a DID of this tenant'],
    ] as const)
      expect(detailsOf(await tenant.api.compact.create({ ...more, issuer }))).toEqual([detail('issuer', msg, issuer)]);
    expect(detailsOf(await tenant.api.compact.update(cwt, { ...request, issuer: foreign }))).toEqual([
      detail('issuer', 'must not change', foreign),
    ]);
    // The refused one left nothing: its type is free.
    const created = expectStatus(await tenant.api.compact.create({ ...more, issuer: did }), 201);
    expect(created.issuer).toBe(did);
    expect((await tenant.api.compact.delete(created.id)).status).toBe(204);
    expect((await other.api.compact.retrieve(cwt)).status).toBe(404);
  });

  it('needs a did:web', async () => {
    const platform = await sharedPlatform();
    const bare = await createTenantUnderTest(platform, await connectManagement(platform), 'cwt-bare');
    expectStatus(await bare.api.dids.create({ method: 'key', options: { keyType: 'P-256' } }), 201);
    expect(detailsOf(await bare.api.compact.create(request))).toEqual([
      detail('issuer', 'the tenant has no did:web with an assertion key of type P-256'),
    ]);
  });

  it('refuses offers whose claims no cwt can have', async () => {
    const answer = await tenant.api.offers.create({ credentials: [cwt], claims: { ...claims, nickname: ['Z'] } });
    expect(detailsOf(answer)).toEqual([
      detail(
        'claims',
        `must fit credential configuration ${cwt}: nickname must be a boolean, a string or a number, not an array`,
      ),
    ]);
  });
});
