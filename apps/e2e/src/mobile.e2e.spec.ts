import { createHash } from 'node:crypto';
import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  makeHolderKey,
  OpenIdProvider,
  PLATFORM_START_MS,
  RedirectBrowser,
  registerWallet,
  sharedPlatform,
  TENANT_CLIENT,
  CustomerIaca,
  hostFetch,
  mdocIdentifier,
  mdocStatus,
  verifyMdoc,
  verifyMdocStatus,
  waitUntil,
  Wallet,
  type HolderKey,
  type PlatformAddresses,
  type TenantUnderTest,
} from '@attestry/testing';
import { decode, type Tag } from 'cbor2';
import { SignJWT } from 'jose';

const MDL = 'org.iso.18013.5.1.mDL';
const NAMESPACE = 'org.iso.18013.5.1';
const OWN = 'org.example.licence.1';

let platform: PlatformAddresses;
let provider: OpenIdProvider;
let tenant: TenantUnderTest;
/** Credential configuration. */
let id: string;
/** PEM of the IACA that is active. */
let iaca: string;

const request = {
  type: MDL,
  claimMappings: {
    [NAMESPACE]: {
      family_name: { mapFrom: 'claims.family_name' },
      given_name: { mapFrom: 'claims.given_name', required: true, display: [{ name: 'Given name', locale: 'en' }] },
      birth_date: { mapFrom: 'claims.birthdate', type: 'date' },
      issue_date: { defaultValue: '2026-01-31', type: 'date' },
      expiry_date: { defaultValue: '2036-01-31', type: 'date' },
      issuing_country: { defaultValue: 'AU' },
      issuing_authority: { defaultValue: 'Roads' },
      document_number: { mapFrom: 'claims.number', defaultValue: 'none' },
      portrait: { mapFrom: 'claims.picture', type: 'binary', defaultValue: 'AQID' },
      driving_privileges: { defaultValue: [{ vehicle_category_code: 'B', issue_date: '2020-01-31' }], type: 'array' },
      un_distinguishing_sign: { defaultValue: 'AUS' },
    },
    [OWN]: {
      points: { mapFrom: 'claims.points', type: 'number' },
      since: { defaultValue: '2020-01-31T12:00:00+01:00', type: 'dateTime' },
    },
  },
  expiresIn: { months: 6 },
  branding: { name: 'Driving licence', issuerLogo: 'https://roads.example/logo.png', backgroundColor: '#123456' },
} as const;
const claims = {
  family_name: 'Lovelace',
  given_name: 'Zoë',
  birthdate: '1990-12-10',
  points: 3,
  unused: 'never shown',
};

beforeAll(async () => {
  provider = await OpenIdProvider.start('https://management.example');
  platform = await sharedPlatform();
  tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'roads');
  ({ id } = expectStatus(await tenant.api.mobile.create(request as never), 201));
}, PLATFORM_START_MS);
afterAll(async () => {
  await provider?.stop();
});

const offer = async (more: object = {}) =>
  expectStatus(await tenant.api.offers.create({ credentials: [id], claims, ...more }), 200);
const collect = async (...keys: HolderKey[]) => {
  const { credentials } = await new Wallet().collect((await offer()).uri, keys.length ? { keys } : {});
  return credentials.map(({ credential, key }) => ({ credential: credential as string, key }));
};
const present = async ({ credential, key }: { credential: string; key: HolderKey }, docType = MDL, iacas = [iaca]) =>
  verifyMdoc({ credential, docType, deviceKey: key.privateKey, iacas });
/** The refusal of a credential request, with a proof that no client library makes. */
const requestCredential = async (uri: string, configurationId: string, key: HolderKey): Promise<unknown[]> => {
  const wallet = new Wallet();
  const metadata = await wallet.metadata(tenant.url);
  const token = await wallet.accessToken(await wallet.resolveOffer(uri), metadata);
  const proof = await new SignJWT({ nonce: await wallet.nonce(metadata), aud: tenant.url })
    .setIssuedAt()
    .setProtectedHeader({ alg: key.algorithm, typ: 'openid4vci-proof+jwt', jwk: key.publicJwk })
    .sign(key.privateKey);
  const body = { credential_configuration_id: configurationId, proofs: { jwt: [proof] } };
  const answer = await new ApiClient(tenant.url).request<{ error: string; error_description: string }>(
    'POST',
    '/v1/openid/credential',
    { token, body },
  );
  return [answer.status, answer.body.error, answer.body.error_description];
};

