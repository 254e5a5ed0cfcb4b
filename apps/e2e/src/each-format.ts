import {
  decodeCwt,
  expectStatus,
  makeHolderKey,
  verifyJwtVc,
  verifyLdpVc,
  verifyMdoc,
  verifySdJwt,
  Wallet,
  type HolderKey,
  type TenantUnderTest,
} from '@attestry/testing';

export type Values = Record<string, unknown>;
export type Mappings = Record<string, { mapFrom?: string; defaultValue?: unknown; required?: true }>;

interface IssuedCredential {
  credential: string | Values;
  key: HolderKey;
  /** Type in the request for the credential configuration. */
  type: string;
}

interface TestedFormat {
  /** Last part of the path of its configurations. */
  profile: string;
  /** @param elementType of the elements of mobile documents; default `string` */
  configurationOf(type: string, claimMappings: Mappings, elementType?: 'number'): object;
  /** Own claims of a credential, which is verified. */
  claimsOf(issued: IssuedCredential, iaca: string): Promise<Values>;
}

/** Namespace of the elements of mobile documents. */
export const NAMESPACE = 'org.example.elements.1';

const docType = (type: string) => `org.example.${type}`;
const withoutId = ({ id: _, ...claims }: Values): Values => claims;
const bare = (type: string, claimMappings: Mappings) => ({ type, claimMappings, expiresIn: { months: 6 } });
const named = (type: string, claimMappings: Mappings) => ({
  ...bare(type, claimMappings),
  name: type,
  issuer: { name: 'University' },
});

const REGISTERED: ReadonlySet<string> = new Set(['iss', 'iat', 'nbf', 'exp', 'cnf', 'vct', 'vct#integrity']);

export const FORMATS: Readonly<Record<string, TestedFormat>> = {
  jwt_vc_json: {
    profile: 'jwt-vc',
    configurationOf: named,
    claimsOf: async ({ credential }) =>
      withoutId((await verifyJwtVc(credential as string)).payload.vc!['credentialSubject'] as Values),
  },
  ldp_vc: {
    profile: 'web-semantic',
    configurationOf: named,
    claimsOf: async ({ credential }) => {
      await verifyLdpVc(credential as Values);
      return withoutId((credential as Values)['credentialSubject'] as Values);
    },
  },
  'dc+sd-jwt': {
    profile: 'sd-jwt',
    configurationOf: named,
    claimsOf: async ({ credential, key }) => {
      const { payload } = await verifySdJwt(credential as string, key);
      return Object.fromEntries(Object.entries(payload).filter(([name]) => !REGISTERED.has(name)));
    },
  },
  cwt: {
    profile: 'compact',
    configurationOf: bare,
    claimsOf: async ({ credential }) => {
      const { claims } = await decodeCwt(credential as string);
      return Object.fromEntries([...claims].filter(([key]) => typeof key === 'string'));
    },
  },
  cwt_vc: {
    profile: 'compact-semantic',
    // A cwt and a cwt_vc must not have the same type.
    configurationOf: (type, mappings) => bare(`${type}Semantic`, mappings),
    claimsOf: async ({ credential }) => {
      const { claims } = await decodeCwt(credential as string);
      return withoutId((claims.get('vc') as { credentialSubject: Values }).credentialSubject);
    },
  },
  mso_mdoc: {
    profile: 'mobile',
    configurationOf: (type, mappings, elementType) => {
      const elements = Object.entries(mappings).map(([name, mapping]) => [name, { ...mapping, type: elementType }]);
      return { ...bare(docType(type), {}), claimMappings: { [NAMESPACE]: Object.fromEntries(elements) as Mappings } };
    },
    claimsOf: async ({ credential, key, type }, iaca) => {
      const presented = { credential: credential as string, docType: docType(type), deviceKey: key.privateKey };
      return (await verifyMdoc({ ...presented, iacas: [iaca] }))[NAMESPACE]!;
    },
  },
};

/** Configurations of one type, one in each format. */
export interface Configurations {
  type: string;
  /** Id by format. */
  ids: ReadonlyMap<string, string>;
}

/** A tenant that issues credentials with the same claims in each format. */
export class EachFormat {
  private constructor(
    private readonly tenant: TenantUnderTest,
    /** PEM of the IACA that is active. */
    private readonly iaca: string,
  ) {}

  static async prepare(tenant: TenantUnderTest): Promise<EachFormat> {
    const { api, host } = tenant;
    expectStatus(await api.dids.create({ method: 'web', options: { url: host } }), 201);
    const { id, certificatePem } = expectStatus(await api.iacas.create({ country: 'AU' }), 201);
    expectStatus(await api.iacas.update(id, true), 200);
    return new EachFormat(tenant, certificatePem);
  }

  /** Formats of a tenant that was prepared before. */
  static async of(tenant: TenantUnderTest): Promise<EachFormat> {
    const { data } = expectStatus(await tenant.api.iacas.list(), 200);
    return new EachFormat(tenant, data.find(({ active }) => active)!.certificatePem);
  }

  async configure(type: string, mappings: Mappings, elementType?: 'number'): Promise<Configurations> {
    const ids = new Map<string, string>();
    for (const [format, { profile, configurationOf }] of Object.entries(FORMATS)) {
      const body = configurationOf(type, mappings, elementType);
      const path = `/v2/credentials/${profile}/configurations`;
      ids.set(
        format,
        expectStatus(await this.tenant.api.client.request<{ id: string }>('POST', path, { body }), 201).id,
      );
    }
    return { type, ids };
  }

  /** Claims of one credential in each format, from one offer. */
  async issue({ type, ids }: Configurations, claims: Values, more: object = {}): Promise<Map<string, Values>> {
    const offer = { credentials: [...ids.values()], claims, ...more };
    const { uri } = expectStatus(await this.tenant.api.offers.create(offer), 200);
    const key = await makeHolderKey('ES256', 'did:key');
    const { credentials } = await new Wallet().collect(uri, { keys: [key] });
    const found = new Map<string, Values>();
    for (const [format, id] of ids) {
      const { credential } = credentials.find(({ configurationId }) => configurationId === id)!;
      found.set(format, await FORMATS[format]!.claimsOf({ credential, key, type }, this.iaca));
    }
    return found;
  }
}

export const inEachFormat = (claims: Values) => new Map(Object.keys(FORMATS).map((format) => [format, claims]));
