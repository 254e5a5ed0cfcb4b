import { Inject, Injectable } from '@nestjs/common';
import { leaseFence, Leases, StaleEpoch, type Clock, type Term } from '@attestry/event-store';
import { KeyNotFound } from '@attestry/keys';
import { CLOCK, FailingRows, Health, LOGGER, PeriodicWork, serviceContext, type Logger } from '@attestry/service-kit';
import { CertificateRenewals } from './certificate-renewals.js';
import { DueCertificates } from './due-certificates.read-model.js';

const NAME = 'issuance.certificate-renewal';
const PAUSE_MS = 60_000;
/** Certificates and CRLs of one run; the next runs do the others. */
const MOST = 100;
/** Until the signer of a domain that the tenant has lost is due again. */
const WITHDRAWN_MS = 86_400_000;
/** Between two attempts at one of them: what is due is still valid, for a day at least. */
const BACK_OFF = { firstMs: PAUSE_MS, maxMs: 15 * PAUSE_MS };

/**
 * Replaces signers, CRLs and encryption keys that are due, and the CA of issuer signers, and destroys private keys a day after their last use.
 * What is due is still valid, for a day at least.
 */
@Injectable()
export class RenewCertificates extends PeriodicWork {
  private readonly failing: FailingRows;

  constructor(
    private readonly leases: Leases,
    private readonly renewals: CertificateRenewals,
    private readonly dueCertificates: DueCertificates,
    health: Health,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) logger: Logger,
  ) {
    super(leases, health, logger, { name: NAME, failure: 'renewing certificates failed', pauseMs: PAUSE_MS });
    const [failure, recovery] = ['certificate not renewed', 'certificate no longer fails'];
    this.failing = new FailingRows({ logger, failure, recovery, backOff: BACK_OFF });
  }

  protected override get fault(): string | undefined {
    return this.failing.error;
  }

  async runJob(term: Pick<Term, 'lease' | 'isHeld'>): Promise<void> {
    const fence = leaseFence(this.leases, term.lease!);
    const outages: unknown[] = [];
    for (const row of await this.dueCertificates.due(this.clock.now(), MOST)) {
      if (!term.isHeld) return;
      const fields = { tenantId: row.tenant_id, kind: row.kind, name: row.name };
      const at = Object.values(fields).join(' ');
      try {
        if (await this.renewals.isWithdrawn(row))
          await this.dueCertificates.postpone(row, new Date(this.clock.now().getTime() + WITHDRAWN_MS));
        else await this.renewals.renew(row, serviceContext(NAME, row.tenant_id), fence);
        this.failing.remove(at, fields);
        // The projection changes it: it tells a signer that replaces another one from the first one of its issuer.
        if (row.kind === 'issuerSigner') continue;
      } catch (error) {
        if (error instanceof StaleEpoch) throw error;
        // Without its keys the tenant was deleted. Any other failure is tried again later, and holds up no other certificate.
        if (!(error instanceof KeyNotFound)) {
          const pauseMs = this.failing.add(at, error, fields);
          if (pauseMs === undefined) outages.push(error);
          else await this.dueCertificates.postpone(row, new Date(this.clock.now().getTime() + pauseMs));
          continue;
        }
      }
      // A row that was renewed has another time, at the latest when the projection has followed.
      await this.dueCertificates.remove(row);
    }
    if (outages.length) throw outages[0];
  }
}
