import { Inject, Injectable } from '@nestjs/common';
import { Streams, type Clock, type EventContext, type Fence, type Loaded } from '@attestry/event-store';
import { SigningKeys } from '@attestry/keys';
import { CLOCK } from '@attestry/service-kit';
import { crlPeriod, isCrlDue, requireIaca } from '../mobile-certificates/mobile-certificates.decisions.js';
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
    iaca: StoredIaca & { revoked?: readonly RevokedSigner[] },
    number: number,
  ): Promise<StoredCrl> {
    const { createRevocationList } = await import('@attestry/certificates');
    const { revoked = [] } = iaca;
    const { thisUpdate, nextUpdate, dueAt } = crlPeriod(iaca, this.clock.now());
    const der = await createRevocationList({
      iaca: derOf(iaca),
      iacaKey: await this.signingKeys.loadSigner(tenantId, iaca.keyId!),
      number: BigInt(number),
      thisUpdate,
      nextUpdate,
      revoked: revoked.map(({ serialNumber, revokedAt }) => ({ serialNumber, revokedAt: new Date(revokedAt) })),
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
}
