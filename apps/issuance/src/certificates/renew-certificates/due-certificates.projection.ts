import { declareTables, defineProjection, nothing, type EventSource } from '@attestry/read-model';
import { credentialConfiguration } from '../../settings/credential-configuration/credential-configuration.state.js';
import { replacedKeyDueAt as replacedEncryptionKeyDueAt } from '../encryption-keys/encryption-keys.decisions.js';
import { encryptionKeys } from '../encryption-keys/encryption-keys.state.js';
import { replacedKeyDueAt } from '../issuer-certificates/issuer-certificates.decisions.js';
import { issuerCertificates } from '../issuer-certificates/issuer-certificates.state.js';
import { endedKeyDueAt } from '../mobile-certificates/destroyed-keys.decisions.js';
import { mobileCertificates } from '../mobile-certificates/mobile-certificates.state.js';

/**
 * Objects of a renewal: the signer of an issuer, a kind of signer of an IACA, the CRL of an IACA. `replacedKey`: the private key of the
 * signer before the newest of an issuer is destroyed. `endedKey`: that of an IACA or of a signer below it. `encryptionKey`: the tenant's
 * key for encrypted requests is made or replaced. `replacedEncryptionKey`: the one before it is destroyed.
 */
export type RenewedKind =
  | 'issuerSigner'
  | 'replacedKey'
  | 'mDL'
  | 'other'
  | 'statusList'
  | 'crl'
  | 'endedKey'
  | 'encryptionKey'
  | 'replacedEncryptionKey';

export interface DueCertificate {
  tenant_id: string;
  kind: RenewedKind;
  /** Issuer, id of the IACA, or of the key; that of the encryption key is the same for every tenant. */
  name: string;
  due_at: string;
}

export interface DueCertificateTables {
  /** The newest of each kind, and when another one is made, or the replaced key destroyed. */
  issuance_due_certificates: DueCertificate;
}

const ENCRYPTION = 'encryption';
const OF_IACA = ['mDL', 'other', 'statusList', 'crl'] as const;

const tables = declareTables<DueCertificateTables>({
  issuance_due_certificates: {
    text: ['tenant_id', 'kind', 'name', 'due_at'],
    primaryKey: ['tenant_id', 'kind', 'name'],
    indexes: { issuance_due_certificates_by_due: ['due_at'] },
  },
});
const { issuance_due_certificates: certificates } = tables;

const keyOf = ({ tenantId }: EventSource, kind: RenewedKind, name: string) => ({ tenant_id: tenantId, kind, name });
const put = (source: EventSource, kind: RenewedKind, name: string, dueAt: string | undefined) =>
  dueAt === undefined
    ? certificates.remove(keyOf(source, kind, name))
    : certificates.put({ ...keyOf(source, kind, name), due_at: dueAt });
const putEnd = (source: EventSource, keyId: string | undefined, lastUse: string) =>
  keyId === undefined ? [] : put(source, 'endedKey', keyId, endedKeyDueAt(lastUse).toISOString());
const remove = (source: EventSource, kinds: readonly RenewedKind[], name: string) =>
  kinds.map((kind) => certificates.remove(keyOf(source, kind, name)));

/** The key is made with the first configuration. A tenant without one gets it by the job. */
const needEncryption = (_: unknown, source: EventSource) =>
  certificates.insert({ ...keyOf(source, 'encryptionKey', ENCRYPTION), due_at: source.occurredAt });

export const dueCertificates = defineProjection({
  name: 'issuance.due-certificates',
  version: 3,
  aggregates: [issuerCertificates, mobileCertificates, encryptionKeys, credentialConfiguration],
  tables,
  on: {
    CredentialConfigurationCreated: needEncryption,
    CredentialConfigurationContentReplaced: needEncryption,
    CredentialConfigurationDeleted: needEncryption,
    EncryptionKeyCreated: ({ data }, source) => [
      put(source, 'encryptionKey', ENCRYPTION, data.dueAt),
      data.replacedKeyId === undefined
        ? []
        : put(source, 'replacedEncryptionKey', data.replacedKeyId, replacedEncryptionKeyDueAt(data).toISOString()),
    ],
    EncryptionKeyDestroyed: ({ data }, source) => remove(source, ['replacedEncryptionKey'], data.keyId),
    IssuerSignerCreated: ({ data }, source) => [
      // It replaces another one if its issuer has one.
      certificates.ifExists(
        keyOf(source, 'issuerSigner', data.issuer),
        put(source, 'replacedKey', data.issuer, replacedKeyDueAt(data).toISOString()),
      ),
      put(source, 'issuerSigner', data.issuer, data.dueAt),
    ],
    IssuerSignerKeyDestroyed: ({ data }, source) => remove(source, ['replacedKey'], data.issuer),
    IacaCreated: ({ data }, source) => putEnd(source, data.keyId, data.data.notAfter),
    DocumentSignerIssued: ({ data }, source) => [
      put(source, data.documents, data.iacaId, data.dueAt),
      putEnd(source, data.keyId, data.signsUntil),
    ],
    DocumentSignerUpdated: ({ data }, source) =>
      data.issued ? putEnd(source, data.keyId, data.issued.data.notAfter) : [],
    CertificateKeysDestroyed: ({ data }, source) =>
      data.destroyedKeys.map((keyId) => remove(source, ['endedKey'], keyId)),
    CrlPublished: ({ data }, source) => put(source, 'crl', data.iacaId, data.dueAt),
    // The document signer of an inactive IACA is not renewed until a request needs it; its CRL and its signer of status lists are.
    IacaUpdated: ({ data }, source) => (data.active ? [] : remove(source, ['mDL', 'other'], data.iacaId)),
    IacaDeleted: ({ data }, source) => remove(source, OF_IACA, data.iacaId),
    IssuerCaCreated: nothing,
    DocumentSignerRequested: nothing,
    DocumentSignerRevoked: nothing,
    DocumentSignerDeleted: nothing,
    SignersOfDomainHeld: nothing,
    SignersOfDomainReleased: nothing,
  },
});
