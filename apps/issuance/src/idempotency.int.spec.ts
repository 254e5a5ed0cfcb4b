/** @engines embedded postgres */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createDocumentSigner,
  createIaca,
  createStatusListConfiguration,
  createStatusListSigner,
  createWallet,
  createOffer,
  createPreAuthorizedOffer,
  createUser,
  jwtVcConfigurations,
  releaseIssuerKey,
  reserveIssuerKey,
  retrieveBrand,
  webSemanticConfigurations,
  type ContextOf,
} from '@attestry/contracts';
import {
  openEngines,
  parseConfig,
  ServiceClient,
  startServices,
  type Engines,
  type RunningServices,
} from '@attestry/service-kit';
import { CustomerIaca, TEST_SETTINGS } from '@attestry/testing';
import { chosenEngines, describeIdempotency } from '@attestry/testing/services';
import { issuanceService } from './index.js';

const clock = { time: Date.parse('2026-03-01T10:00:00.000Z'), now: () => new Date(clock.time) };
const TENANT = '10000000-0000-4000-8000-00000000000a';
const DID = 'did:web:acme.example';
let dataDir: string;
let engines: Engines;
let services: RunningServices;
let client: ServiceClient;
let serial = 0;

const context = (
  clientId = 'one',
  idempotencyKey?: string,
  operation = 'test',
  tenantId = TENANT,
): ContextOf<typeof createUser> => ({
  tenant: { id: tenantId, host: 'acme.localhost', baseUrl: 'http://acme.localhost' },
  caller: { kind: 'client', clientId },
  requestId: `request${++serial}`,
  operation,
  deadline: Date.now() + 20_000,
  ...(idempotencyKey !== undefined && { idempotencyKey }),
});
const configuration = (type: string) => ({
  type,
  name: 'Membership',
  issuer: { name: 'Acme' },
  claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
});

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'idempotency-'));
  const config = parseConfig({ ...TEST_SETTINGS, DATA_DIR: dataDir });
  engines = await chosenEngines(await openEngines(config, { clock }));
  // A simulated dids service.
  engines.bus.serve(reserveIssuerKey.subject, async (data) => {
    const [algorithm] = (data as { body: { algorithms: string[] } }).body.algorithms;
    return { ok: true, data: { did: DID, verificationMethod: `${DID}#k1`, kmsKeyId: TENANT, algorithm } };
  });
  engines.bus.serve(retrieveBrand.subject, async () => ({ ok: true, data: {} }));
  engines.bus.serve(releaseIssuerKey.subject, async () => ({ ok: true, data: undefined }));
  services = await startServices([issuanceService], engines);
  client = new ServiceClient(engines.bus, 'gateway');
  const { create } = jwtVcConfigurations;
  configurationId = (
    await client.call(create, { body: configuration('Offered') }, context('one', undefined, create.name))
  ).id;
});
afterAll(async () => {
  await services.close();
  await engines.close();
  await rm(dataDir, { recursive: true, force: true });
});
let configurationId: string;

describeIdempotency('creating a user', {
  engines: () => engines,
  clock,
  category: 'user',
  made: 'UserCreated',
  thing:
    () =>
    ({ key, by, other }) =>
      client.call(createUser, { body: { claims: { name: other ? 'Eve' : 'Ada' } } }, context(by, key)),
});

describe.each([
  ['web-semantic', webSemanticConfigurations.create],
  ['jwt-vc', jwtVcConfigurations.create],
] as const)('%s', (_profile, create) => {
  describeIdempotency('creating a configuration', {
    engines: () => engines,
    clock,
    category: 'credentialConfiguration',
    made: 'CredentialConfigurationCreated',
    thing: () => {
      const type = `Type${++serial}`;
      return ({ key, by, other }) =>
        client.call(
          create,
          { body: configuration(other ? `${type}Other` : type) } as never,
          context(by, key, create.name),
        );
    },
  });
});

