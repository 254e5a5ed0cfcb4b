import { Inject, Injectable } from '@nestjs/common';
import { Streams, type Clock, type EventContext, type Fence, type Loaded } from '@attestry/event-store';
import type { RevokedCertificate } from '@attestry/certificates';
import { SigningKeys } from '@attestry/keys';
import { CLOCK } from '@attestry/service-kit';
import { iacasToPublish, recordDomainChange } from '../mobile-certificates/held-signers.decisions.js';
import { requireIaca } from '../mobile-certificates/iaca.decisions.js';
import { crlPeriod, isCrlDue } from '../mobile-certificates/revocation-list.decisions.js';
import type {
  MobileCertificatesEvent,
  StoredCrl,
  StoredIaca,
} from '../mobile-certificates/mobile-certificates.events.js';
import {
  mobileCertificates,
  mobileCertificatesStream,
  type MobileCertificatesState,
  type RevokedSigner,
} from '../mobile-certificates/mobile-certificates.state.js';
import { derOf } from '../mobile-certificates/stored-x509.js';

/** CRLs of managed IACAs. */
@Injectable()
export class Crls {
  constructor(
    private readonly streams: Streams,
    private readonly signingKeys: SigningKeys,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @param number revision of the event that is going to contain it: numbers of CRLs only grow (RFC 5280 §5.2.3) */
  async sign(
    tenantId: string,
    iaca: StoredIaca & Partial<Record<'revoked' | 'held', readonly RevokedSigner[]>>,
    number: number,
  ): Promise<StoredCrl> {
    const { createRevocationList } = await import('@attestry/certificates');
    const { thisUpdate, nextUpdate, dueAt } = crlPeriod(iaca, this.clock.now());
    const entry = ({ serialNumber, revokedAt }: RevokedSigner) => ({ serialNumber, revokedAt: new Date(revokedAt) });
    const held = (iaca.held ?? []).filter(({ notAfter }) => new Date(notAfter) >= thisUpdate);
    const revoked: RevokedCertificate[] = [
      ...(iaca.revoked ?? []).map(entry),
      ...held.map((signer) => ({ ...entry(signer), reason: 'certificateHold' as const })),
    ];
    const der = await createRevocationList({
      iaca: derOf(iaca),
      iacaKey: await this.signingKeys.loadSigner(tenantId, iaca.keyId!),
      number: BigInt(number),
      thisUpdate,
      nextUpdate,
      revoked,
    });
    return {
      iacaId: iaca.iacaId,
      number: String(number),
      crl: Buffer.from(der).toString('base64'),
      thisUpdate: thisUpdate.toISOString(),
      nextUpdate: nextUpdate.toISOString(),
      ...(dueAt && { dueAt: dueAt.toISOString() }),
      revoked: revoked.map(({ serialNumber }) => serialNumber),
    };
  }

  /**
   * Publishes another CRL when one is due.
   * @throws StaleEpoch when the lease was lost; KeyNotFound when the tenant was deleted
   */
  async renew(tenantId: string, iacaId: string, context: EventContext, fence: Fence): Promise<void> {
    const decide = async (
      state: MobileCertificatesState,
      { revision }: Loaded<unknown>,
    ): Promise<MobileCertificatesEvent[]> => {
      if (!isCrlDue(state, iacaId, this.clock.now())) return [];
      const crl = await this.sign(tenantId, requireIaca(state, iacaId), revision + 1);
      return [{ type: 'CrlPublished', data: crl }];
    };
    await this.streams.runDecision(mobileCertificates, mobileCertificatesStream(tenantId), decide, context, { fence });
  }

  /**
   * Holds the signers under a domain that the tenant has lost, or releases them, with the CRLs that say so. A hold ends with the entry (RFC 5280 §5.3.1).
   * @throws KeyNotFound when the tenant was purged
   */
  async recordDomainChange(
    tenantId: string,
    change: Parameters<typeof recordDomainChange>[1] & { changedAt: Date },
    context: EventContext,
  ): Promise<void> {
    const decide = async (
      before: MobileCertificatesState,
      { revision }: Loaded<unknown>,
    ): Promise<MobileCertificatesEvent[]> => {
      const events = recordDomainChange(before, change, change.changedAt);
      const after = events.reduce(mobileCertificates.evolve, before);
      for (const iaca of iacasToPublish(before, after, this.clock.now()))
        events.push({ type: 'CrlPublished', data: await this.sign(tenantId, iaca, revision + events.length + 1) });
      return events;
    };
    await this.streams.runDecision(mobileCertificates, mobileCertificatesStream(tenantId), decide, context);
  }
}
