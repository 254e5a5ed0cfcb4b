import { projected } from '@attestry/testing';
import { dueCertificates, type RenewedKind } from './due-certificates.projection.js';

const given = projected(dueCertificates);
const at = (day: number) => `2026-03-${String(day).padStart(2, '0')}T00:00:00.000Z`;
const occurredAt = at(1);
const expectDue = (due: readonly [RenewedKind, string, string][], ...events: Parameters<typeof given>) =>
  given(...events).expectRows({
    issuance_due_certificates: due.map(([kind, name, due_at]) => ({ tenant_id: 't1', kind, name, due_at })),
  });
const signer = (issuer: string, dueAt: string) =>
  ({ type: 'IssuerSignerCreated', data: { issuer, dueAt, notBefore: at(2) } }) as const;
const kindsAfter = (...events: Parameters<typeof given>) =>
  given(...events).rows.issuance_due_certificates.map(({ kind }) => kind);

describe('certificates that are due', () => {
  it('are the newest signer of each issuer, and the key that it replaced until that is destroyed', () => {
    expectDue([['issuerSigner', 'https://a', at(9)]], signer('https://a', at(9)));
    const [first, second] = [signer('https://a', at(9)), signer('https://a', at(19))];
    expect(kindsAfter(first, second, signer('https://b', at(9))).toSorted()).toEqual([
      'issuerSigner',
      'issuerSigner',
      'replacedKey',
    ]);
    expectDue(
      [['issuerSigner', 'https://a', at(19)]],
      ...[first, second, { type: 'IssuerSignerKeyDestroyed', data: { issuer: 'https://a' } } as const],
    );
  });

  it('are signers and CRLs of IACAs, and the private keys that ended', () => {
    const issued = {
      type: 'DocumentSignerIssued',
      data: { documents: 'mDL', iacaId: 'i', keyId: 'k', dueAt: at(3), signsUntil: at(5) },
    } as const;
    const crl = { type: 'CrlPublished', data: { iacaId: 'i', dueAt: at(4) } } as const;
    expectDue(
      [
        ['mDL', 'i', at(3)],
        ['endedKey', 'k', at(6)],
        ['crl', 'i', at(4)],
      ],
      ...[issued, crl],
    );
    const updated = (active: boolean) => ({ type: 'IacaUpdated', data: { iacaId: 'i', active } }) as const;
    expect(kindsAfter(issued, crl, updated(true))).toEqual(['mDL', 'endedKey', 'crl']);
    expect(kindsAfter(issued, crl, updated(false))).toEqual(['endedKey', 'crl']);
    expect(kindsAfter(issued, crl, { type: 'IacaDeleted', data: { iacaId: 'i' } })).toEqual(['endedKey']);
    expect(kindsAfter(issued, { type: 'CertificateKeysDestroyed', data: { destroyedKeys: ['k'] } })).toEqual(['mDL']);
    // The CRL of a customer's IACA is not renewed.
    expect(kindsAfter(crl, { type: 'CrlPublished', data: { iacaId: 'i' } })).toEqual([]);
    const data = { keyId: 'k2', data: { notAfter: at(7) } };
    expectDue([['endedKey', 'k2', at(8)]], { type: 'IacaCreated', data });
    expectDue([['endedKey', 'k2', at(8)]], { type: 'DocumentSignerUpdated', data: { keyId: 'k2', issued: data } });
    expectDue([], { type: 'DocumentSignerUpdated', data: { keyId: 'k2' } });
  });

  it('are the key for encrypted requests, from the first configuration on, and the one before it', () => {
    const configured = { type: 'CredentialConfigurationCreated', data: {}, of: { occurredAt } } as const;
    const first = { type: 'EncryptionKeyCreated', data: { keyId: 'e1', dueAt: at(9) } } as const;
    expectDue([['encryptionKey', 'encryption', at(1)]], configured, { ...configured, of: { occurredAt: at(2) } });
    expectDue([['encryptionKey', 'encryption', at(9)]], configured, first, {
      type: 'CredentialConfigurationDeleted',
      data: {},
      of: { occurredAt: at(2) },
    });
    const second = {
      type: 'EncryptionKeyCreated',
      data: { keyId: 'e2', dueAt: at(19), replacedKeyId: 'e1', createdAt: at(9) },
    } as const;
    expect(kindsAfter(first, second)).toEqual(['encryptionKey', 'replacedEncryptionKey']);
    expect(kindsAfter(first, second, { type: 'EncryptionKeyDestroyed', data: { keyId: 'e1' } })).toEqual([
      'encryptionKey',
    ]);
  });
});