describeIdempotency('creating an offer', {
  engines: () => engines,
  clock,
  category: 'issuanceSession',
  made: 'OfferCreated',
  thing:
    () =>
    ({ key, by, other }) =>
      client.call(
        createPreAuthorizedOffer,
        {
          body: {
            credentials: [configurationId],
            claims: { given_name: other ? 'Eve' : 'Ada' },
            claimsToPersist: ['given_name'],
            transactionCodeConfiguration: { inputMode: 'text' },
          },
        } as never,
        context(by, key),
      ),
});

describeIdempotency('creating an offer of the authorization code flow', {
  engines: () => engines,
  clock,
  category: 'authorizationOffer',
  made: 'AuthorizationOfferCreated',
  thing:
    () =>
    ({ key, by, other }) => {
      const claimSets = [{ claims: { given_name: other ? 'Eve' : 'Ada' } }];
      const credentials = [{ credentialConfigurationId: configurationId, claimSets }];
      return client.call(createOffer, { body: { credentials } } as never, context(by, key, createOffer.name));
    },
});

/** A tenant of its own: their number is limited. */
const newTenant = () => `11${String(++serial).padStart(6, '0')}-0000-4000-8000-00000000000b`;

describeIdempotency('creating an IACA', {
  engines: () => engines,
  clock,
  category: 'mobileCertificates',
  made: 'IacaCreated',
  thing: () => {
    const tenantId = newTenant();
    return ({ key, by, other }) =>
      client.call(
        createIaca,
        { body: { commonName: other ? 'Other' : 'Roads' } },
        context(by, key, createIaca.name, tenantId),
      );
  },
});

describeIdempotency('creating a status list configuration', {
  engines: () => engines,
  clock,
  category: 'statusListConfigurations',
  made: 'StatusListConfigurationCreated',
  thing: () => {
    const tenantId = newTenant();
    const durations = { timeToLiveDuration: { days: 1 }, expiryDuration: { days: 2 } };
    return ({ key, by, other }) =>
      client.call(
        createStatusListConfiguration,
        { body: { docType: other ? 'org.example.other' : 'org.example.card', ...durations } },
        context(by, key, createStatusListConfiguration.name, tenantId),
      );
  },
});

describeIdempotency('registering a wallet', {
  engines: () => engines,
  clock,
  category: 'wallets',
  made: 'WalletRegistered',
  thing: () => {
    const tenantId = newTenant();
    return ({ key, by, other }) =>
      client.call(
        createWallet,
        { body: { name: 'W', clientId: other ? 'other' : 'city', redirectUris: ['https://wallet.example/back'] } },
        context(by, key, createWallet.name, tenantId),
      );
  },
});

describe('with unmanaged IACAs', () => {
  /** Registered before the store fails; two of a tenant. */
  const registered: { tenantId: string; iacaIds: [string, string] }[] = [];
  beforeAll(async () => {
    // Their certificates are valid now.
    clock.time = Math.max(clock.time, Date.now() + 1000);
    for (let n = 0; n < 32; n++) {
      const tenantId = newTenant();
      registered.push({ tenantId, iacaIds: [await registerIaca(tenantId), await registerIaca(tenantId)] });
    }
  });

  describe.each([
    ['a document signer', createDocumentSigner],
    ['a status list signer', createStatusListSigner],
  ])('of which each has signers', (what, operation) => {
    describeIdempotency(`creating ${what}`, {
      engines: () => engines,
      clock,
      category: 'mobileCertificates',
      made: 'DocumentSignerRequested',
      thing: () => {
        const { tenantId, iacaIds } = registered.pop()!;
        return ({ key, by, other }) =>
          client.call(
            operation as typeof createDocumentSigner,
            { body: { iacaId: iacaIds[other ? 1 : 0] } },
            context(by, key, operation.name, tenantId),
          );
      },
    });
  });
});
const registerIaca = async (tenantId: string): Promise<string> => {
  const { certificatePem } = await CustomerIaca.create();
  return (
    await client.call(createIaca, { body: { certificatePem } }, context('one', undefined, createIaca.name, tenantId))
  ).id;
};