// A Buffer would be decoded to Buffers.
const read = <T>(bytes: Uint8Array): T => decode<T>(new Uint8Array(bytes), { ignoreGlobalTags: true });
const issuerAuth = (credential: string) => {
  const { issuerAuth: message } = read<{ issuerAuth: [Uint8Array, Map<number, Uint8Array>, Uint8Array, Uint8Array] }>(
    Buffer.from(credential, 'base64url'),
  );
  const security = read<{ validityInfo: Record<string, Tag>; valueDigests: Record<string, Map<number, Uint8Array>> }>(
    read<Tag>(message[2]).contents as Uint8Array,
  );
  return { unprotected: message[1], payload: message[2], security };
};

describe('before an IACA is active', () => {
  it('configurations, metadata, offers and tokens work; the credential is denied [T120]', async () => {
    const { uri } = await offer();
    expect(await requestCredential(uri, id, await makeHolderKey())).toEqual([
      400,
      'credential_request_denied',
      'no IACA of the issuer is active and valid',
    ]);
  });
});

describe('a third-party wallet obtains an mso_mdoc [T121]', () => {
  beforeAll(async () => {
    const created = expectStatus(await tenant.api.iacas.create({ country: 'AU' }), 201);
    expectStatus(await tenant.api.iacas.update(created.id, true), 200);
    iaca = created.certificatePem;
  });

  it('that an independent library verifies: chain, signature, digests, validity and device key', async () => {
    const [got] = await collect();
    const verified = await present(got!);
    const { portrait, birth_date, ...others } = verified[NAMESPACE]!;
    expect(Buffer.from(portrait as Uint8Array)).toEqual(Buffer.from([1, 2, 3]));
    expect((birth_date as Date).toISOString()).toMatch(/^1990-12-10/);
    expect(others).toMatchObject({ family_name: 'Lovelace', given_name: 'Zoë', document_number: 'none' });
    expect(verified[OWN]).toMatchObject({ points: 3 });
    expect((verified[OWN]!['since'] as Date).toISOString()).toBe('2020-01-31T11:00:00.000Z');
    const { unprotected, security } = issuerAuth(got!.credential);
    expect([...unprotected.keys()]).toEqual([33]);
    expect(unprotected.get(33)).toBeInstanceOf(Uint8Array);
    // Rounded, so that they link no credentials.
    const { validFrom, validUntil } = security.validityInfo;
    expect(validFrom!.contents).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(validUntil!.contents).toMatch(/T00:00:00Z$/);
  });

  it('and another holder, another root or a changed element is refused there', async () => {
    const [got] = await collect();
    await expect(present({ ...got!, key: await makeHolderKey() })).rejects.toThrow('Device signature must be valid');
    const other = expectStatus(await tenant.api.iacas.create({ country: 'AU' }), 201);
    await expect(present(got!, MDL, [other.certificatePem])).rejects.toThrow('No valid certificate paths found');
    expectStatus(await tenant.api.iacas.delete(other.id), 204);
    const bytes = Buffer.from(got!.credential, 'base64url');
    bytes.write('Lovelady', bytes.indexOf('Lovelace'));
    await expect(present({ ...got!, credential: bytes.toString('base64url') })).rejects.toThrow('family_name');
  });

  it('in a batch, one for each key, with salts of their own', async () => {
    const keys = await Promise.all([makeHolderKey(), makeHolderKey(), makeHolderKey()]);
    const batch = await collect(...keys);
    expect(batch).toHaveLength(3);
    for (const [index, { credential }] of batch.entries()) await present({ credential, key: keys[index]! });
    const digests = batch.flatMap(({ credential }) =>
      Object.values(issuerAuth(credential).security.valueDigests).flatMap((ofNamespace) =>
        [...ofNamespace.values()].map((digest) => Buffer.from(digest).toString('hex')),
      ),
    );
    expect(new Set(digests).size).toBe(3 * 13);
  });

  it('through the authorization code flow, with claims of the provider', async () => {
    const account = { sub: 'max', given_name: 'Max', family_name: 'Born', birthdate: '1882-12-11', points: 1 };
    provider.accounts.set(account.sub, account);
    expectStatus(
      await tenant.api.authenticationProviders.create({
        url: provider.issuer,
        ...TENANT_CLIENT,
        forwardedRequestParameters: ['login_hint'],
      }),
      201,
    );
    const { uri } = expectStatus(await tenant.api.offers.createOpen({ credentials: [id] }), 200);
    await registerWallet(tenant.api, 'wallet.example', 'https://wallet.example/back');
    const wallet = new Wallet('wallet.example');
    const resolved = await wallet.resolveOffer(uri);
    const metadata = await wallet.metadata(resolved.credential_issuer);
    const token = await wallet.authorizedToken(resolved, metadata, {
      browser: new RedirectBrowser(),
      redirectUri: 'https://wallet.example/back',
      scope: `mso_mdoc:${MDL}`,
      parameters: { login_hint: account.sub },
    });
    const key = await makeHolderKey();
    const [credential] = await wallet.credentials(metadata, token.access_token, id, [key]);
    const verified = await present({ credential: credential as string, key });
    expect(verified[NAMESPACE]).toMatchObject({ given_name: 'Max', family_name: 'Born' });
  });

  it('of which digests are listed, and no value [T125]', async () => {
    const { uri, userId } = await offer();
    const [got] = (await new Wallet().collect(uri)).credentials;
    const listed = () => tenant.api.users.credentials(userId);
    await waitUntil(async () => expectStatus(await listed(), 200).data.length > 0, { what: 'the listed credential' });
    const { text, body } = await listed();
    const { security, payload } = issuerAuth(got!.credential as string);
    const [credential] = body.data;
    expect(credential).toMatchObject({
      type: MDL,
      profile: 'mobile',
      format: 'mso_mdoc',
      devicePublicKey: got!.key.publicJwk,
      msoHash: createHash('sha256').update(payload).digest('base64url'),
    });
    const { digestID, digest } = credential!.namespaces![NAMESPACE]!['family_name']!;
    expect(Buffer.from(security.valueDigests[NAMESPACE]!.get(digestID)!).toString('base64url')).toBe(digest);
    expect(text).not.toContain('Lovelace');
  });
});

