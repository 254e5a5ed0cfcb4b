import jsqr from 'jsqr';
import type { Browser } from 'playwright-core';
import {
  chromiumPath,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  hostFetch,
  PLATFORM_START_MS,
  settledRecords,
  sharedPlatform,
  skipSuite,
  startBrowser,
  waitUntil,
  Wallet,
  type Answer,
  type TenantUnderTest,
} from '@attestry/testing';

let tenant: TenantUnderTest;
let other: TenantUnderTest;

const names = { mapFrom: 'claims.given_name', required: true };
/** By format; each requires `given_name`, and most have claims with rules for their values. */
const configurations: Record<string, string> = {};
let course: string;

beforeAll(async () => {
  const platform = await sharedPlatform();
  const management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'offering');
  other = await createTenantUnderTest(platform, management, 'offering-rival');
  const { api } = tenant;
  for (const keyType of ['Ed25519', 'P-256'] as const)
    expectStatus(await api.dids.create({ method: 'key', options: { keyType } }), 201);
  expectStatus(await api.dids.create({ method: 'web', options: { url: tenant.host } }), 201);
  const iaca = expectStatus(await api.iacas.create({}), 201);
  expectStatus(await api.iacas.update(iaca.id, true), 200);
  const claimMappings = { given_name: names, level: { mapFrom: 'claims.level' } };
  const named = { type: 'Course', name: 'Course', issuer: { name: 'College' }, claimMappings };
  const created = {
    jwt_vc_json: await api.jwtVc.create(named),
    ldp_vc: await api.webSemantic.create(named),
    'dc+sd-jwt': await api.sdJwt.create(named),
    cwt: await api.compact.create({ type: 'Course', claimMappings, expiresIn: { days: 9 } }),
    cwt_vc: await api.compactSemantic.create({ type: 'Award', claimMappings, expiresIn: { days: 9 } }),
    mso_mdoc: await api.mobile.create({
      type: 'org.example.course',
      claimMappings: { 'org.example.1': { given_name: names, level: { mapFrom: 'claims.level', type: 'number' } } },
      expiresIn: { days: 9 },
    }),
  };
  for (const [format, answer] of Object.entries(created))
    configurations[format] = expectStatus<{ id: string }>(answer, 201).id;
  course = configurations['jwt_vc_json']!;
}, 2 * PLATFORM_START_MS);

const offer = async (body: object = {}) =>
  expectStatus(await tenant.api.offers.create({ credentials: [course], claims: { given_name: 'Ada' }, ...body }), 200);

const FORMATS = ['jwt_vc_json', 'ldp_vc', 'dc+sd-jwt', 'cwt', 'cwt_vc', 'mso_mdoc'];
const nameOf = (format: string, claim: string) => (format === 'mso_mdoc' ? `org.example.1 ${claim}` : claim);
/** A value of `level` that the format cannot express, and why. */
const WRONG: [format: string, level: unknown, rule: string][] = [
  ['ldp_vc', { '@id': 'urn:x' }, 'must not have a member name that starts with @, which JSON-LD reserves'],
  [
    'dc+sd-jwt',
    { _sd: [] },
    'must not have a member with the reserved name _sd, which has a meaning of its own in an SD-JWT',
  ],
  ['cwt', [1], 'must be a boolean, a string or a number, not an array'],
  ['mso_mdoc', 'canary', 'must be a finite number'],
];

