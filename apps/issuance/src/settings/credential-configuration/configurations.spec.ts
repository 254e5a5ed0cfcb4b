import { projected } from '@attestry/testing';
import { configurations, type ConfigurationRow } from './configurations.read-model.js';

const given = projected(configurations);
const of = { id: 'c1' };
const row: ConfigurationRow = {
  tenant_id: 't1',
  id: 'c1',
  format: 'jwt_vc_json',
  type: 'UniversityDegree',
  issuer_key: 'null',
  content: '{"maxIssuances":1}',
  version: 1,
  created_at: '2026-03-01T00:00:00.000Z',
};
const { format, type: credentialType, created_at: createdAt } = row;
const data = { format, credentialType, content: { maxIssuances: 1 }, createdAt };
const created = { type: 'CredentialConfigurationCreated', data, of } as const;
const replaced = (maxIssuances: number) =>
  ({ type: 'CredentialConfigurationContentReplaced', data: { content: { maxIssuances } }, of }) as const;

describe('the list of credential configurations', () => {
  it('has each with its key, its content and its number of events', () => {
    given(created).expectRows({ issuance_configurations: [row] });
    given({ ...created, data: { ...data, issuerKey: { did: 'did:web:a' } } }).expectRows({
      issuance_configurations: [{ ...row, issuer_key: '{"did":"did:web:a"}' }],
    });
    given(created, replaced(2), replaced(3)).expectRows({
      issuance_configurations: [{ ...row, content: '{"maxIssuances":3}', version: 3 }],
    });
  });

  it('does not have deleted ones, nor those of a purged tenant', () => {
    given(created, { type: 'CredentialConfigurationDeleted', data: {}, of }).expectRows({});
    given(created, { type: 'TenantDataPurged', data: { tenantId: 't1' } }).expectRows({});
  });
});