describe('the wire', () => {
  it('shows the format in the issuer metadata [T98, T122]', async () => {
    const { body } = await tenant.api.metadata();
    const supported = body['credential_configurations_supported'] as Record<string, Record<string, unknown>>;
    const display = [
      {
        name: 'Driving licence',
        logo: { uri: 'https://roads.example/logo.png' },
        background_color: '#123456',
      },
    ];
    const described = { format: 'mso_mdoc', id, scope: `mso_mdoc:${MDL}`, doctype: MDL };
    const { credential_metadata, ...members } = supported[id]!;
    expect(members).toEqual({
      ...described,
      cryptographic_binding_methods_supported: ['cose_key'],
      credential_signing_alg_values_supported: [-7],
      proof_types_supported: { jwt: { proof_signing_alg_values_supported: ['ES256'] } },
    });
    const { claims: paths, ...shown } = credential_metadata as { claims: { path: string[] }[] };
    expect(shown).toEqual({ display });
    expect(paths.slice(1, 2)).toEqual([
      { path: [NAMESPACE, 'given_name'], mandatory: true, display: [{ name: 'Given name', locale: 'en' }] },
    ]);
    expect(paths.at(-1)).toEqual({ path: [OWN, 'since'], mandatory: false });
    expect((body['credentials_supported'] as { id: string }[]).find((it) => it.id === id)).toEqual({
      ...described,
      cryptographic_binding_methods_supported: ['mso'],
      cryptographic_suites_supported: ['ES256'],
      display,
    });
  });

  it('refuses proofs of other algorithms than the metadata announces', async () =>
    expect(await requestCredential((await offer()).uri, id, await makeHolderKey('EdDSA'))).toEqual([
      400,
      'invalid_proof',
      'proof: the key must be a P-256 key (ES256) for this credential configuration',
    ]));

  it('denies what no credential can be [T123, T124]', async () => {
    const card = { ...request, claimMappings: { [OWN]: { points: { mapFrom: 'claims.points', type: 'number' } } } };
    const dated = { ...card, type: 'org.example.card.dated', validUntil: { mapFrom: 'claims.until' } };
    const made = expectStatus(await tenant.api.mobile.create(dated as never), 201);
    const denied = async (until: string) => {
      const { id: userId } = expectStatus(await tenant.api.users.create({ claims: { points: 1 } }), 201);
      const { uri } = await offer({ credentials: [made.id], claims: {}, userId });
      // After the offer, which is refused with it.
      expectStatus(await tenant.api.users.update(userId, { claims: { points: 1, until } }), 200);
      const [status, error, description] = await requestCredential(uri, made.id, await makeHolderKey());
      expect([status, error]).toEqual([400, 'credential_request_denied']);
      const again = await tenant.api.offers.create({ credentials: [made.id], userId });
      expect(again).toMatchObject({
        status: 400,
        body: { details: [{ param: 'claims', msg: `must fit credential configuration ${made.id}: ${description}` }] },
      });
      return description;
    };
    expect(await denied('9999-12-31')).toBe('validUntil must be at most 3620 days after validFrom');
    expect(await denied('2020-01-31')).toBe('validUntil must be later than validFrom, rounded down to the hour');
    const lasting = await tenant.api.mobile.create({
      ...dated,
      type: 'org.example.card.lasting',
      expiresIn: { years: 10 },
    } as never);
    expect(lasting).toMatchObject({
      status: 400,
      body: { details: [{ param: 'expiresIn', msg: expect.stringContaining('must be at most 3620 days') as string }] },
    });
    const { id: userId } = expectStatus(await tenant.api.users.create({ claims }), 201);
    const { uri } = await offer({ claims: {}, userId });
    const nameless = { given_name: 'Zoë', birthdate: '1990-12-10' };
    expectStatus(await tenant.api.users.update(userId, { claims: nameless }), 200);
    const missing = `org.iso.18013.5.1 family_name has no value, but is mandatory for ${MDL}`;
    expect(await requestCredential(uri, id, await makeHolderKey())).toEqual([
      400,
      'credential_request_denied',
      missing,
    ]);
    const refused = async (credentials: string[], offered: Record<string, unknown>) => {
      const { body } = await tenant.api.offers.create({ credentials, claims: offered });
      return (body as unknown as { details: object[] }).details;
    };
    expect(await refused([id], nameless)).toEqual([
      { param: 'claims', location: 'body', msg: `must fit credential configuration ${id}: ${missing}` },
    ]);
    const type = 'org.example.card.empty';
    const empty = expectStatus(await tenant.api.mobile.create({ ...card, type } as never), 201).id;
    const msg = `must fit credential configuration ${empty}: org.example.licence.1 points has no value, and no other element has one: an mdoc has at least one element`;
    expect(await refused([empty], {})).toEqual([{ param: 'claims', location: 'body', msg }]);
  });

  it('refuses an offer whose claims no element can have', async () => {
    const answer = await tenant.api.offers.create({
      credentials: [id],
      claims: { ...claims, birthdate: '10.12.1990' },
    });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('org.iso.18013.5.1 birth_date must be a date such as 2026-01-31');
    expect(answer.text).not.toContain('10.12.1990');
  });

  it('refuses a configuration with faults, each with its reason', async () => {
    const { portrait: _, ...incomplete } = request.claimMappings[NAMESPACE];
    const answer = await tenant.api.mobile.create({
      ...request,
      claimMappings: { [NAMESPACE]: incomplete },
      expiresIn: { minutes: 5 },
      validFrom: { mapFrom: 'from' },
      branding: { issuerIcon: 'http://roads.example/icon.png' },
    } as never);
    expect(answer.status).toBe(400);
    expect((answer.body as unknown as { details: { param: string; msg: string }[] }).details).toMatchObject([
      { param: 'branding.issuerIcon', msg: 'must be an https URL or a data URL of an image' },
      { param: `claimMappings.${NAMESPACE}.portrait`, msg: `is required: it is mandatory for ${MDL}` },
      { param: 'expiresIn', msg: 'must be at least 2 hours' },
      {
        param: 'validFrom',
        msg: "must have a path such as claims.name, claims['name'] or authenticationProvider.subjectId in mapFrom",
      },
    ]);
  });
});

