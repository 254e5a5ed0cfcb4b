/** @engines embedded postgres */
import { randomUUID } from 'node:crypto';
import { createUser, jwtVcConfigurations, reserveIssuerKey } from '@attestry/contracts';
import { describePurgedTenants, ServiceUnderTest } from '@attestry/testing/services';
import { ConfigurationsReadModel } from './settings/credential-configuration/configurations.read-model.js';
import { issuanceService } from './index.js';
import { UsersReadModel } from './users/user/users.read-model.js';

const service = new ServiceUnderTest(issuanceService, { settings: { ALLOW_PRIVATE_TARGETS: 'true' } });
service.answer(reserveIssuerKey, () => ({
  did: 'did:web:a.example',
  verificationMethod: 'did:web:a.example#k',
  kmsKeyId: randomUUID(),
  algorithm: 'P-256' as const,
}));

describePurgedTenants({
  service,
  models: () => [
    [service.get(UsersReadModel), 'issuance_users'],
    [service.get(ConfigurationsReadModel), 'issuance_configurations'],
  ],
  fill: async (tenantId) => {
    await service.admin(createUser, { body: { claims: { name: 'Ada' } } }, tenantId);
    const claimMappings = { a: { mapFrom: 'claims.a' } };
    const body = { type: 'Card', name: 'Card', issuer: { name: 'Acme' }, claimMappings };
    await service.admin(jwtVcConfigurations.create, { body }, tenantId);
  },
});
