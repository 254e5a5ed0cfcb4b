/** @engines embedded postgres */
import { randomUUID } from 'node:crypto';
import {
  AppError,
  createAuthenticationProvider,
  createCustomDomain,
  deleteAuthenticationProvider,
  deleteCustomDomain,
  listAuthenticationProviders,
  type AuthenticationProvider,
  type PageOf,
} from '@attestry/contracts';
import { OpenIdProvider } from '@attestry/testing';
import { describeIdempotency, ServiceUnderTest, stoppedClock } from '@attestry/testing/services';
import { tenantConfigService } from './index.js';

const service = new ServiceUnderTest(tenantConfigService, {
  settings: { ALLOW_PRIVATE_TARGETS: 'true' },
  clock: stoppedClock(),
});
let provider: OpenIdProvider;
let serial = 0;

beforeAll(async () => {
  await service.open();
  provider = await OpenIdProvider.start('https://nobody.example');
});
afterAll(async () => {
  await service.remove();
  await provider.stop();
});

/** A call of a client with a key. */
const keyed = (key: string, clientId = 'one') =>
  ({ caller: { kind: 'client', clientId }, idempotencyKey: key }) as const;

/** A tenant has one at most: for another, the first one goes. */
const unlessAbsent = async (work: Promise<unknown>): Promise<void> => {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof AppError && error.kind === 'notFound')) throw error;
  }
};

describeIdempotency('creating a custom domain', {
  service,
  category: 'customDomain',
  made: 'CustomDomainCreated',
  thing: () => {
    const tenantId = randomUUID();
    const domain = `d${++serial}.example.com`;
    return async ({ key, by, other }) => {
      if (other) await unlessAbsent(service.admin(deleteCustomDomain, {}, tenantId));
      return service.admin(
        createCustomDomain,
        {
          body: { name: 'Acme', logoUrl: 'https://acme.example/logo.png', domain: other ? `other.${domain}` : domain },
        },
        tenantId,
        keyed(key, by),
      );
    };
  },
});

describeIdempotency('creating an authentication provider', {
  service,
  category: 'authenticationProvider',
  made: 'AuthenticationProviderCreated',
  thing: () => {
    const tenantId = randomUUID();
    return async ({ key, by, other }) => {
      if (other) {
        const { data } = (await service.admin(
          listAuthenticationProviders,
          {},
          tenantId,
        )) as PageOf<AuthenticationProvider>;
        for (const { id } of data)
          await unlessAbsent(service.admin(deleteAuthenticationProvider, { params: { id } }, tenantId));
      }
      return service.admin(
        createAuthenticationProvider,
        {
          body: { url: provider.issuer, clientId: other ? 'other' : 'attestry', clientSecret: 'a-secret-of-a-client' },
        },
        tenantId,
        keyed(key, by),
      );
    };
  },
});
