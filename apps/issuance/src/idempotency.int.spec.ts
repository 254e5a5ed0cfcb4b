/** @engines embedded postgres */
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
} from '@attestry/contracts';
import { CustomerIaca } from '@attestry/testing';
import { describeIdempotency, ServiceUnderTest, stoppedClock } from '@attestry/testing/services';
import { issuanceService } from './index.js';

const TENANT = '10000000-0000-4000-8000-00000000000a';
const DID = 'did:web:acme.example';
const service = new ServiceUnderTest(issuanceService, { clock: stoppedClock() });
service.answer(reserveIssuerKey, ({ body: { algorithms } }) => ({
  did: DID,
  verificationMethod: `${DID}#k1`,
  kmsKeyId: TENANT,
  algorithm: algorithms[0]!,
}));
service.answer(retrieveBrand, () => ({}));
service.answer(releaseIssuerKey, () => undefined);
let configurationId: string;
let serial = 0;

/** A call of a client with a key. */
const keyed = (key: string, clientId = 'one') =>
  ({ caller: { kind: 'client', clientId }, idempotencyKey: key }) as const;

const configuration = (type: string) => ({
  type,
  name: 'Membership',
  issuer: { name: 'Acme' },
  claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
});

beforeAll(async () => {
  await service.open();
  configurationId = (await service.admin(jwtVcConfigurations.create, { body: configuration('Offered') }, TENANT)).id;
});
afterAll(() => service.remove());

describeIdempotency('creating a user', {
  service,
  category: 'user',
  made: 'UserCreated',
  thing:
    () =>
    ({ key, by, other }) =>
      service.admin(createUser, { body: { claims: { name: other ? 'Eve' : 'Ada' } } }, TENANT, keyed(key, by)),
});

describe.each([
  ['web-semantic', webSemanticConfigurations.create],
  ['jwt-vc', jwtVcConfigurations.create],
] as const)('%s', (_profile, create) => {
  describeIdempotency('creating a configuration', {
    service,
    category: 'credentialConfiguration',
    made: 'CredentialConfigurationCreated',
    thing: () => {
      const type = `Type${++serial}`;
      return ({ key, by, other }) =>
        service.admin(create, { body: configuration(other ? `${type}Other` : type) } as never, TENANT, keyed(key, by));
    },
  });
});

describeIdempotency('creating an offer', {
  service,
  category: 'issuanceSession',
  made: 'PreAuthorizedOfferCreated',
  thing:
    () =>
    ({ key, by, other }) =>
      service.admin(
        createPreAuthorizedOffer,
        {
          body: {
            credentials: [configurationId],
            claims: { given_name: other ? 'Eve' : 'Ada' },
            claimsToPersist: ['given_name'],
            transactionCodeConfiguration: { inputMode: 'text' },
          },
        } as never,
        TENANT,
        keyed(key, by),
      ),
});

describeIdempotency('creating an offer of the authorization code flow', {
  service,
  category: 'authorizationOffer',
  made: 'AuthorizationOfferCreated',
  thing:
    () =>
    ({ key, by, other }) => {
      const claimSets = [{ claims: { given_name: other ? 'Eve' : 'Ada' } }];
      const credentials = [{ credentialConfigurationId: configurationId, claimSets }];
      return service.admin(createOffer, { body: { credentials } } as never, TENANT, keyed(key, by));
    },
});

/** A tenant of its own: their number is limited. */
const newTenant = () => `11${String(++serial).padStart(6, '0')}-0000-4000-8000-00000000000b`;

describeIdempotency('creating an IACA', {
  service,
  category: 'mobileCertificates',
  made: 'IacaCreated',
  thing: () => {
    const tenantId = newTenant();
    return ({ key, by, other }) =>
      service.admin(createIaca, { body: { commonName: other ? 'Other' : 'Roads' } }, tenantId, keyed(key, by));
  },
});

describeIdempotency('creating a status list configuration', {
  service,
  category: 'statusListConfigurations',
  made: 'StatusListConfigurationCreated',
  thing: () => {
    const tenantId = newTenant();
    const durations = { timeToLiveDuration: { days: 1 }, expiryDuration: { days: 2 } };
    return ({ key, by, other }) =>
      service.admin(
        createStatusListConfiguration,
        { body: { docType: other ? 'org.example.other' : 'org.example.card', ...durations } },
        tenantId,
        keyed(key, by),
      );
  },
});

describeIdempotency('registering a wallet', {
  service,
  category: 'wallets',
  made: 'WalletRegistered',
  thing: () => {
    const tenantId = newTenant();
    return ({ key, by, other }) =>
      service.admin(
        createWallet,
        { body: { name: 'W', clientId: other ? 'other' : 'city', redirectUris: ['https://wallet.example/back'] } },
        tenantId,
        keyed(key, by),
      );
  },
});

describe('with unmanaged IACAs', () => {
  /** Registered before the store fails; two of a tenant. */
  const registered: { tenantId: string; iacaIds: [string, string] }[] = [];
  beforeAll(async () => {
    // Their certificates are valid now.
    service.ahead += Math.max(0, Date.now() + 1000 - service.now().getTime());
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
      service,
      category: 'mobileCertificates',
      made: 'DocumentSignerRequested',
      thing: () => {
        const { tenantId, iacaIds } = registered.pop()!;
        return ({ key, by, other }) =>
          service.admin(
            operation as typeof createDocumentSigner,
            { body: { iacaId: iacaIds[other ? 1 : 0] } },
            tenantId,
            keyed(key, by),
          );
      },
    });
  });
});
const registerIaca = async (tenantId: string): Promise<string> => {
  const { certificatePem } = await CustomerIaca.create();
  return (await service.admin(createIaca, { body: { certificatePem } }, tenantId)).id;
};
