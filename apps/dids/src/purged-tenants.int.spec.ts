/** @engines embedded postgres */
import { randomUUID } from 'node:crypto';
import { createDid, reserveIssuerKey } from '@attestry/contracts';
import { describePurgedTenants, ServiceUnderTest } from '@attestry/testing/services';
import { DidListsReadModel } from './did-lists/did-lists.read-model.js';
import { didsService } from './index.js';

const service = new ServiceUnderTest(didsService, { settings: { ALLOW_PRIVATE_TARGETS: 'true' } });

describePurgedTenants({
  service,
  models: () => [[service.get(DidListsReadModel), 'did', 'did_reservation']],
  fill: async (tenantId) => {
    const body = { method: 'key', options: { keyType: 'Ed25519' } };
    const { did } = await service.admin(createDid, { body }, tenantId);
    await service
      .clientOf('issuance')
      .call(
        reserveIssuerKey,
        { body: { did, configurationId: randomUUID(), algorithms: ['Ed25519'] } },
        service.asClient(tenantId),
      );
  },
});