describe('a configuration whose elements have no types', () => {
  const PID = 'eu.europa.ec.eudi.pid.1';
  const elements = ['family_name', 'birth_date', 'expiry_date', 'portrait', 'sex', 'age_over_18', 'nationality', 'own'];
  const types = {
    ...{ family_name: 'string', birth_date: 'date', expiry_date: 'date', portrait: 'binary', sex: 'number' },
    ...{ age_over_18: 'boolean', nationality: 'string', own: undefined },
  };
  const untyped = {
    type: PID,
    claimMappings: { [PID]: Object.fromEntries(elements.map((name) => [name, { mapFrom: `claims.${name}` }])) },
    expiresIn: { days: 30 },
  };
  const shown = (configuration: { claimMappings: Record<string, Record<string, { type?: string }>> }) =>
    Object.fromEntries(Object.entries(configuration.claimMappings[PID]!).map(([name, { type }]) => [name, type]));
  const values = {
    ...{ family_name: 'Lovelace', birth_date: '1990-12-10', expiry_date: '2036-01-31', portrait: 'AQID', sex: 2 },
    ...{ age_over_18: true, nationality: 'AU', own: 'x' },
  };
  let pid: string;
  beforeAll(async () => {
    const made = expectStatus(await tenant.api.mobile.create(untyped as never), 201);
    pid = made.id;
    expect(shown(made)).toEqual(types);
  });

  it('shows those of the standard in each answer, and issues documents with them [T643]', async () => {
    expect(shown(expectStatus(await tenant.api.mobile.retrieve(pid), 200))).toEqual(types);
    const { data } = expectStatus(await tenant.api.mobile.list({ limit: 100 }), 200);
    expect(shown(data.find((one) => one.id === pid)!)).toEqual(types);
    expect(shown(expectStatus(await tenant.api.mobile.update(pid, untyped as never), 200))).toEqual(types);
    const { uri } = await offer({ credentials: [pid], claims: values });
    const key = await makeHolderKey();
    const { credentials } = await new Wallet().collect(uri, { keys: [key] });
    const verified = (await present({ credential: credentials[0]!.credential as string, key }, PID))[PID]!;
    expect(verified).toMatchObject({ family_name: 'Lovelace', sex: 2, age_over_18: true, own: 'x' });
    expect(Buffer.from(verified['portrait'] as Uint8Array)).toEqual(Buffer.from([1, 2, 3]));
    const encoded = Buffer.from(credentials[0]!.credential as string, 'base64url');
    // full-date: tag 1004 of a text of ten characters.
    for (const date of ['1990-12-10', '2036-01-31'])
      expect(encoded.includes(Buffer.concat([Buffer.from('d903ec6a', 'hex'), Buffer.from(date)]))).toBe(true);
  });

  it.each([
    ['birth_date', '10 December 1990', 'must be a date such as 2026-01-31'],
    ['portrait', 'no base64!', 'must be a string in base64 or base64url'],
    ['sex', 'female', 'must be a finite number'],
    ['age_over_18', 'yes', 'must be true or false'],
  ])('refuses an offer whose %s is %j [T644]', async (element, value, msg) => {
    const answer = await tenant.api.offers.create({ credentials: [pid], claims: { ...values, [element]: value } });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain(`${PID} ${element}`);
    expect(JSON.stringify(answer.body)).toContain(msg);
  });

  it('refuses a type that contradicts the standard [T644]', async () => {
    const portrait = { mapFrom: 'claims.portrait', type: 'string' };
    const body = { ...untyped, claimMappings: { [PID]: { ...untyped.claimMappings[PID], portrait } } };
    const answer = await tenant.api.mobile.update(pid, body as never);
    expect(answer.status).toBe(400);
    expect((answer.body as unknown as { details: object[] }).details).toEqual([
      {
        msg: 'must have binary in type, as the PID rulebook defines, not string',
        param: `claimMappings.${PID}.portrait`,
        location: 'body',
      },
    ]);
  });
});

