import { Inject, Injectable } from '@nestjs/common';
import { EventStore, Leases, readEvent, type RecordedEvent } from '@attestry/event-store';
import { KeyCheckpoints, SigningKeys } from '@attestry/keys';
import { Health, LOGGER, ReplayedDestructions, type Logger } from '@attestry/service-kit';
import { encryptionKeys } from '../encryption-keys/encryption-keys.state.js';
import { issuerCertificates } from '../issuer-certificates/issuer-certificates.state.js';
import { keysDestroyedBy } from '../mobile-certificates/destroyed-keys.decisions.js';
import { mobileCertificates } from '../mobile-certificates/mobile-certificates.state.js';

const CATEGORIES = [encryptionKeys.category, issuerCertificates.category, mobileCertificates.category];

/** Destroys the private keys of certificates and of encryption again, and those that a request could not destroy after it had appended the event. */
@Injectable()
export class DestroyedCertificateKeys extends ReplayedDestructions {
  constructor(
    store: EventStore,
    leases: Leases,
    checkpoints: KeyCheckpoints,
    private readonly signingKeys: SigningKeys,
    health: Health,
    @Inject(LOGGER) logger: Logger,
  ) {
    super(store, leases, checkpoints, health, logger, 'issuance.destroyed-certificate-keys', CATEGORIES);
  }

  protected async destroy(stored: RecordedEvent): Promise<void> {
    await this.signingKeys.destroySigningKeys(stored.metadata.tenantId, keyIdsOf(stored));
  }
}

const keyIdsOf = (stored: RecordedEvent): string[] => {
  if (stored.stream.startsWith(`${mobileCertificates.category}-`))
    return keysDestroyedBy([readEvent(mobileCertificates, stored)]);
  if (stored.stream.startsWith(`${encryptionKeys.category}-`)) {
    const event = readEvent(encryptionKeys, stored);
    return event.type === 'EncryptionKeyDestroyed' ? [event.data.keyId] : [];
  }
  const event = readEvent(issuerCertificates, stored);
  return event.type === 'IssuerSignerKeyDestroyed' ? [event.data.keyId] : [];
};
