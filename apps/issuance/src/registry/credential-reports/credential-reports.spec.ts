import { projected } from '@attestry/testing';
import { credentialReports, quarterOf } from './credential-reports.read-model.js';

const given = projected(credentialReports);
const issued = (issuedAt: string, more: object = {}) => ({
  type: 'CredentialIssued' as const,
  data: {
    ...{ issuedAt, format: 'mso_mdoc' as const, credentialConfigurationId: 'c1', credentialType: 'mDL' },
    ...more,
  },
});
const changed = (changedAt: string) => ({
  type: 'CredentialStatusChanged' as const,
  data: {
    changedAt,
    issuedAt: '2026-01-01T00:00:00.000Z',
    format: 'mso_mdoc' as const,
    credentialConfigurationId: 'c1',
  },
});

it.each([
  ['2026-01-31T09:00:00.000Z', '2026-01-31T09:00'],
  ['2026-01-31T09:14:59.999Z', '2026-01-31T09:00'],
  ['2026-01-31T09:15:00.000Z', '2026-01-31T09:15'],
  ['2026-01-31T23:59:59.999Z', '2026-01-31T23:45'],
])('%s is in the quarter of an hour %s', (time, quarter) => expect(quarterOf(time)).toBe(quarter));

it('counts issued credentials and changes of their status by quarter, format, configuration and type', () => {
  const row = { tenant_id: 't1', format: 'mso_mdoc' as const, configuration_id: 'c1' };
  given(
    issued('2026-01-31T09:00:00.000Z'),
    issued('2026-01-31T09:14:00.000Z'),
    issued('2026-01-31T09:15:00.000Z'),
    issued('2026-01-31T09:15:00.000Z', { credentialType: 'PID' }),
    changed('2026-01-31T09:01:00.000Z'),
    changed('2026-01-31T09:02:00.000Z'),
  ).expectRows({
    issuance_credential_reports: [
      { ...row, quarter: '2026-01-31T09:00', operation: 'issued' as const, type: 'mDL', credentials: 2 },
      { ...row, quarter: '2026-01-31T09:15', operation: 'issued' as const, type: 'mDL', credentials: 1 },
      { ...row, quarter: '2026-01-31T09:15', operation: 'issued' as const, type: 'PID', credentials: 1 },
      { ...row, quarter: '2026-01-31T09:00', operation: 'status_changed' as const, type: '', credentials: 2 },
    ],
  });
});

it('counts no credential that was recorded and not handed out, and forgets none that is deleted', () => {
  given({ type: 'CredentialRecorded', data: {} }, { type: 'CredentialDeleted', data: {} }).expectRows({});
});
