/** @engines embedded postgres */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AppError,
  createAuthenticationProvider,
  createCustomDomain,
  deleteAuthenticationProvider,
  deleteCustomDomain,
  listAuthenticationProviders,
  type AuthenticationProvider,
  type ContextOf,
  type PageOf,
} from '@attestry/contracts';
import {
  openEngines,
  parseConfig,
  ServiceClient,
  startServices,
  type Engines,
  type RunningServices,
} from '@attestry/service-kit';
import { OpenIdProvider, TEST_SETTINGS } from '@attestry/testing';
import { chosenEngines, describeIdempotency } from '@attestry/testing/services';
import { tenantConfigService } from './index.js';

const clock = { time: Date.parse('2026-03-01T10:00:00.000Z'), now: () => new Date(clock.time) };
let dataDir: string;
let engines: Engines;
let services: RunningServices;
let provider: OpenIdProvider;
let client: ServiceClient;
let serial = 0;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'idempotency-'));
  const config = parseConfig({
    ...TEST_SETTINGS,
    DATA_DIR: dataDir,
    ALLOW_PRIVATE_TARGETS: 'true',
  });
  engines = await chosenEngines(await openEngines(config, { clock }));
  services = await startServices([tenantConfigService], engines);
  provider = await OpenIdProvider.start('https://nobody.example');
  client = new ServiceClient(engines.bus, 'gateway');
});
afterAll(async () => {
  await services.close();
  await engines.close();
  await provider.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const contextOf = (
  tenantId: string,
  clientId = 'one',
  idempotencyKey?: string,
): ContextOf<typeof createCustomDomain> => ({
  tenant: { id: tenantId, host: 'acme.localhost', baseUrl: 'https://acme.localhost' },
  caller: { kind: 'client', clientId },
  requestId: `request${++serial}`,
  operation: 'test',
  deadline: Date.now() + 20_000,
  ...(idempotencyKey !== undefined && { idempotencyKey }),
});

/** A tenant has one at most: for another, the first one goes. */
const unlessAbsent = async (work: Promise<unknown>): Promise<void> => {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof AppError && error.kind === 'notFound')) throw error;
  }
};

describeIdempotency('creating a custom domain', {
  engines: () => engines,
  clock,
  category: 'customDomain',
  made: 'CustomDomainCreated',
  thing: () => {
    const tenantId = randomUUID();
    const domain = `d${++serial}.example.com`;
    return async ({ key, by, other }) => {
      if (other) await unlessAbsent(client.call(deleteCustomDomain, {}, contextOf(tenantId)));
      return client.call(
        createCustomDomain,
        {
          body: { name: 'Acme', logoUrl: 'https://acme.example/logo.png', domain: other ? `other.${domain}` : domain },
        },
        contextOf(tenantId, by, key),
      );
    };
  },
});

describeIdempotency('creating an authentication provider', {
  engines: () => engines,
  clock,
  category: 'authenticationProvider',
  made: 'AuthenticationProviderCreated',
  thing: () => {
    const tenantId = randomUUID();
    return async ({ key, by, other }) => {
      if (other) {
        const { data } = (await client.call(
          listAuthenticationProviders,
          { query: {} },
          contextOf(tenantId),
        )) as PageOf<AuthenticationProvider>;
        for (const { id } of data)
          await unlessAbsent(client.call(deleteAuthenticationProvider, { params: { id } }, contextOf(tenantId)));
      }
      return client.call(
        createAuthenticationProvider,
        {
          body: { url: provider.issuer, clientId: other ? 'other' : 'attestry', clientSecret: 'a-secret-of-a-client' },
        },
        contextOf(tenantId, by, key),
      );
    };
  },
});