describe('claims that a credential cannot be issued with', () => {
  const refusalOf = async (format: string, claims: Record<string, unknown>) => {
    const answer = await tenant.api.offers.create({ credentials: [configurations[format]!], claims });
    return expectStatus<{ details?: object[] }>(answer as Answer<never>, 400).details;
  };
  const detail = (format: string, fault: string) => [
    { param: 'claims', location: 'body', msg: `must fit credential configuration ${configurations[format]}: ${fault}` },
  ];

  it.each(FORMATS)('without a required one, the offer of %s is a 400 that names it [T435]', async (format) =>
    expect(await refusalOf(format, { level: 1 })).toEqual(
      detail(format, `the required claim ${nameOf(format, 'given_name')} has no value`),
    ),
  );

  it.each(WRONG)(
    'with one of the wrong type, the offer of %s is a 400 that names it [T435]',
    async (format, level, rule) =>
      expect(await refusalOf(format, { given_name: 'Ada', level })).toEqual(
        detail(format, `${nameOf(format, 'level')} ${rule}`),
      ),
  );

  describe('with a claims source', () => {
    const sourced: Record<string, string> = {};
    beforeAll(async () => {
      const { api } = tenant;
      // Never called: nothing is issued.
      const source = { name: 'Register', url: 'http://127.0.0.1:9/claims' };
      const { id: claimSourceId } = expectStatus(await api.claimSources.create(source), 201);
      const claimMappings = {
        given_name: names,
        level: { mapFrom: 'claims.level' },
        subject: { mapFrom: 'authenticationProvider.subjectId' },
      };
      const named = { type: 'Sourced', name: 'Course', issuer: { name: 'College' }, claimMappings, claimSourceId };
      const required = { ...claimMappings, subject: { ...claimMappings.subject, required: true } };
      const expiresIn = { days: 9 };
      const created = {
        jwt_vc_json: await api.jwtVc.create(named),
        ldp_vc: await api.webSemantic.create(named),
        'dc+sd-jwt': await api.sdJwt.create(named),
        cwt: await api.compact.create({ type: 'Sourced', claimMappings, expiresIn, claimSourceId }),
        cwt_vc: await api.compactSemantic.create({ type: 'SourcedAward', claimMappings, expiresIn, claimSourceId }),
        mso_mdoc: await api.mobile.create({
          ...{ type: 'org.example.sourced', expiresIn, claimSourceId },
          claimMappings: { 'org.example.1': { ...claimMappings, level: { mapFrom: 'claims.level', type: 'number' } } },
        }),
        linked: await api.jwtVc.create({ ...named, type: 'Linked', claimMappings: required }),
      };
      for (const [format, answer] of Object.entries(created))
        sourced[format] = expectStatus<{ id: string }>(answer, 201).id;
    });
    const offerOf = (format: string, ...claimSets: Record<string, unknown>[]) =>
      tenant.api.offers.create({
        ...{
          credentials: [
            { credentialConfigurationId: sourced[format]!, claimSets: claimSets.map((claims) => ({ claims })) },
          ],
        },
        claims: {},
      });
    const faultsOf = (answer: Answer<unknown>) =>
      expectStatus<{ details?: { param: string; msg: string }[] }>(answer as Answer<never>, 400).details?.map(
        ({ param, msg }) => [param, msg],
      );

    it.each(FORMATS)(
      'the offer of %s may lack claims that it supplies, but not in a claim set [T435]',
      async (format) => {
        const credentials = [sourced[format]!];
        expectStatus(await tenant.api.offers.create({ credentials, claims: {} }), 200);
        expectStatus(await offerOf(format, {}, { given_name: 'Ada' }), 200);
        const claim = nameOf(format, 'given_name');
        expect(faultsOf(await offerOf(format, {}, { given_name: null }))).toEqual([
          [
            'credentials.0.claimSets.1.claims',
            `must fit credential configuration ${sourced[format]}: the required claim ${claim} has no value`,
          ],
        ]);
      },
    );

    it.each(WRONG)(
      'the offer of %s may have claims of the wrong type that it replaces, but not in a claim set [T435]',
      async (format, level, rule) => {
        expectStatus(await tenant.api.offers.create({ credentials: [sourced[format]!], claims: { level } }), 200);
        expect(faultsOf(await offerOf(format, { given_name: 'Ada' }, { level }))).toEqual([
          [
            'credentials.0.claimSets.1.claims',
            `must fit credential configuration ${sourced[format]}: ${nameOf(format, 'level')} ${rule}`,
          ],
        ]);
      },
    );

    it('the offer for a person who has not signed in cannot require an identifier of the provider [T435]', async () => {
      const credentials = [sourced['linked']!];
      const claims = { given_name: 'Ada', subject: 'ada' };
      expect(faultsOf(await tenant.api.offers.create({ credentials, claims }))).toEqual([
        [
          'claims',
          `must fit credential configuration ${sourced['linked']}: the required claim subject, mapped from authenticationProvider.subjectId, has no value`,
        ],
      ]);
    });
  });

  /** The answer of the credential endpoint, where the user's claims change after the offer, and the record of the call. */
  const denial = async (format: string, claims: Record<string, unknown>) => {
    const { api } = tenant;
    const { id: userId } = expectStatus(await api.users.create({ claims: { given_name: 'Ada' } }), 201);
    const { uri } = await offer({ credentials: [configurations[format]], userId, claims: {} });
    expectStatus(await api.users.update(userId, { claims }), 200);
    const refused: unknown = await new Wallet().collect(uri).then(
      () => 'issued',
      (error: unknown) => error,
    );
    const types = ['OPENID_CREDENTIAL_FAIL'];
    const { metadata } = await waitUntil(
      async () => {
        await settledRecords(api);
        const { data } = expectStatus(await api.analytics.list({ types, limit: 100 }), 200);
        return data.find((one) => (one.metadata as { userId?: string }).userId === userId);
      },
      { what: 'the record of the refusal' },
    );
    return { text: JSON.stringify(refused, Object.getOwnPropertyNames(refused)), metadata };
  };

  it.each(FORMATS)('without a required one, the refusal and the record of %s name it [T436]', async (format) => {
    const claim = nameOf(format, 'given_name');
    const message = `the required claim ${claim} has no value`;
    const { metadata } = await denial(format, { level: 1 });
    expect(metadata).toMatchObject({
      credentialConfigurationId: configurations[format],
      claim,
      error: { status: 400, code: 'credential_request_denied', message },
    });
  });

  it.each(WRONG)(
    'with one of the wrong type, the refusal and the record of %s name it [T436]',
    async (format, level) => {
      const { metadata, text } = await denial(format, { given_name: 'Ada', level });
      const claim = nameOf(format, 'level');
      expect(metadata).toMatchObject({ claim, error: { code: 'credential_request_denied' } });
      expect((metadata as { error: { message: string } }).error.message).toContain(`${claim} must`);
      expect(JSON.stringify(metadata) + text).not.toContain('canary');
    },
  );
});