describe('a document with a status', () => {
  /** Longer than a change takes until a verifier that retrieves the list notices it. */
  const within = { intervalMs: 200, what: 'the status in the list' };
  let configuration: string;
  beforeAll(async () => {
    const made = await tenant.api.mobile.create({ ...request, type: `${MDL}.listed`, includeStatus: true } as never);
    const { id: made_id, includeStatus } = expectStatus(made, 201);
    expect(includeStatus).toBe(true);
    configuration = made_id;
  });
  const collectListed = async (configurationId = configuration) => {
    const { uri, userId } = await offer({ credentials: [configurationId] });
    const [got] = (await new Wallet().collect(uri)).credentials;
    const credential = got!.credential as string;
    const listed = async () => expectStatus(await tenant.api.users.credentials(userId), 200).data;
    await waitUntil(async () => (await listed()).length > 0, { what: 'the record of the credential' });
    const { idx, uri: list } = (await mdocStatus(credential))!;
    await waitUntil(async () => (await hostFetch(list)).ok, { what: 'the token of the list' });
    return { id: (await listed())[0]!.id, idx, list, credential, key: got!.key };
  };
  const verify = async (got: { credential: string; key: HolderKey }, roots = [iaca]) => {
    await present(got, `${MDL}.listed`, roots);
    await verifyMdocStatus(got.credential, roots);
    return true;
  };
  const refused = (got: { credential: string; key: HolderKey }) =>
    waitUntil(async () => {
      const error = await verify(got).catch((caught: Error) => caught);
      if (error instanceof Error && error.message !== 'Status is not valid') throw error;
      return error instanceof Error;
    }, within);

  it('is accepted by an independent verifier, and refused within seconds once it is invalid [T170, T171]', async () => {
    const [got, kept] = [await collectListed(), await collectListed()];
    expect(got.list).toMatch(new RegExp(`^${tenant.url}/v2/credentials/mobile/status-lists/[0-9a-f-]{36}/token$`));
    expect(got.idx).toBeLessThan(100_000);
    expect(kept.idx).not.toBe(got.idx);
    await verify(got);
    const set = (status: string) => tenant.api.mobile.setStatus(got.id, { status } as never);
    expect(expectStatus(await set('suspended'), 201)).toEqual({ status: 'suspended' });
    await refused(got);
    expectStatus(await set('valid'), 201);
    await waitUntil(() => verify(got), within);
    // Its record is dropped, and its status is not changed.
    expectStatus(await tenant.api.mobile.deleteCredential(kept.id), 204);
    expectStatus(await set('invalid'), 201);
    await refused(got);
    expect(expectStatus(await tenant.api.mobile.status(got.id), 200)).toEqual({ status: 'invalid' });
    expect((await set('valid')).status).toBe(400);
    await verify(kept);
    expectStatus(await tenant.api.mobile.deleteCredential(got.id), 204);
    expect((await tenant.api.mobile.deleteCredential(got.id)).status).toBe(404);
    await refused(got);
  });

  it('has none unless its configuration says so', async () => {
    const [got] = await collect();
    expect(await mdocStatus(got!.credential)).toBeUndefined();
  });

  it('refers to a list that anyone can retrieve as CWT, and that is distributed [T172, T173]', async () => {
    const { list } = await collectListed();
    const answer = await hostFetch(list);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/statuslist+cwt',
      'cache-control': 'public, max-age=1',
      etag: expect.stringMatching(/^"[\w-]{43}(?:\.gzip)?"$/) as string,
      vary: 'Accept, Accept-Encoding',
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes[0]).toBe(0xd2);
    for (const [accept, type] of [
      ['*/*', 'application/statuslist+cwt'],
      ['application/*', 'application/statuslist+cwt'],
      ['application/cwt', 'application/cwt'],
    ]) {
      const named = await hostFetch(list, { headers: { accept: accept! } });
      expect([named.headers.get('content-type'), Buffer.from(await named.arrayBuffer()).equals(bytes)]).toEqual([
        type,
        true,
      ]);
    }
    const known = await hostFetch(list, { headers: { 'if-none-match': answer.headers.get('etag')! } });
    expect([known.status, await known.text()]).toEqual([304, '']);
    expect((await hostFetch(list, { headers: { accept: 'application/json' } })).status).toBe(406);
    const distribution = await hostFetch(`${tenant.url}/v2/credentials/mobile/status-lists/distribution`);
    expect(await distribution.json()).toEqual({ data: [{ status_lists: { uri: list } }] });
    const { data } = expectStatus(await tenant.api.statusLists.list(), 200);
    expect(data).toMatchObject([{ id: list.split('/').at(-2), listSize: 100_000, list: expect.any(String) as string }]);
    expect(data[0]).not.toHaveProperty('statusListConfigurationId');
  });

  it('is returned for a time at which it is valid, and for no other [T784]', async () => {
    const { list } = await collectListed();
    const { contents } = read<Tag>(Buffer.from(await (await hostFetch(list)).arrayBuffer()));
    const claims = decode<Map<number, number>>((contents as Uint8Array[])[2]!, { preferMap: true });
    const statusAt = async (time: unknown) => (await hostFetch(`${list}?time=${String(time)}`)).status;
    // Another token may have been signed in the meantime.
    expect(await statusAt(claims.get(6)! + 60)).toBe(200);
    for (const time of [1_700_000_000, 0, claims.get(6)! - 86_400, claims.get(4)! + 86_400])
      expect(await statusAt(time)).toBe(501);
    const refused = await hostFetch(`${list}?time=1700000000`);
    expect(await refused.json()).toMatchObject({
      code: 'NotImplemented',
      message: expect.stringMatching(/^time must be from/) as string,
    });
    for (const time of ['', 'now', '-1', '1.5', '1700000000&time=1', '2026-01-01'])
      expect(await statusAt(time)).toBe(400);
    expect((await hostFetch(`${list}?other=1`)).status).toBe(200);
  });

  it('has the durations of its document type [T174]', async () => {
    const type = 'org.example.durations';
    const durations = { timeToLiveDuration: { hours: 1 }, expiryDuration: { hours: 2 } };
    const configured = expectStatus(await tenant.api.statusLists.configure({ docType: type, ...durations }), 201);
    expect((await tenant.api.statusLists.configure({ docType: type, ...durations })).status).toBe(400);
    const made = expectStatus(await tenant.api.mobile.create({ ...request, type, includeStatus: true } as never), 201);
    const { list } = await collectListed(made.id);
    const { contents } = read<Tag>(Buffer.from(await (await hostFetch(list)).arrayBuffer()));
    const claims = decode<Map<number, number>>((contents as Uint8Array[])[2]!, { preferMap: true });
    expect([claims.get(65534), claims.get(4)! - claims.get(6)!]).toEqual([3600, 7200]);
    const { data } = expectStatus(await tenant.api.statusLists.list(), 200);
    const shown = data.find(({ id: listId }) => listId === list.split('/').at(-2));
    expect(shown).toMatchObject({ statusListConfigurationId: configured.id });
  });

  it('of an unmanaged IACA needs a status list signer that its owner certified [T175]', async () => {
    const customer = await CustomerIaca.create();
    const { certificatePem } = customer;
    const own = expectStatus(await tenant.api.iacas.create({ certificatePem }), 201);
    const { id: signerId, csrPem } = expectStatus(await tenant.api.documentSigners.create(own.id), 201);
    const certificate = { active: true, certificatePem: await customer.issue(csrPem!) };
    expectStatus(await tenant.api.documentSigners.update(signerId, certificate), 200);
    expectStatus(await tenant.api.iacas.update(own.id, true), 200);
    const managed = expectStatus(await tenant.api.iacas.list(), 200).data.filter(({ isManaged }) => isManaged);
    for (const one of managed) expectStatus(await tenant.api.iacas.update(one.id, false), 200);
    const { uri } = await offer({ credentials: [configuration] });
    expect(await requestCredential(uri, configuration, await makeHolderKey())).toEqual([
      400,
      'credential_request_denied',
      'no status list signer of the issuer is active and valid',
    ]);
    const made = expectStatus(await tenant.api.statusListSigners.create(own.id), 200);
    expect(made).toMatchObject({ active: false, isManaged: false, iacaId: own.id });
    const listed = { active: true, certificatePem: await customer.issue(made.csrPem!) };
    expectStatus(await tenant.api.statusListSigners.update(made.id, listed), 200);
    const got = await collectListed();
    await verify(got, [certificatePem]);
    await expect(verifyMdocStatus(got.credential, [iaca])).rejects.toThrow('no trusted IACA');
    for (const one of managed) expectStatus(await tenant.api.iacas.update(one.id, true), 200);
    expectStatus(await tenant.api.iacas.delete(own.id), 204);
  });
});

