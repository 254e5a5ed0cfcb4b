import {
  connectManagement,
  createTenantUnderTest,
  decodeCwt,
  expectStatus,
  makeHolderKey,
  PLATFORM_START_MS,
  sharedPlatform,
  verifyJwtVc,
  verifyLdpVc,
  verifyMdoc,
  verifySdJwt,
  Wallet,
  type HolderKey,
  type TenantUnderTest,
} from '@attestry/testing';

/** Names that every JavaScript object has a member of; `__proto__` is refused by name (edge.e2e.spec.ts). */
const NAMES = Object.getOwnPropertyNames(Object.prototype).filter((name) => name !== '__proto__');
const NAMESPACE = 'org.example.names.1';
const docType = (type: string) => `org.example.names.${type}`;

type Values = Record<string, unknown>;
type Mappings = Record<string, { mapFrom?: string; defaultValue?: string; required?: true }>;
interface IssuedCredential {
  credential: string | Values;
  key: HolderKey;
}

let tenant: TenantUnderTest;
/** PEM of the IACA that is active. */
let iaca: string;

interface NamedFormat {
  configure(type: string, claimMappings: Mappings): Promise<string>;
  /** Own claims of a verified credential. */
  claimsOf(issued: IssuedCredential, type: string): Promise<Values>;
}

const withoutId = ({ id: _, ...claims }: Values): Values => claims;
const bare = (type: string, claimMappings: Mappings) => ({ type, claimMappings, expiresIn: { months: 6 } });
const named = (type: string, claimMappings: Mappings) => ({
  ...bare(type, claimMappings),
  name: type,
  issuer: { name: 'University' },
});

const FORMATS: Readonly<Record<string, NamedFormat>> = {
  jwt_vc_json: {
    configure: async (type, mappings) => expectStatus(await tenant.api.jwtVc.create(named(type, mappings)), 201).id,
    claimsOf: async ({ credential }) =>
      withoutId((await verifyJwtVc(credential as string)).payload.vc!['credentialSubject'] as Values),
  },
  ldp_vc: {
    configure: async (type, mappings) =>
      expectStatus(await tenant.api.webSemantic.create(named(type, mappings)), 201).id,
    claimsOf: async ({ credential }) => {
      await verifyLdpVc(credential as Values);
      return withoutId((credential as Values)['credentialSubject'] as Values);
    },
  },
  'dc+sd-jwt': {
    configure: async (type, mappings) => expectStatus(await tenant.api.sdJwt.create(named(type, mappings)), 201).id,
    claimsOf: async ({ credential, key }) => {
      const { payload } = await verifySdJwt(credential as string, key);
      const registered = ['iss', 'iat', 'nbf', 'exp', 'cnf', 'vct', 'vct#integrity'];
      return Object.fromEntries(Object.entries(payload).filter(([name]) => !registered.includes(name)));
    },
  },
  cwt: {
    configure: async (type, mappings) => expectStatus(await tenant.api.compact.create(bare(type, mappings)), 201).id,
    claimsOf: async ({ credential }) => {
      const { claims } = await decodeCwt(credential as string);
      return Object.fromEntries([...claims].filter(([key]) => typeof key === 'string'));
    },
  },
  cwt_vc: {
    configure: async (type, mappings) =>
      expectStatus(await tenant.api.compactSemantic.create(bare(`${type}Semantic`, mappings)), 201).id,
    claimsOf: async ({ credential }) => {
      const { claims } = await decodeCwt(credential as string);
      return withoutId((claims.get('vc') as { credentialSubject: Values }).credentialSubject);
    },
  },
  mso_mdoc: {
    configure: async (type, mappings) => {
      const request = { type: docType(type), claimMappings: { [NAMESPACE]: mappings }, expiresIn: { months: 6 } };
      return expectStatus(await tenant.api.mobile.create(request), 201).id;
    },
    claimsOf: async ({ credential, key }, type) => {
      const presented = { credential: credential as string, docType: docType(type), deviceKey: key.privateKey };
      return (await verifyMdoc({ ...presented, iacas: [iaca] }))[NAMESPACE]!;
    },
  },
};
const ENTRIES = Object.entries(FORMATS);