describe('the list of pre-authorized offers', () => {
  it('has the state of each and what was issued, but no code, in pages, of the tenant alone [T446, T447]', async () => {
    const { api } = tenant;
    const claimed = await offer();
    const { credentials } = await new Wallet().collect(claimed.uri);
    const deleted = await offer({ transactionCodeConfiguration: {} });
    expectStatus(await api.offers.delete(deleted.id), 204);
    const open = await offer({ credentials: Object.values(configurations), expiresIn: { minutes: 9 } });
    const ended = await offer({ expiresIn: { seconds: 1 } });
    const forgotten = await offer();
    expectStatus(await api.users.delete(forgotten.userId), 204);

    const all = async () => {
      const found = [];
      for (let cursor: string | undefined; ;) {
        const page = expectStatus(await api.offers.list({ limit: 7, ...(cursor !== undefined && { cursor }) }), 200);
        found.push(...page.data);
        cursor = page.nextCursor;
        if (cursor === undefined) return found;
        expect(page.data).toHaveLength(7);
      }
    };
    const listed = await waitUntil(
      async () => {
        const found = await all();
        const states = new Map(found.map(({ id, state }) => [id, state]));
        const isSettled = states.get(claimed.id) === 'CLAIMED' && states.get(ended.id) === 'EXPIRED';
        return isSettled && !states.has(forgotten.id) && found;
      },
      { what: 'the states of the offers' },
    );
    expect(listed.filter(({ id }) => [claimed, deleted, open, ended].some((one) => one.id === id))).toMatchObject([
      { id: claimed.id, state: 'CLAIMED', credentials: [course], userId: claimed.userId, expiresAt: claimed.expiresAt },
      { id: deleted.id, state: 'DELETED', issuedCredentials: [] },
      { id: open.id, state: 'CREATED', credentials: Object.values(configurations), issuedCredentials: [] },
      { id: ended.id, state: 'EXPIRED', issuedCredentials: [] },
    ]);
    for (const one of listed) expect(one).toEqual(expectStatus(await api.offers.retrieve(one.id), 200));
    const { issuedCredentials } = listed.find(({ id }) => id === claimed.id)!;
    expect(issuedCredentials).toMatchObject([
      { credentialConfigurationId: course, type: 'Course', format: 'jwt_vc_json' },
    ]);
    expect(credentials).toHaveLength(1);
    const text = JSON.stringify(listed);
    for (const { uri, qrUrl, transactionCode = 'none' } of [claimed, deleted, open])
      for (const secret of [new URL(qrUrl).pathname.split('/').at(-2)!.split('.')[1]!, codeOf(uri), transactionCode])
        expect(text).not.toContain(secret);

    expectStatus(await other.api.offers.retrieve(open.id), 404);
    expect(expectStatus(await other.api.offers.list(), 200).data).toEqual([]);
  });
});