describe('a document in an identifier list', () => {
  /** Longer than a change takes until a verifier that retrieves the list notices it. */
  const within = { intervalMs: 200, what: 'the identifier in the list' };
  const type = 'org.example.identified';
  const listed = { includeStatus: true, statusMechanism: 'identifier_list' };

  it('is refused by a verifier within seconds after it was revoked, and others are not [T202, T203, T204]', async () => {
    const made = expectStatus(await tenant.api.mobile.create({ ...request, type, ...listed } as never), 201);
    expect(made).toMatchObject(listed);
    const collectOne = async () => {
      const { uri, userId } = await offer({ credentials: [made.id] });
      const credential = (await new Wallet().collect(uri)).credentials[0]!.credential as string;
      const recorded = async () => expectStatus(await tenant.api.users.credentials(userId), 200).data[0];
      const { id } = await waitUntil(async () => (await recorded()) ?? false, { what: 'the record' });
      return { id, credential, entry: (await mdocIdentifier(credential))! };
    };
    const [one, kept] = [await collectOne(), await collectOne()];
    const { id, uri } = one.entry;
    expect(uri).toMatch(new RegExp(`^${tenant.url}/v2/credentials/mobile/identifier-lists/[0-9a-f-]{36}/token$`));
    expect(kept.entry.uri).toBe(uri);
    expect([id.length, Buffer.from(id).equals(kept.entry.id)]).toEqual([16, false]);
    expect(await mdocStatus(one.credential)).toBeUndefined();
    await waitUntil(async () => (await hostFetch(uri)).ok, { what: 'the token of the list' });
    const answer = await hostFetch(uri);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      ...{ 'content-type': 'application/identifierlist+cwt', 'cache-control': 'public, max-age=1' },
      etag: expect.stringMatching(/^"[\w-]{43}(?:\.gzip)?"$/) as string,
    });
    const isRefused = () =>
      verifyMdocStatus(one.credential, [iaca]).then(
        () => false,
        ({ message }: Error) => {
          if (message !== 'Status is not valid') throw new Error(message);
          return true;
        },
      );
    const set = async (status: 'valid' | 'suspended' | 'invalid') =>
      expectStatus(await tenant.api.mobile.setStatus(one.id, { status }), 201);
    expect(await isRefused()).toBe(false);
    await set('suspended');
    await waitUntil(isRefused, within);
    await set('valid');
    await waitUntil(async () => !(await isRefused()), within);
    await set('invalid');
    await waitUntil(isRefused, within);
    await verifyMdocStatus(kept.credential, [iaca]);
  });

  it('needs a status', async () => {
    const answer = await tenant.api.mobile.create({
      ...request,
      type: 'org.example.none',
      ...listed,
      includeStatus: false,
    } as never);
    expect([answer.status, (answer.body as unknown as { details: object[] }).details]).toEqual([
      400,
      [
        {
          ...{ value: 'identifier_list', param: 'statusMechanism', location: 'body' },
          msg: 'must not be used without includeStatus: true',
        },
      ],
    ]);
    const wrong = await tenant.api.mobile.create({
      ...request,
      type: 'org.example.none',
      includeStatus: true,
      statusMechanism: 'crl',
    } as never);
    expect(wrong.body).toMatchObject({ details: [{ msg: 'must be one of: status_list, identifier_list' }] });
  });
});