/** Each name as the name of a mapping and a claim, and as a step of a path. */
const OWN: Mappings = {
  always: { defaultValue: 'here' },
  ...Object.fromEntries(
    NAMES.flatMap((name) => [
      [name, { mapFrom: `claims.${name}` }],
      [`inner-${name}`, { mapFrom: `claims.inner.${name}` }],
      [`deep-${name}`, { mapFrom: `claims.${name}.${name}` }],
    ]),
  ),
};
/** Each name as the name of a mapping of another claim, and as a claim that is required. */
const OTHER: Mappings = Object.fromEntries(
  NAMES.flatMap((name) => [
    [name, { mapFrom: `claims.other-${name}` }],
    [`required-${name}`, { mapFrom: `claims.${name}`, required: true }],
  ]),
);
const required = Object.fromEntries(NAMES.map((name) => [name, `required ${name}`]));

/** Credential configurations, by format. */
const own = new Map<string, string>();
const other = new Map<string, string>();

beforeAll(async () => {
  const platform = await sharedPlatform();
  tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'object-names');
  const { api } = tenant;
  expectStatus(await api.dids.create({ method: 'web', options: { url: tenant.host } }), 201);
  const created = expectStatus(await api.iacas.create({ country: 'AU' }), 201);
  expectStatus(await api.iacas.update(created.id, true), 200);
  iaca = created.certificatePem;
  for (const [format, { configure }] of ENTRIES) {
    own.set(format, await configure('Own', OWN));
    other.set(format, await configure('Other', OTHER));
  }
}, PLATFORM_START_MS);

/** Claims of one credential of each format, from one offer. */
const issue = async (configurations: ReadonlyMap<string, string>, type: string, claims: Values) => {
  const credentials = [...configurations.values()];
  const { uri } = expectStatus(await tenant.api.offers.create({ credentials, claims }), 200);
  const key = await makeHolderKey('ES256', 'did:key');
  const collected = await new Wallet().collect(uri, { keys: [key] });
  const found = new Map<string, Values>();
  for (const [format, id] of configurations) {
    const { credential } = collected.credentials.find(({ configurationId }) => configurationId === id)!;
    found.set(format, await FORMATS[format]!.claimsOf({ credential, key }, type));
  }
  return found;
};
const inEachFormat = (claims: Values) => new Map(ENTRIES.map(([format]) => [format, claims]));

describe('names of Object.prototype, in each format [T671]', () => {
  it('are claims, mappings and steps of paths with the value that the offer has', async () => {
    const plain = Object.fromEntries(NAMES.map((name) => [name, `of ${name}`]));
    const inner = Object.fromEntries(NAMES.map((name) => [name, `inner ${name}`]));
    expect(await issue(own, 'Own', { ...plain, inner })).toEqual(
      inEachFormat({
        always: 'here',
        ...plain,
        ...Object.fromEntries(NAMES.map((name) => [`inner-${name}`, inner[name]])),
      }),
    );
  });

  it.each<[string, Values]>([
    ['claims', {}],
    ['such members', { inner: { other: 1 }, other: { inner: 'x' } }],
    ['objects', { inner: 'text' }],
  ])('have no value in an offer without %s', async (_, claims) =>
    expect(await issue(own, 'Own', claims)).toEqual(inEachFormat({ always: 'here' })),
  );

  it('are names of mappings of other claims', async () => {
    const values = Object.fromEntries(NAMES.map((name) => [`other-${name}`, `of ${name}`]));
    const always = Object.fromEntries(NAMES.map((name) => [`required-${name}`, required[name]]));
    expect(await issue(other, 'Other', required)).toEqual(inEachFormat(always));
    expect(await issue(other, 'Other', { ...required, ...values })).toEqual(
      inEachFormat({ ...always, ...Object.fromEntries(NAMES.map((name) => [name, `of ${name}`])) }),
    );
  });

  it.each(NAMES)('are required claims that an offer lacks: %s', async (name) => {
    const { [name]: _, ...claims } = required;
    const answer = await tenant.api.offers.create({ credentials: [...other.values()], claims });
    expect([answer.status, answer.body]).toEqual([
      400,
      expect.objectContaining({
        details: [...other].map(([format, id]) => {
          const claim = `${format === 'mso_mdoc' ? `${NAMESPACE} ` : ''}required-${name}`;
          return {
            msg: `must fit credential configuration ${id}: the required claim ${claim} has no value`,
            param: 'claims',
            location: 'body',
          };
        }),
      }),
    ]);
  });
});