const codeOf = (uri: string): string => {
  const { grants } = JSON.parse(new URL(uri).searchParams.get('credential_offer')!) as {
    grants: Record<string, { 'pre-authorized_code': string }>;
  };
  return Object.values(grants)[0]!['pre-authorized_code'];
};
const imageOf = (url: string, accept?: string) =>
  hostFetch(url, { headers: { ...(accept !== undefined && { accept }) } });
const statusOf = async (url: string) => (await imageOf(url)).status;

describe('the QR code of an offer', () => {
  it('is public, an SVG or PNG by Accept, and never cached [T449]', async () => {
    const { qrUrl } = await offer();
    expect(qrUrl.startsWith(`${tenant.url}/v1/openid/offers/`)).toBe(true);
    const accepted: [string | undefined, number, string][] = [
      [undefined, 200, 'image/svg+xml'],
      ['*/*', 200, 'image/svg+xml'],
      ['image/avif,image/png,image/*;q=0.5', 200, 'image/png'],
      ['image/*', 200, 'image/svg+xml'],
      ['image/png', 200, 'image/png'],
      ['text/html, image/jpeg', 406, 'application/json; charset=utf-8'],
      ['application/*', 406, 'application/json; charset=utf-8'],
    ];
    for (const [accept, status, type] of accepted) {
      const { headers, status: answered } = await imageOf(qrUrl, accept);
      expect([accept, answered]).toEqual([accept, status]);
      expect(headers.get('content-type')).toBe(type);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('vary')).toMatch(/accept/i);
    }
    const refused = await imageOf(qrUrl, 'text/html');
    expect(await refused.json()).toMatchObject({ message: 'Accept must allow image/svg+xml or image/png' });
  });

  it('ends with the offer, and needs its secret and its tenant [T449, T453]', async () => {
    const made = await offer();
    const foreign = made.qrUrl.replace(tenant.url, other.url);
    const guessed = made.qrUrl.replace(/\.[^/]+\/qr$/, `.${'A'.repeat(43)}/qr`);
    for (const url of [foreign, guessed]) expect(await statusOf(url)).toBe(404);
    expect(await statusOf(made.qrUrl)).toBe(200);
    await new Wallet().collect(made.uri);
    expect(await statusOf(made.qrUrl)).toBe(404);
    const deleted = await offer();
    expectStatus(await tenant.api.offers.delete(deleted.id), 204);
    expect(await statusOf(deleted.qrUrl)).toBe(404);
    const short = await offer({ expiresIn: { seconds: 1 } });
    await waitUntil(async () => (await statusOf(short.qrUrl)) === 404, { what: 'the end of the offer' });
  });

  it('of the authorization code flow ends with the stored offer, and with its configurations [T451]', async () => {
    const { api } = tenant;
    const claimMappings = { given_name: names };
    const named = { type: 'Ended', name: 'Ended', issuer: { name: 'College' }, claimMappings };
    const ending = expectStatus(await api.jwtVc.create(named), 201).id;
    const request_parameters = { login_hint: 'canary@example.com' };
    const plain = expectStatus(await api.offers.createOpen({ credentials: [ending, course], request_parameters }), 200);
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const stored = expectStatus(await api.offers.createOpen({ credentials: [course], expiresAt }), 200);
    expect(plain).not.toHaveProperty('id');
    for (const { uri, uriByReference, qrUrl } of [plain, stored]) {
      const address = new URL(uriByReference!).searchParams.get('credential_offer_uri')!;
      const content = await hostFetch(address);
      expect([content.status, content.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(await content.json()).toEqual(JSON.parse(new URL(uri).searchParams.get('credential_offer')!));
      expect(await statusOf(qrUrl!)).toBe(200);
      expect(Buffer.from(address.split('/').at(-2)!.split('.').at(-1)!, 'base64url').toString()).not.toContain(
        'canary',
      );
      for (const url of [qrUrl!, address]) {
        expect(await statusOf(url.replace(tenant.url, other.url))).toBe(404);
        const reference = url.split('/').at(-2)!;
        const changed = `${reference.slice(0, -8)}${reference.at(-8) === 'A' ? 'B' : 'A'}${reference.slice(-7)}`;
        expect(await statusOf(url.replace(reference, changed))).toBe(404);
      }
    }
    expectStatus(await api.offers.deleteOpen(stored.id!), 204);
    expect(await statusOf(stored.qrUrl!)).toBe(404);
    expectStatus(await api.jwtVc.delete(ending), 204);
    await waitUntil(async () => (await statusOf(plain.qrUrl!)) === 404, { what: 'the end of the configuration' });
    const long = { ui: 'x'.repeat(1000), login_hint: 'y'.repeat(1000) };
    const tooLong = expectStatus(await api.offers.createOpen({ credentials: [course], request_parameters: long }), 200);
    expect(Object.keys(tooLong)).toEqual(['uri']);
  });
});

const suite = 'e2e: QR codes in a browser';
const missing = chromiumPath() === undefined ? 'Chromium is not installed (Debian: apt install chromium)' : undefined;
if (missing !== undefined) skipSuite(suite, missing);

(missing === undefined ? describe : describe.skip)('a browser shows the QR code', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  }, PLATFORM_START_MS);
  afterAll(() => browser?.close());

  /** Text that an independent decoder reads from the pixels that Chromium draws. */
  const shown = async (url: string, accept: string): Promise<string | undefined> => {
    const answer = await imageOf(url, accept);
    const data = `data:${accept};base64,${Buffer.from(await answer.arrayBuffer()).toString('base64')}`;
    const page = await browser.newPage();
    try {
      const size = 1100;
      const drawn = await page.evaluate(
        `(async () => {
          const image = new Image(${size}, ${size});
          image.src = ${JSON.stringify(data)};
          await image.decode();
          const canvas = Object.assign(document.createElement('canvas'), { width: ${size}, height: ${size} });
          const context = canvas.getContext('2d');
          context.imageSmoothingEnabled = false;
          context.drawImage(image, 0, 0, ${size}, ${size});
          const { data } = context.getImageData(0, 0, ${size}, ${size});
          let bits = '';
          for (let at = 0; at < data.length; at += 4) bits += data[at] > 127 ? '1' : '0';
          return bits;
        })()`,
      );
      const pixels = new Uint8ClampedArray(size * size * 4);
      for (const [at, bit] of [...(drawn as string)].entries())
        pixels.set(bit === '1' ? [255, 255, 255, 255] : [0, 0, 0, 255], at * 4);
      return jsqr.default(pixels, size, size)?.data;
    } finally {
      await page.close();
    }
  };

  it('of both kinds of offers, whose URI by reference an independent decoder reads from it [T450]', async () => {
    const made = await offer();
    const open = expectStatus(await tenant.api.offers.createOpen({ credentials: [course] }), 200);
    for (const { uriByReference, qrUrl } of [made, open])
      for (const accept of ['image/svg+xml', 'image/png']) expect(await shown(qrUrl!, accept)).toBe(uriByReference);
    const text = (await shown(made.qrUrl, 'image/png'))!;
    const { credentials } = await new Wallet().collect(text);
    expect(credentials).toHaveLength(1);
  }, 120_000);

  it('of long offers too; that of a pre-authorized offer has the size of a short one [T450, T659]', async () => {
    const made = await offer({ transactionCodeConfiguration: { description: '漢'.repeat(300) } });
    expect(made.uri.length).toBeGreaterThan(2953);
    expect(await shown(made.qrUrl, 'image/svg+xml')).toBe(made.uriByReference);
    const sizeOf = async ({ qrUrl }: { qrUrl: string }) =>
      /viewBox="[^"]+"/.exec(await (await imageOf(qrUrl)).text())![0];
    expect(await sizeOf(made)).toBe(await sizeOf(await offer()));

    const request_parameters = { ui: '漢'.repeat(330) };
    const open = expectStatus(await tenant.api.offers.createOpen({ credentials: [course], request_parameters }), 200);
    expect(open.uri.length).toBeGreaterThan(2953);
    expect(await shown(open.qrUrl!, 'image/svg+xml')).toBe(open.uriByReference);
  }, 120_000);
});
